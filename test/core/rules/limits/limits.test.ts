import {describe, expect, test} from 'vitest';
import type {PolicySetting} from '../../../../source/core/model/types.js';
import {
	defaultSeconds,
	limitedGroupsOf,
	limitOf,
	limitsOf,
	requireWithinMaxGpus,
	requireWithinMaxWaiting,
	tenureWithin,
} from '../../../../source/core/rules/limits/limits.js';
import {person} from '../../../_helpers/world.js';

const policyOf = (settings: Readonly<Record<string, string>>) => ({
	policy: new Map(Object.entries(settings).map(([key, value]): [string, PolicySetting] => [key, {value, since: 5}])),
});

const hour = 3600;

describe('the limit of an account', () => {
	const stored = policyOf({
		'limits.max-gpus': '2',
		'limits.group.students.max-gpus': '1',
		'limits.group.staff.max-gpus': '6',
		'limits.group.admins.max-gpus': 'off',
		'limits.user.ada.max-gpus': '3',
		'limits.user.eve.lovelace.max-gpus': 'off',
		'limits.user.bob.max-gpus': 'many',
	});
	test.each([
		['applies to everybody', 'cy', [], 2],
		['of a group overrides the limit for everybody', 'cy', ['students'], 1],
		['is the highest limit of several groups', 'cy', ['students', 'staff'], 6],
		['is lifted by a group whose limit is off', 'cy', ['staff', 'admins'], undefined],
		['of a user overrides the limits of groups', 'ada', ['staff', 'admins'], 3],
		[
			'is lifted for a user whose limit is off, even if the name contains a dot',
			'eve.lovelace',
			['students'],
			undefined,
		],
		['of a user is ignored if it cannot be read', 'bob', ['students'], 1],
		['does not exist for root', 'root', ['students'], undefined],
		['is not the limit of another user whose name starts with the same letters', 'ad', [], 2],
	] as const)('%s', (_, account, groups, most) => {
		expect(limitOf(stored, 'max-gpus', {account, groups})?.value).toBe(most);
	});

	test('does not exist if the policy cannot be read', () => {
		expect(limitOf({...stored, policyProblem: 'it is not JSON'}, 'max-gpus', {account: 'cy'})).toBeUndefined();
	});

	test('names the policy key that sets it', () => {
		expect(limitOf(stored, 'max-gpus', {account: 'cy', groups: ['staff']})).toEqual({
			value: 6,
			key: 'limits.group.staff.max-gpus',
			text: '6',
		});
	});
});

test('limitsOf looks up only groups that have limits, and looks up no groups for root', () => {
	const asked: Array<readonly string[]> = [];
	const groupsAmong = (names: readonly string[]) => {
		asked.push(names);
		return names;
	};

	const withGroups = policyOf({'limits.group.b.max-gpus': '1', 'limits.group.a.max-duration': '1h', strategy: 'lru'});
	expect(limitedGroupsOf(withGroups)).toEqual(['a', 'b']);
	expect(limitsOf(withGroups, person('ada'), groupsAmong)).toMatchObject({
		'max-gpus': {value: 1},
		'max-duration': {value: hour},
	});
	expect(limitsOf(withGroups, {...person('root'), uid: 0}, groupsAmong)).toEqual({});
	limitsOf(policyOf({'limits.max-gpus': '1'}), person('ada'), groupsAmong);
	expect(asked).toEqual([['a', 'b']]);
});

test('root of a user namespace has limits like any other account', () => {
	const requester = {...person('root@userns:1/2'), uid: 0, userNamespace: '1/2'};
	expect(limitsOf(policyOf({'limits.max-gpus': '1'}), requester, () => [])).toMatchObject({'max-gpus': {value: 1}});
});

test('a reservation without a duration lasts for the default duration, or the maximum if that is shorter', () => {
	const secondsWith = (settings: Readonly<Record<string, string>>) =>
		defaultSeconds(limitsOf(policyOf(settings), person('ada'), () => []));
	expect(secondsWith({})).toBe(8 * hour);
	expect(secondsWith({'limits.max-duration': '4h'})).toBe(4 * hour);
	expect(secondsWith({'limits.default-duration': '30m', 'limits.max-duration': '4h'})).toBe(hour / 2);
	expect(secondsWith({'limits.default-duration': '12h', 'limits.user.ada.max-duration': '1h'})).toBe(hour);
});

test('a request for longer than limits.max-duration is rejected', () => {
	const limits = limitsOf(policyOf({'limits.max-duration': '4h'}), person('ada'), () => []);
	const asks = (seconds: number | undefined) => [
		() => tenureWithin({type: 'manual', durationSeconds: seconds}, limits),
		() => tenureWithin({type: 'run', timeLimitSeconds: seconds}, limits),
	];
	for (const ask of asks(4 * hour + 1)) {
		expect(ask).toThrow(
			expect.objectContaining({
				exitCode: 2,
				message: expect.stringContaining('at most 4h') as string,
				hint: 'The limit is limits.max-duration=4h.',
			}),
		);
	}

	expect(asks(4 * hour).map((ask) => ask())).toEqual([
		{type: 'manual', durationSeconds: 4 * hour},
		{type: 'run', timeLimitSeconds: 4 * hour},
	]);
	expect(asks(undefined).map((ask) => ask())).toEqual([
		{type: 'manual', durationSeconds: 4 * hour},
		{type: 'run', timeLimitSeconds: undefined},
	]);
});

test('a request for more GPUs than limits.max-gpus is rejected as impossible', () => {
	const limits = limitsOf(policyOf({'limits.max-gpus': '2', 'limits.max-waiting': '3'}), person('ada'), () => []);
	const ask = (count: number) => () => {
		requireWithinMaxGpus({count}, limits, 'ada');
	};

	const join = (waiting: number) => () => {
		requireWithinMaxWaiting(waiting, limits, 'ada');
	};

	expect(ask(2)).not.toThrow();
	expect(ask(3)).toThrow(
		expect.objectContaining({exitCode: 2, message: 'Cannot reserve 3 GPUs: ada can hold at most 2'}),
	);
	expect(join(2)).not.toThrow();
	expect(join(3)).toThrow(
		expect.objectContaining({exitCode: 3, message: 'ada already has 3 of at most 3 requests in the queue'}),
	);
});
