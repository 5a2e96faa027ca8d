/** How the rules read the policy, and the plans that change it. */
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {PolicySetting, Snapshot} from '../../../../source/core/model/types.js';
import type {PolicyKey} from '../../../../source/core/rules/policy/key-kinds.js';
import {policyKeyNames, policyKeys} from '../../../../source/core/rules/policy/keys.js';
import {policyDoubtOf, policyRows, policyValue, type Policy} from '../../../../source/core/rules/policy/policy.js';
import {planPolicy, planPolicyReplacement} from '../../../../source/core/rules/policy/policy-changes.js';
import {createTestWorld} from '../../../_helpers/world.js';
import {anyPolicy} from '../../../store/records/arbitraries.js';

/** The values in effect. */
const policyOf = (stored: Parameters<typeof policyValue>[0]): Partial<Policy> =>
	Object.fromEntries(policyKeyNames.map((name) => [name, policyValue(stored, name)]));

const policy = (settings: Readonly<Record<string, string>>): Pick<Snapshot, 'policy'> => ({
	policy: new Map(Object.entries(settings).map(([key, value]): [string, PolicySetting] => [key, {value, since: 5}])),
});

const snapshotWith = async (changes: Partial<Snapshot>): Promise<Snapshot> => ({
	...(await (await createTestWorld()).store.read()),
	...changes,
});

const context = {now: 7, host: 'box', account: 'root'};

const noneStored = {machine: undefined, drains: undefined, alerts: undefined, policy: undefined};

describe('every policy key', () => {
	test.each(policyKeyNames)('has a default and offers only valid values: %s', (name) => {
		const {read, fallback, completes, expects, summary} = policyKeys[name] as PolicyKey<unknown>;
		for (const text of [fallback, ...completes]) {
			expect([text, read(text)]).not.toEqual([text, undefined]);
		}

		expect(name).toMatch(/^[a-z]+(?:\.[\-a-z]+)?$/v);
		expect([expects, summary]).not.toContain('');
		expect(read('')).toBeUndefined();
		expect(read('-1')).toBeUndefined();
	});

	test('has its default if it is not set', () => {
		expect(policyValue(policy({}), 'strategy')).toBe('mru');
		expect(policyValue(policy({strategy: 'lru'}), 'strategy')).toBe('lru');
	});
});

/** The value of each key while the policy cannot be read. */
const strictest = {
	strategy: 'mru',
	clean: 'on',
	isolate: 'require',
	share: 'off',
	'share.max': 1,
	'share.gpus': [],
	'idle.after': 'off',
	'idle.grace': 'never',
	'idle.when': 'never',
	'idle.keep-max': 'any',
	// A limit protects nobody's work, and the lowest limit would stop everybody.
	'limits.max-gpus': 'off',
	'limits.max-waiting': 'off',
	'limits.max-duration': 'off',
	'limits.default-duration': 'off',
	'limits.slack': 'off',
	'agents.max-gpus': 0,
	'agents.max-duration': 0,
};

test('an unreadable value of a policy key counts as the strictest value', () => {
	const set = {strategy: 'lru', clean: 'off', isolate: 'off', share: 'on', 'share.max': '8', 'share.gpus': 'all'};
	for (const name of policyKeyNames) {
		for (const value of ['of a later version', '__proto__', '']) {
			const wrong = policy({...set, [name]: value});
			expect(policyOf(wrong)).toEqual({...policyOf(policy(set)), [name]: strictest[name]});
			expect(policyDoubtOf(wrong)?.problem).toContain(`${name}: "${value}" is not `);
			expect(policyDoubtOf(wrong, [name])?.fix).toContain(`canhazgpu admin --set ${name}=`);
			expect(
				policyDoubtOf(
					wrong,
					policyKeyNames.filter((other) => other !== name),
				),
			).toBeUndefined();
		}
	}

	// The other stored settings are ignored.
	const unreadable = {...policy(set), policyProblem: 'it is not JSON'};
	expect(policyOf(unreadable)).toEqual(strictest);
	expect(policyDoubtOf(unreadable, ['isolate'])).toMatchObject({
		problem: 'it is not JSON',
		effects: ['run starts only jobs that are isolated'],
	});
	expect(policyRows(unreadable).map(({key, value}) => [key, value])).toEqual(
		Object.entries(strictest).map(([key, value]) => [key, key === 'share.gpus' ? 'none' : String(value)]),
	);
});

