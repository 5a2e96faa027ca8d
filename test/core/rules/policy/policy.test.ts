/** The policy as everything else reads it, and the plans that change it. */
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {PolicySetting, Snapshot} from '../../../../source/core/model/types.js';
import {policyKeyNames, policyKeys, type PolicyKey} from '../../../../source/core/rules/policy/keys.js';
import {planPolicy, policyOf, policyProblemOf, policyRows} from '../../../../source/core/rules/policy/policy.js';
import {createTestWorld} from '../../../_helpers/world.js';
import {anyPolicy} from '../../../store/records/arbitraries.js';

const policy = (settings: Readonly<Record<string, string>>): Pick<Snapshot, 'policy'> => ({
	policy: new Map(Object.entries(settings).map(([key, value]): [string, PolicySetting] => [key, {value, since: 5}])),
});

const snapshotWith = async (changes: Partial<Snapshot>): Promise<Snapshot> => ({
	...(await (await createTestWorld()).store.read()),
	...changes,
});

const context = {now: 7, host: 'box', account: 'root'};

describe('every key', () => {
	test.each(policyKeyNames)('%s has a default and offers values that it can have', (name) => {
		const {read, fallback, completes, expects, summary} = policyKeys[name] as PolicyKey<unknown>;
		for (const text of [fallback, ...completes]) {
			expect([text, read(text)]).not.toEqual([text, undefined]);
		}

		expect(name).toMatch(/^[a-z]+(?:\.[_a-z]+)?$/v);
		expect([expects, summary]).not.toContain('');
		expect(read('')).toBeUndefined();
		expect(read('-1')).toBeUndefined();
	});

	test('has its default where it is not set, and where what is stored is no value of it', () => {
		expect(policyOf(policy({})).strategy).toBe('mru');
		expect(policyOf(policy({strategy: 'lru'})).strategy).toBe('lru');
		expect(policyOf(policy({strategy: 'of a later version'})).strategy).toBe('mru');
		expect(policyOf(policy({strategy: '__proto__'})).strategy).toBe('mru');
	});
});

test('whatever is stored, every key has a value, and what does not count is told', () => {
	const anyStored = fc.oneof(
		anyPolicy,
		fc
			.tuple(fc.constantFrom(...policyKeyNames), fc.string())
			.map(([key, value]): Snapshot['policy'] => new Map([[key, {value, since: 1}]])),
	);
	fc.assert(
		fc.property(anyStored, (stored) => {
			const snapshot = {policy: stored};
			const held = policyOf(snapshot);
			const rows = policyRows(snapshot);
			expect(Object.values(held)).not.toContain(undefined);
			expect(rows.map(({key}) => key)).toEqual([...new Set([...policyKeyNames, ...stored.keys()])]);
			const isWrong = policyKeyNames.some((name) => {
				const setting = stored.get(name);
				return setting !== undefined && policyKeys[name].read(setting.value) === undefined;
			});
			expect(policyProblemOf(snapshot) !== undefined).toBe(isWrong);
		}),
	);
});

test('a record that cannot be read is a problem, whatever else there is', () => {
	expect(policyProblemOf({...policy({}), policyProblem: 'it is not JSON'})).toBe('it is not JSON');
	expect(policyProblemOf(policy({strategy: 'fast', later: 'x'}))).toBe(
		'strategy: "fast" is not one of mru, lru, pack, spread, cool, topology',
	);
});

describe('a change', () => {
	test('expects the record that it replaces, keeps the other keys, and tells of each key what was before', async () => {
		const {policy: before} = policy({later: 'x', strategy: 'lru'});
		const snapshot = await snapshotWith({
			now: 7.5,
			policy: before,
			stored: {drains: undefined, notices: undefined, policy: 'RAW'},
		});
		const {plan, changed} = planPolicy(
			snapshot,
			[
				{key: 'strategy', value: 'mru'},
				{key: 'later', value: undefined},
			],
			context,
		);
		expect(changed).toEqual([
			{key: 'strategy', value: 'mru', before: 'lru'},
			{key: 'later', value: undefined, before: 'x'},
		]);
		expect(plan.expect).toContainEqual({kind: 'policy', raw: 'RAW'});
		expect(plan.writes).toEqual([
			{kind: 'policy', policy: new Map([['strategy', {value: 'mru', by: 'root', since: 7}]])},
		]);
		expect(plan.audit).toMatchObject([
			{kind: 'policy', account: 'root', host: 'box', key: 'strategy', value: 'mru', before: {value: 'lru'}},
			{kind: 'policy', key: 'later', before: {value: 'x'}},
		]);
		expect(plan.event).toMatchObject({kind: 'policy', user: 'root'});
	});

	test('to what holds already changes nothing, not even who set it', async () => {
		const {plan, changed} = planPolicy(
			await snapshotWith(policy({strategy: 'lru'})),
			[{key: 'strategy', value: 'lru'}],
			context,
		);
		expect([plan.writes, plan.audit, changed]).toEqual([[], [], []]);
	});

	test('to the default is a change where the key was not set: a later version may have another default', async () => {
		const {changed} = planPolicy(await snapshotWith(policy({})), [{key: 'strategy', value: 'mru'}], context);
		expect(changed).toEqual([{key: 'strategy', value: 'mru', before: undefined}]);
	});

	test('to a wrong value, of a key that is not there, or of a record that cannot be read is refused', async () => {
		const refused = async (changes: Parameters<typeof planPolicy>[1], more: Partial<Snapshot> = policy({})) => {
			const snapshot = await snapshotWith(more);
			return () => planPolicy(snapshot, changes, context);
		};

		expect(await refused([{key: 'strategy', value: 'fast'}])).toThrow(
			'strategy must be one of mru, lru, pack, spread, cool, topology, and not "fast"',
		);
		expect(await refused([{key: 'stratgy', value: undefined}])).toThrow('The policy has no key "stratgy"');
		expect(await refused([{key: 'strategy', value: 'lru'}], {...policy({}), policyProblem: 'it is not JSON'})).toThrow(
			'The record of the policy cannot be read: it is not JSON',
		);
	});
});
