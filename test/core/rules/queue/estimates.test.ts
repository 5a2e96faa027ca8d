import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {latestTime} from '../../../../source/core/model/types.js';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {drain} from '../../../../source/core/operations/pool/drain.js';
import {estimateWaits} from '../../../../source/core/rules/queue/estimates.js';
import {entryFor, planJoin} from '../../../../source/core/rules/queue/queue.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {createTestWorld, person} from '../../../_helpers/world.js';
import {encodeLease} from '../../../../source/store/records/index.js';
import {timestamp} from '../../../../source/format/text/durations.js';
import {createPaint} from '../../../../source/format/text/paint.js';
import {queueTable} from '../../../../source/format/tables/queue-table.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';

const boss = person('root', 'root', 0);

test('queue estimates use the expiry of reservations and the time limits of jobs, in queue order', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await reserve(world, {requester: boss, count: 1, ids: [0], durationSeconds: 600});
	const join = async (id: string, wants: {count: number; ids?: readonly number[]}, timeLimitSeconds?: number) =>
		world.store.commit(
			planJoin(
				entryFor(
					{id, requester: boss, wanted: wants, tenure: {type: 'run', timeLimitSeconds}, waitSeconds: undefined},
					world.host,
					world.now(),
				),
				'box',
			),
		);
	await join('a', {count: 1, ids: [0]}, 100);
	await join('b', {count: 1, ids: [0]});
	await join('c', {count: 1, ids: [0]});
	await join('d', {count: 5});
	// GPU 1 is free, but the first entry does not take it, so its use cannot be foreseen.
	await join('e', {count: 1, ids: [1]});
	expect(estimateWaits(await readCurrent(world))).toEqual(
		new Map([
			['a', 600],
			['b', 700],
		]),
	);
	expect(queueRows(await readCurrent(world)).map((row) => row.isPossible)).toEqual([true, true, true, false, true]);
	// It is unknown when a drain will end.
	await drain(world, boss, [0], undefined);
	expect(estimateWaits(await readCurrent(world)).size).toBe(0);
});

test('the estimate for GPUs of the same model counts the free GPUs that are left for the request', async () => {
	const world = await createTestWorld({gpuCount: 4});
	await reserve(world, {requester: boss, count: 1, ids: [1], durationSeconds: 3600});
	await reserve(world, {requester: boss, count: 2, ids: [2, 3], durationSeconds: 28_800});
	const join = async (id: string, wanted: {count: number; ids?: readonly number[]}, eligible?: readonly number[][]) => {
		const tenure = {type: 'manual', durationSeconds: 60} as const;
		const entry = entryFor({id, requester: boss, wanted, tenure, waitSeconds: undefined}, world.host, world.now());
		await world.store.commit(planJoin({...entry, eligible}, 'box'));
	};

	await join('pair', {count: 2}, [
		[0, 1],
		[2, 3],
	]);
	await join('other', {count: 1, ids: [1]});
	expect(estimateWaits(await readCurrent(world))).toEqual(
		new Map([
			['pair', 3600],
			['other', 3660],
		]),
	);
	await drain(world, boss, [0], undefined);
	expect(estimateWaits(await readCurrent(world)).get('pair')).toBe(28_800);
});

test('the estimate for a share of a GPU with the maximum number of shares is the end of the first of them', async () => {
	const world = await createTestWorld({gpuCount: 1});
	await changePolicy(world, boss, [
		{key: 'share', value: 'on'},
		{key: 'share.max', value: '2'},
	]);
	const need = {shareMiB: 8192};
	for (const durationSeconds of [7200, 3600]) {
		expect(await reserve(world, {requester: boss, count: 1, need, durationSeconds})).toMatchObject({kind: 'granted'});
	}

	const tenure = {type: 'manual', durationSeconds: 60} as const;
	const options = {id: 'a', requester: boss, wanted: {count: 1, need}, tenure, waitSeconds: undefined};
	await world.store.commit(planJoin(entryFor(options, world.host, world.now()), 'box'));
	expect(estimateWaits(await readCurrent(world))).toEqual(new Map([['a', 3600]]));
});

test('the estimate of a queue entry is a valid time, whatever duration the record contains', async () => {
	const world = await createTestWorld({gpuCount: 1});
	const anyTenure = fc.oneof(
		fc.record({
			reservation_type: fc.constant('manual'),
			expiry_duration: fc.double({min: 0, noNaN: true, noDefaultInfinity: true}),
		}),
		fc.record({
			reservation_type: fc.constant('run'),
			time_limit: fc.double({min: 0, noNaN: true, noDefaultInfinity: true}),
		}),
	);
	const {queue, entries, scores, gpus} = world.memory.state;
	await fc.assert(
		fc.asyncProperty(
			fc.array(anyTenure, {minLength: 2, maxLength: 4}),
			fc.integer({min: world.now(), max: latestTime}),
			async (tenures, expiryTime) => {
				gpus.set(0, encodeLease({user: 'alice', type: 'manual', startTime: world.now(), expiryTime}));
				queue.length = 0;
				for (const [index, tenure] of tenures.entries()) {
					const id = `entry ${index}`;
					const now = world.now();
					scores.set(id, index);
					queue.push(id);
					entries.set(id, JSON.stringify({user: 'bob', requested_count: 1, enqueue_time: now, ...tenure}));
				}

				for (const {blockers} of queueRows(await world.store.read())) {
					for (const {until = 0} of blockers) {
						expect(() => timestamp(until)).not.toThrow();
					}
				}
			},
		),
	);
});

