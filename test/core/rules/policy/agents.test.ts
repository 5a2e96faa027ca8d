import {describe, expect, test} from 'vitest';
import {agentExpectations, checkAgentDuration, checkAgentRequest} from '../../../../source/core/rules/policy/agents.js';
import {isOfAgent, viaMcp} from '../../../../source/core/rules/leases/via.js';
import type {GpuRecord, Snapshot} from '../../../../source/core/model/types.js';
import {snapshotWith} from '../../../_helpers/world.js';

const policyOf = (settings: Readonly<Record<string, string>>): Snapshot['policy'] =>
	new Map(Object.entries(settings).map(([key, value]) => [key, {value, since: 1}]));

const held = (index: number): GpuRecord => ({
	kind: 'leased',
	index,
	raw: `lease ${index}`,
	lease: {user: 'alice', type: 'run', startTime: 1},
});

const free = (index: number): GpuRecord => ({kind: 'free', index, raw: undefined});

const agent = {via: viaMcp('claude-code')};

test('isOfAgent is true only for requests via mcp', () => {
	for (const [via, isAgent] of [
		['mcp', true],
		['mcp claude-code', true],
		['mcpx', false],
		['web', false],
		[undefined, false],
	] as const) {
		expect([via, isOfAgent({via})]).toEqual([via, isAgent]);
	}

	expect(viaMcp('')).toBe('mcp');
});

describe('agents.max-gpus', () => {
	test('makes a grant depend on every GPU record, so concurrent grants cannot exceed the limit', () => {
		const gpus = [free(0), held(1), {kind: 'garbage', index: 2, raw: 'x', problem: 'x'} as const];
		const limited = snapshotWith({gpus, policy: policyOf({'agents.max-gpus': '1'})});
		expect(agentExpectations(limited, agent)).toEqual([
			{kind: 'gpu', index: 0, raw: undefined},
			{kind: 'gpu', index: 1, raw: 'lease 1'},
		]);
		expect(agentExpectations(limited, {})).toEqual([]);
		expect(agentExpectations(snapshotWith({gpus}), agent)).toEqual([]);
	});

	test('rejects a request that alone exceeds the limit', () => {
		const snapshot = snapshotWith({policy: policyOf({'agents.max-gpus': '2'})});
		const tenure = {type: 'run', timeLimitSeconds: 60} as const;
		expect(() => {
			checkAgentRequest(snapshot, {...agent, tenure}, 3);
		}).toThrow('All agents together may hold at most 2 GPUs, not 3');
		checkAgentRequest(snapshot, {...agent, tenure}, 2);
		checkAgentRequest(snapshot, {tenure}, 3);
	});
});

describe('agents.max-duration', () => {
	test('limits the reservations of agents and no other reservations', () => {
		const snapshot = snapshotWith({policy: policyOf({'agents.max-duration': '2h'})});
		expect(() => {
			checkAgentDuration(snapshot, agent, 7201);
		}).toThrow('Agents may hold GPUs for at most 2h at a time');
		checkAgentDuration(snapshot, agent, 7200);
		checkAgentDuration(snapshot, {}, 1e9);
	});

	test('is at most 30 days, even without a policy', () => {
		checkAgentDuration(snapshotWith(), agent, 30 * 86_400);
		expect(() => {
			checkAgentDuration(snapshotWith(), agent, 30 * 86_400 + 1);
		}).toThrow('at most 30d');
	});

	test('prevents grants to agents while the policy cannot be read', () => {
		const snapshot = snapshotWith({policyProblem: 'it is a list'});
		expect(() => {
			checkAgentDuration(snapshot, agent, 1);
		}).toThrow('No GPU is granted to agents: it is a list');
	});
});
