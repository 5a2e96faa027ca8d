import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
	agentExpectations,
	agentLimitFor,
	checkAgentDuration,
	checkAgentRequest,
	isHeldBack,
} from '../../../../source/core/rules/policy/agents.js';
import {isOfAgent, viaMcp} from '../../../../source/core/rules/leases/via.js';
import type {GpuRecord, Snapshot} from '../../../../source/core/model/types.js';
import {entryRecord, snapshotWith} from '../../../_helpers/world.js';

const policyOf = (settings: Readonly<Record<string, string>>): Snapshot['policy'] =>
	new Map(Object.entries(settings).map(([key, value]) => [key, {value, since: 1}]));

const held = (index: number, via?: string, partialQueueId?: string): GpuRecord => ({
	kind: 'leased',
	index,
	raw: `lease ${index}`,
	lease: {user: 'alice', type: 'run', startTime: 1, via, partialQueueId},
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
	test('limits how many GPUs all agents hold together, and does not limit people', () => {
		fc.assert(
			fc.property(
				fc.array(fc.constantFrom('free', 'person', 'agent'), {maxLength: 8}),
				fc.nat(8),
				fc.integer({min: 1, max: 8}),
				(states, most, count) => {
					const gpus = states.map((state, index) =>
						state === 'free' ? free(index) : held(index, state === 'agent' ? agent.via : undefined),
					);
					const snapshot = snapshotWith({gpus, policy: policyOf({'agents.max-gpus': String(most)})});
					const ofAgents = states.filter((state) => state === 'agent').length;
					const limit = agentLimitFor(snapshot, agent, {count});
					expect(limit).toEqual(ofAgents + count > most ? {most, held: ofAgents} : undefined);
					expect(agentLimitFor(snapshot, {}, {count})).toBeUndefined();
				},
			),
		);
	});

	test('does not count GPUs that the waiting request itself already holds', () => {
		const gpus = [held(0, agent.via, 'own'), held(1, agent.via, 'other'), free(2)];
		const snapshot = snapshotWith({gpus, policy: policyOf({'agents.max-gpus': '3'})});
		expect(agentLimitFor(snapshot, agent, {count: 2, entryId: 'own'})).toBeUndefined();
		expect(agentLimitFor(snapshot, agent, {count: 2})).toEqual({most: 3, held: 2});
		expect(isHeldBack(snapshot, entryRecord('own', {...agent, requestedCount: 3}).entry)).toBe(true);
		expect(isHeldBack(snapshot, entryRecord('own', {requestedCount: 3}).entry)).toBe(false);
	});

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

	test('rejects a request that alone exceeds it', () => {
		const snapshot = snapshotWith({policy: policyOf({'agents.max-gpus': '2'})});
		const tenure = {type: 'run', timeLimitSeconds: 60} as const;
		expect(() => {
			checkAgentRequest(snapshot, {...agent, tenure}, 3);
		}).toThrow('Agents may hold at most 2 GPUs together, not 3');
		checkAgentRequest(snapshot, {...agent, tenure}, 2);
		checkAgentRequest(snapshot, {tenure}, 3);
	});
});

describe('agents.max-duration', () => {
	test('limits every reservation of an agent and no other', () => {
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
		expect(agentLimitFor(snapshot, agent, {count: 1})).toEqual({most: 0, held: 0});
	});
});