describe('the blockers of a queue entry', () => {
	const alice = person('alice');
	const bob = person('bob');

	/** Creates a pool with a queue, and returns the blockers of each entry in a short form. */
	async function blockersIn(
		gpuCount: number,
		leases: ReadonlyArray<{ids: readonly number[]; of?: typeof boss; seconds?: number; limit?: number}>,
		wants: ReadonlyArray<{count: number; ids?: readonly number[]; seconds?: number}>,
	) {
		const world = await createTestWorld({gpuCount});
		for (const {ids, of = alice, seconds, limit} of leases) {
			const tenure =
				seconds === undefined
					? ({type: 'run', timeLimitSeconds: limit} as const)
					: ({type: 'manual', durationSeconds: seconds} as const);
			await acquireNow(world, {requester: of, count: ids.length, ids, tenure}, `lease of ${ids.join(',')}`);
		}

		for (const [offset, {count, ids, seconds}] of wants.entries()) {
			const tenure = {type: 'run', timeLimitSeconds: seconds} as const;
			const options = {id: `entry ${offset + 1}`, requester: bob, wanted: {count, ids}, tenure, waitSeconds: undefined};
			await world.store.commit(planJoin(entryFor(options, world.host, world.now()), 'box'));
		}

		const snapshot = await readCurrent(world);
		return queueRows(snapshot).map(({blockers}) =>
			blockers.map(({kind, gpus, until, ...who}) => {
				const name = 'lease' in who ? who.lease.user : 'position' in who ? `#${who.position}` : who.reason;
				return `${kind} ${name} ${gpus.join(',')} ${until === undefined ? '-' : Math.round(until - snapshot.now)}`;
			}),
		);
	}

	test('are the holders of the requested GPUs, sorted by expiry or time limit', async () => {
		expect(
			await blockersIn(
				4,
				[
					{ids: [0, 1], seconds: 600},
					{ids: [2], of: boss, limit: 60},
					{ids: [3], of: boss},
				],
				[
					{count: 2, ids: [1, 2]},
					{count: 1, ids: [3]},
				],
			),
		).toEqual([['lease root 2 60', 'lease alice 1 600'], ['lease root 3 -']]);
	});

	test('are all holders if the request accepts any GPU, even holders without a known end', async () => {
		expect(
			await blockersIn(
				5,
				[
					{ids: [0, 1], seconds: 600},
					{ids: [2], of: boss, limit: 60},
					{ids: [3], of: boss},
					{ids: [4], of: bob, seconds: 900},
				],
				[{count: 2}],
			),
		).toEqual([['lease root 2 60', 'lease alice 0,1 600', 'lease bob 4 900', 'lease root 3 -']]);
	});

	test('exclude the holder of a drained GPU', async () => {
		const world = await createTestWorld({gpuCount: 2});
		await acquireNow(world, {requester: alice, count: 1, ids: [0], tenure: {type: 'run'}}, 'out');
		await reserve(world, {requester: boss, count: 1, ids: [1], durationSeconds: 600});
		await drain(world, boss, [0], undefined);
		const options = {
			id: 'one',
			requester: bob,
			wanted: {count: 1},
			tenure: {type: 'run'} as const,
			waitSeconds: undefined,
		};
		await world.store.commit(planJoin(entryFor(options, world.host, world.now()), 'box'));
		expect(queueRows(await readCurrent(world))[0]!.blockers).toMatchObject([{kind: 'lease', gpus: [1]}]);
	});

	test('are all holders if no end is known', async () => {
		expect(await blockersIn(2, [{ids: [0]}, {ids: [1], of: boss}], [{count: 1}])).toEqual([
			['lease alice 0 -', 'lease root 1 -'],
		]);
	});

	test('include an earlier entry that gets the same GPU first', async () => {
		expect(await blockersIn(1, [{ids: [0], seconds: 600}], [{count: 1, seconds: 100}, {count: 1}, {count: 5}])).toEqual(
			[['lease alice 0 600'], ['lease alice 0 600', 'waiter #1 0 700'], []],
		);
	});

	test('exclude holders of other GPUs and the entry itself', async () => {
		const world = await createTestWorld({gpuCount: 2});
		await reserve(world, {requester: boss, count: 1, ids: [0], durationSeconds: 600});
		const wanted = {count: 2};
		const options = {id: 'both', requester: bob, wanted, tenure: {type: 'run'} as const, waitSeconds: undefined};
		await world.store.commit(planJoin(entryFor(options, world.host, world.now()), 'box'));
		const partial = {user: 'bob', type: 'run', startTime: world.now(), partialQueueId: 'both'} as const;
		const snapshot = await readCurrent(world);
		const held = snapshot.gpus.map((record) =>
			record.index === 1 ? {kind: 'leased' as const, index: 1, raw: '', lease: partial} : record,
		);
		const [row] = queueRows({...snapshot, gpus: held});
		expect(row).toMatchObject({estimateSeconds: 600, held: [1]});
		expect(row!.blockers).toMatchObject([{kind: 'lease', gpus: [0]}]);
	});
});

test('the blockers of a queue entry fit into the queue table at 80 columns', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await reserve(world, {requester: person('alice'), count: 2, durationSeconds: 3600});
	const options = {
		id: '3f2a1b0c-0000-4000-8000-000000000000',
		requester: person('bob'),
		wanted: {count: 2},
		tenure: {type: 'run'} as const,
		waitSeconds: undefined,
	};
	await world.store.commit(planJoin(entryFor(options, world.host, world.now()), 'box'));
	const snapshot = await readCurrent(world);
	const table = queueTable(queueRows(snapshot), createPaint(false, {}), {now: snapshot.now, width: 80});
	for (const line of table.split('\n')) {
		expect(line.length).toBeLessThanOrEqual(80);
	}

	expect(table).toMatch(/│ in about 1h 0m 0s │ alice on GPUs 0,1 until (?:[\d\-]+ )?\d\d:\d\d/v);
});