test('policyOf returns a value for every key, whatever is stored', () => {
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
			expect(policyDoubtOf(snapshot) !== undefined).toBe(isWrong);
		}),
	);
});

test('policyDoubtOf reports an unreadable record', () => {
	expect(policyDoubtOf({...policy({}), policyProblem: 'it is not JSON'})?.problem).toBe('it is not JSON');
	expect(policyDoubtOf(policy({strategy: 'fast', later: 'x'}))?.problem).toBe(
		'strategy: "fast" is not one of mru, lru, pack, spread, cool, topology',
	);
});

describe('a policy change', () => {
	test('keeps the other keys and records the previous values', async () => {
		const {policy: before} = policy({later: 'x', strategy: 'lru'});
		const snapshot = await snapshotWith({
			now: 7.5,
			policy: before,
			stored: {machine: undefined, drains: undefined, alerts: undefined, policy: 'RAW'},
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

	test('to the current value writes nothing', async () => {
		const {plan, changed} = planPolicy(
			await snapshotWith(policy({strategy: 'lru'})),
			[{key: 'strategy', value: 'lru'}],
			context,
		);
		expect([plan.writes, plan.audit, changed]).toEqual([[], [], []]);
	});

	test('to the default value is recorded if the key was unset', async () => {
		const {changed} = planPolicy(await snapshotWith(policy({})), [{key: 'strategy', value: 'mru'}], context);
		expect(changed).toEqual([{key: 'strategy', value: 'mru', before: undefined}]);
	});

	test('that replaces the whole policy keeps only the new settings', async () => {
		const {policy: before} = policy({strategy: 'lru', isolate: 'prefer', later: 'x'});
		const set = [
			{key: 'isolate', value: 'require'},
			{key: 'strategy', value: 'lru'},
		] as const;
		const readable = planPolicyReplacement(await snapshotWith({now: 7, policy: before}), set, context);
		expect(readable.changed).toEqual([
			{key: 'later', value: undefined, before: 'x'},
			{key: 'isolate', value: 'require', before: 'prefer'},
		]);
		const written = new Map([
			['isolate', {value: 'require', by: 'root', since: 7}],
			['strategy', {value: 'lru', since: 5}],
		]);
		expect(readable.plan.writes).toEqual([{kind: 'policy', policy: written}]);

		const damaged = {now: 7, policyProblem: 'it is not JSON', stored: {...noneStored, policy: 'RAW'}};
		const {plan, changed} = planPolicyReplacement(await snapshotWith(damaged), set, context);
		expect(changed.map(({key}) => key)).toEqual(['all', 'isolate', 'strategy']);
		expect(plan.expect).toContainEqual({kind: 'policy', raw: 'RAW'});
		expect(plan.writes).toMatchObject([
			{
				policy: new Map([
					['isolate', {value: 'require'}],
					['strategy', {value: 'lru'}],
				]),
			},
		]);
		const wrong = await snapshotWith(damaged);
		expect(() => planPolicyReplacement(wrong, [{key: 'isolate', value: 'of'}], context)).toThrow(
			'isolate must be one of',
		);
	});

	test('with an invalid value or an unknown key is rejected', async () => {
		const refused = async (changes: Parameters<typeof planPolicy>[1], more: Partial<Snapshot> = policy({})) => {
			const snapshot = await snapshotWith(more);
			return () => planPolicy(snapshot, changes, context);
		};

		expect(await refused([{key: 'strategy', value: 'fast'}])).toThrow(
			'strategy must be one of mru, lru, pack, spread, cool, topology, not "fast"',
		);
		expect(await refused([{key: 'stratgy', value: undefined}])).toThrow('The policy has no key "stratgy"');
		expect(await refused([{key: 'strategy', value: 'lru'}], {...policy({}), policyProblem: 'it is not JSON'})).toThrow(
			'The record of the policy cannot be read: it is not JSON',
		);
	});
});

describe('policy limits', () => {
	test.each([
		['limits.max-gpus', '0', 'must be a whole number from 1 to 1024, or off, not "0"'],
		['limits.max-gpus', '-1', 'must be'],
		['limits.max-gpus', '1.5', 'must be'],
		['limits.max-gpus', '1025', 'must be'],
		['limits.user.ada.max-gpus', '99999999999999999999', 'must be'],
		['limits.max-waiting', '10001', 'must be a whole number from 1 to 10000, or off'],
		['limits.max-duration', '0h', 'must be a duration such as 30m, 12h or 7d, or off, not "0h"'],
		['limits.max-duration', '-4h', 'must be'],
		['limits.group.staff.max-duration', '36501d', 'must be'],
		['limits.default-duration', '30', 'must be'],
	])('reject %s=%s', async (key, value, words) => {
		const snapshot = await snapshotWith({});
		expect(() => planPolicy(snapshot, [{key, value}], context)).toThrow(
			expect.objectContaining({code: 'usage', message: expect.stringContaining(`${key} ${words}`) as string}),
		);
	});

	test('can be set for a group with a space in its name, as in Active Directory', async () => {
		const key = 'limits.group.domain users.max-gpus';
		const snapshot = await snapshotWith({});
		expect(() => planPolicy(snapshot, [{key, value: '2'}], context)).not.toThrow();
		for (const wrong of [
			'limits.group. users.max-gpus',
			'limits.group.users .max-gpus',
			'limits.group.a\tb.max-gpus',
		]) {
			expect(() => planPolicy(snapshot, [{key: wrong, value: '2'}], context), wrong).toThrow('has no key');
		}
	});

	test('reject a default duration that is longer than the maximum for the same people', async () => {
		const before = await snapshotWith(policy({'limits.user.a.b.max-duration': '2h', 'limits.max-duration': '4h'}));
		const plan = (key: string, value: string) => () => planPolicy(before, [{key, value}], context);
		expect(plan('limits.user.a.b.default-duration', '3h')).toThrow(
			'limits.user.a.b.default-duration=3h is longer than limits.user.a.b.max-duration=2h',
		);
		expect(plan('limits.default-duration', '3h')).not.toThrow();
		expect(plan('limits.default-duration', '5h')).toThrow(
			'limits.default-duration=5h is longer than limits.max-duration=4h',
		);
		const both = [
			{key: 'limits.default-duration', value: '5h'},
			{key: 'limits.max-duration', value: '1h'},
		];
		expect(() => planPolicy(before, both, context)).toThrow('is longer than');
		expect(() => planPolicyReplacement(before, both, context)).toThrow('is longer than');
	});

	test('are listed by policyRows after the general keys and before keys of later versions', () => {
		const set = {'limits.zone': '1', 'limits.user.ada.max-gpus': '3', 'limits.group.staff.max-gpus': 'x'};
		const rows = policyRows(policy(set)).slice(policyKeyNames.length);
		expect(rows.map(({key, value, fallback, problem}) => [key, value, fallback, problem !== undefined])).toEqual([
			['limits.group.staff.max-gpus', 'off', 'off', true],
			['limits.user.ada.max-gpus', '3', 'off', false],
			['limits.zone', '1', undefined, false],
		]);
		expect(policyDoubtOf(policy(set))?.effects).toEqual(['limits that cannot be read do not apply']);
	});
});
