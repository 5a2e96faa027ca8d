import {describe, expect, test} from 'vitest';
import type {GpuRecord, Lease, PolicySetting, QueueEntry, Snapshot} from '../../../../source/core/model/types.js';
import {allocate} from '../../../../source/core/rules/grants/newcomer-grant.js';
import {anyGpus} from '../../../../source/core/rules/allocation/need.js';
import {limitOf} from '../../../../source/core/rules/limits/limits.js';
import {accountLimitsOf, accountLimitsSeen} from '../../../../source/core/rules/queue/account-limits.js';
import {accountRoomOf} from '../../../../source/core/rules/queue/account-room.js';
import {foreseeWaits} from '../../../../source/core/rules/queue/estimates.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {endsLimit, readAfterMs, snapshotAfterEvent} from '../../../../source/core/rules/queue/wake-up.js';
import {entryRecord, idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';

const now = 100_000;

const leased = (index: number, user: string, changes: Partial<Lease> = {}): GpuRecord => ({
	kind: 'leased',
	index,
	raw: `${index}`,
	lease: {user, type: 'manual', startTime: 0, expiryTime: now + 600, leaseId: `lease-${index}`, ...changes},
});

const free = (index: number): GpuRecord => ({kind: 'free', index, raw: undefined});

const waits = (id: string, user: string, changes: Partial<QueueEntry> = {}) =>
	entryRecord(id, {user, lastHeartbeat: now, ...changes});

const policyOf = (settings: Readonly<Record<string, string>>): Snapshot['policy'] =>
	new Map(Object.entries(settings).map(([key, value]): [string, PolicySetting] => [key, {value, since: 5}]));

const most2 = {'limits.max-gpus': '2'};

const box = (
	gpus: readonly GpuRecord[],
	queue: Snapshot['queue'],
	settings: Readonly<Record<string, string>> = most2,
): Snapshot => snapshotWith({now, gpus, queue, policy: policyOf(settings)});

/** Returns the ids of the entries that wait for their own account's limit. */
const overIn = (snapshot: Snapshot): readonly string[] =>
	snapshot.queue.flatMap((record) =>
		record.kind === 'entry' && accountLimitsSeen(snapshot).overLimitOf(record.entry) !== undefined ? [record.id] : [],
	);

describe("a queue entry waits for its own account's limit", () => {
	test.each([
		['not while the account holds fewer GPUs than its limit', [leased(0, 'ada'), free(1)], [waits('a', 'ada')], []],
		['when the account holds as many GPUs as it may', [leased(0, 'ada'), leased(1, 'ada')], [waits('a', 'ada')], ['a']],
		[
			'even if the reservations of the account have another label',
			[leased(0, 'x', {actualUser: 'ada'}), leased(1, 'ada')],
			[waits('a', 'ada')],
			['a'],
		],
		[
			'while an earlier request of the account uses up the rest of the limit',
			[leased(0, 'ada')],
			[waits('a', 'ada'), waits('b', 'ada')],
			['b'],
		],
		[
			'while an earlier, larger request of the account waits for the limit',
			[leased(0, 'ada'), free(1)],
			[waits('a', 'ada', {requestedCount: 2}), waits('b', 'ada')],
			['a', 'b'],
		],
		[
			'but not behind an earlier request that can never be served',
			[leased(0, 'ada'), free(1)],
			[waits('a', 'ada', {requestedCount: 3}), waits('b', 'ada')],
			['a'],
		],
		[
			'but not behind an earlier request whose process sends no heartbeats',
			[leased(0, 'ada'), free(1)],
			[
				waits('a', 'ada', {requestedCount: 2, silence: {clock: 'c', seconds: 0, since: now - 300, lastHeartbeat: now}}),
				waits('b', 'ada'),
			],
			[],
		],
		['but not for the limit of another account', [leased(0, 'ada'), leased(1, 'ada')], [waits('b', 'bob')], []],
		['but not if its account is root', [leased(0, 'root'), leased(1, 'root')], [waits('a', 'root')], []],
	] as const)('%s', (_, gpus, queue, over) => {
		expect(overIn(box(gpus, queue))).toEqual(over);
	});

	test('but not if a group of its account has a higher limit', () => {
		const settings = {'limits.max-gpus': '1', 'limits.group.staff.max-gpus': '2'};
		const queue = [waits('a', 'ada', {groups: ['staff']}), waits('b', 'bob')];
		expect(overIn(box([leased(0, 'ada'), leased(1, 'bob')], queue, settings))).toEqual(['b']);
	});

	test('if its account holds as many shares as the limit, because each share counts as one GPU', () => {
		const shares = [1, 2].map((memoryMiB): Lease => ({user: 'ada', type: 'manual', startTime: 0, memoryMiB}));
		expect(overIn(box([{kind: 'shared', index: 0, raw: '', shares}], [waits('a', 'ada')]))).toEqual(['a']);
	});
});

test.each([
	['is its limit if the account has no reservations', [free(0), free(1), free(2)], [], 2],
	['is its limit minus what the account holds', [leased(0, 'ada'), free(1)], [], 1],
	['excludes what its requests in the queue may still get', [leased(0, 'ada'), free(1)], [waits('a', 'ada')], 0],
	['is not reduced by what others hold or request', [leased(0, 'bob'), free(1)], [waits('b', 'bob')], 2],
	[
		'is zero while an earlier request of the account waits for the limit',
		[leased(0, 'ada'), free(1)],
		[waits('a', 'ada', {requestedCount: 2})],
		0,
	],
] as const)('the room of an account %s', (_, gpus, queue, left) => {
	const snapshot = box(gpus, queue);
	const limit = limitOf(snapshot, 'max-gpus', {account: 'ada'});
	expect(accountRoomOf(snapshot, 'ada', limit)).toEqual({mostGpus: 2, leftGpus: left, hasSlack: false});
	expect(accountRoomOf(snapshot, 'ada', undefined)).toBeUndefined();
});

const grantTo = (user: string, snapshot: Snapshot, count = 1) =>
	allocate(snapshot, observationOf(snapshot.gpus.map(({index}) => idleReading(index))), {
		wanted: {count},
		eligibility: anyGpus,
		lease: {user, type: 'manual', startTime: now, leaseId: 'new'},
		force: false,
		memoryThresholdMiB: 1024,
		isAnswering: () => true,
		limit: limitOf(snapshot, 'max-gpus', {account: user}),
		grant: {host: 'box'},
	});

test("other requests can take the GPUs held by a request that waits for its own account's limit", () => {
	const gpus = [leased(0, 'ada'), leased(1, 'ada', {partialQueueId: 'a', expiryTime: undefined})];
	const snapshot = box(gpus, [waits('a', 'ada', {requestedCount: 2})]);
	const answer = grantTo('bob', snapshot);
	expect(answer).toMatchObject({kind: 'allocated', gpus: [1]});
	expect(answer.kind === 'allocated' && answer.plan.audit.map(({kind, reason}) => [kind, reason])).toEqual([
		['ended', 'over-limit'],
		['granted', undefined],
	]);
});

test("a person's request does not wait for an agent of the same account if that agent waits for other agents", () => {
	const settings = {'limits.max-gpus': '2', 'agents.max-gpus': '2'};
	const via = 'mcp claude-code';
	const queue = [waits('agent', 'ada', {requestedCount: 2, via}), waits('own', 'ada')];
	const gpus = [leased(0, 'bob', {via}), free(1), free(2)];
	expect(overIn(box(gpus, queue, settings))).toEqual([]);
	expect(grantTo('ada', box(gpus, queue.slice(0, 1), settings))).toMatchObject({kind: 'allocated', gpus: [1]});
});

test('a refusal states how many GPUs the account holds, although others are free', () => {
	expect(grantTo('ada', box([leased(0, 'ada'), leased(1, 'ada'), free(2)], []))).toMatchObject({
		kind: 'refused',
		available: 0,
		overLimit: {account: 'ada', held: 2, ahead: 0, limit: {value: 2, key: 'limits.max-gpus'}},
	});
});

test('a grant to an account with a limit depends on the records of all GPUs', () => {
	const gpus = [leased(0, 'bob'), free(1), free(2)];
	const expected = (settings: Readonly<Record<string, string>>) => {
		const answer = grantTo('ada', box(gpus, [], settings));
		return answer.kind === 'allocated'
			? answer.plan.expect.flatMap((one) => (one.kind === 'gpu' ? [one.index] : [])).toSorted((a, b) => a - b)
			: [];
	};

	expect(expected({'limits.max-gpus': '2'})).toEqual([0, 1, 2]);
	expect(expected({})).toEqual([1]);
	expect(expected({'limits.user.bob.max-gpus': '2'})).toEqual([1]);
});

test('a grant takes GPUs from a stopped request of the account if the account would otherwise exceed its limit', () => {
	const gpus = [leased(0, 'ada', {partialQueueId: 'a', expiryTime: undefined}), free(1), free(2)];
	const queue = [waits('a', 'ada', {requestedCount: 2})];
	const surplusFor = (count: number) =>
		accountLimitsOf(box(gpus, queue), {
			own: {account: 'ada', limit: {value: 2, key: '', text: '2'}},
			isServable: () => false,
			givesHoldings: () => true,
		})
			.surplus(count)
			.map(({index}) => index);
	expect(surplusFor(1)).toEqual([]);
	expect(surplusFor(2)).toEqual([0]);
});

test("a request that waits for its own account's limit has no estimate and delays no other request", () => {
	const snapshot = box([leased(0, 'ada'), leased(1, 'ada')], [waits('a', 'ada'), waits('b', 'bob')]);
	expect(foreseeWaits(snapshot).get('a')).toBeUndefined();
	expect(foreseeWaits(snapshot).get('b')?.seconds).toBe(600);
	expect(queueRows(snapshot).map(({id, overLimit}) => [id, overLimit?.held])).toEqual([
		['a', 2],
		['b', undefined],
	]);
});

test('a release wakes only requests that can now be served', () => {
	const queue = [
		...['a', 'b', 'c'].map((id) => waits(id, 'ada')),
		waits('d', 'bob'),
		waits('e', 'ada', {requestedIds: [2]}),
	];
	const before = box([leased(0, 'ada'), leased(1, 'ada'), leased(2, 'cy')], queue);
	const byOther = {kind: 'released', gpus: [2]} as const;
	expect(readAfterMs(byOther, snapshotAfterEvent(before, byOther), 'd')).toBe(0);
	const own = {kind: 'released', gpus: [0]} as const;
	const after = snapshotAfterEvent(before, own);
	expect(['a', 'b', 'd'].map((id) => endsLimit(before, after, id))).toEqual([true, false, false]);
});

test("a grant that is known only from its event counts toward the account's limit", () => {
	const queue = [
		...['a', 'b', 'c'].map((id) => waits(id, id)),
		...['a', 'b', 'c'].map((id) => waits(`${id}2`, id)),
		waits('d', 'dan'),
	];
	let seen: Snapshot | undefined = box(
		[0, 1, 2, 3].map((index) => free(index)),
		queue,
		{'limits.max-gpus': '1'},
	);
	for (const [gpu, user] of ['a', 'b', 'c'].entries()) {
		seen = snapshotAfterEvent(seen, {kind: 'granted', gpus: [gpu], user, left: [user]});
	}

	const freed = {kind: 'released', gpus: [3]} as const;
	expect(readAfterMs(freed, snapshotAfterEvent(seen, freed), 'd')).toBe(0);
});
