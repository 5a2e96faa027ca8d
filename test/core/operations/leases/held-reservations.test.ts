import {describe, expect, test} from 'vitest';
import {emptyPlan, type Plan} from '../../../../source/core/model/plan.js';
import {extend, readStatus, release} from '../../../../source/core/operations/reservations.js';
import {createTestWorld, historyOf, person, startTime} from '../../../_helpers/world.js';
import {alice, bob, hour, owners, take} from '../_reservations.js';
import {isLeased} from '../../../_helpers/leased.js';

const root = person('root', 'root', 0);

describe('release', () => {
	test("without ids ends only the caller's reservations that have no label", async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		await take(world, person('alice', 'team'), [1]);
		await take(world, bob, [2]);
		world.pass(60);
		const {released} = await release(world, alice, {by: 'label', label: 'alice'});
		expect(released.map(({index}) => index)).toEqual([0]);
		expect(await owners(world)).toEqual([undefined, 'alice', 'bob', undefined]);
		expect((await release(world, alice, {by: 'label', label: 'team'})).released).toHaveLength(1);
		expect(await historyOf(world.store)).toMatchObject([
			{gpuId: 0, user: 'alice', durationSeconds: 60, endReason: 'released', reservationType: 'manual'},
			{gpuId: 1, user: 'team', actualUser: 'alice', endReason: 'released'},
		]);
	});

	test("rejects another user's lease by id, label or lease id", async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		const {leaseId} = await take(world, bob, [1]);
		// The label "bob" gives another account no rights to bob's leases.
		const mallory = person('alice', 'bob');
		expect(await release(world, mallory, {by: 'label', label: 'bob'})).toMatchObject({released: [], notYours: []});
		expect(await release(world, mallory, {by: 'gpus', ids: [0, 1]})).toMatchObject({
			released: [],
			notYours: [{index: 1}],
		});
		expect(await release(world, mallory, {by: 'lease', leaseId})).toMatchObject({released: [], notYours: [{index: 1}]});
		expect(await owners(world)).toEqual(['alice', 'bob', undefined, undefined]);
	});

	test('ends leases of other accounts for root only if a GPU id or label is given', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		await take(world, bob, [1]);
		expect((await release(world, root, {by: 'label', label: 'root'})).released).toEqual([]);
		expect((await release(world, root, {by: 'gpus', ids: [0]})).released).toHaveLength(1);
		expect((await release(world, {...root, label: 'bob'}, {by: 'label', label: 'bob'})).released).toHaveLength(1);
	});

	test('records the id of the ended lease on each GPU', async () => {
		const world = await createTestWorld();
		const first = await take(world, alice, [0]);
		await release(world, alice, {by: 'gpus', ids: [0]});
		expect((await world.store.read()).gpus[0]).toMatchObject({
			kind: 'free',
			ended: {reason: 'released', leaseId: first.leaseId},
		});
		const second = await take(world, alice, [0]);
		world.pass(hour + 1);
		await readStatus(world);
		expect((await world.store.read()).gpus[0]).toMatchObject({
			kind: 'free',
			ended: {reason: 'expired', leaseId: second.leaseId},
		});
	});

	test('keeps a later lease on the same GPU if the lease id of the earlier lease is given', async () => {
		const world = await createTestWorld();
		const first = await take(world, alice, [0]);
		await release(world, alice, {by: 'lease', leaseId: first.leaseId});
		await take(world, alice, [0]);
		expect((await release(world, alice, {by: 'lease', leaseId: first.leaseId})).released).toEqual([]);
		expect(await owners(world)).toEqual(['alice', undefined, undefined, undefined]);
	});

	test('keeps the other GPUs of a lease if a lease id and a GPU are given', async () => {
		const world = await createTestWorld();
		const {leaseId} = await take(world, alice, [0, 1]);
		await release(world, alice, {by: 'lease', leaseId, ids: [1]});
		expect(await owners(world)).toEqual(['alice', undefined, undefined, undefined]);
	});

	test('ends several leases in one commit, but keeps leases that changed since the read', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0, 1]);
		await take(world, alice, [2]);
		world.memory.state.gpus.set(3, JSON.stringify({user: 'alice', type: 'manual', start_time: 5, expiry_time: 4e9}));
		const seen = (await readStatus(world)).snapshot.gpus.filter(isLeased);
		await release(world, alice, {by: 'gpus', ids: [2]});
		await take(world, alice, [2]);
		let commits = 0;
		const counting = {
			...world,
			store: {
				...world.store,
				async commit(plan: Plan) {
					commits++;
					return world.store.commit(plan);
				},
			},
		};
		const {released} = await release(counting, alice, {by: 'leases', leases: seen});
		expect(released.map(({index}) => index)).toEqual([0, 1, 3]);
		expect(commits).toBe(1);
		expect(await owners(world)).toEqual([undefined, undefined, 'alice', undefined]);
	});

	test.each([{start_time: 6}, {type: 'run', expiry_time: undefined}, {user: 'bob'}])(
		'keeps a lease without an id if one of its fields has changed since the read: %j',
		async (other) => {
			const world = await createTestWorld();
			const record = {user: 'alice', type: 'manual', start_time: 5, expiry_time: 4e9, last_heartbeat: startTime};
			world.memory.state.gpus.set(3, JSON.stringify(record));
			const seen = (await readStatus(world)).snapshot.gpus.filter(isLeased);
			world.memory.state.gpus.set(3, JSON.stringify({...record, ...other}));
			expect(await release(world, alice, {by: 'leases', leases: seen})).toEqual({released: [], notYours: []});
		},
	);

	test('rejects an unknown GPU and ignores a free GPU', async () => {
		const world = await createTestWorld();
		await expect(release(world, alice, {by: 'gpus', ids: [4]})).rejects.toMatchObject({code: 'impossible'});
		expect(await release(world, alice, {by: 'gpus', ids: [0]})).toEqual({released: [], notYours: []});
	});

	test('keeps leases with another label if a label is given', async () => {
		const world = await createTestWorld();
		await take(world, person('alice', 'team'), [0]);
		expect(await release(world, alice, {by: 'gpus', ids: [0], label: 'other'})).toMatchObject({
			released: [],
			notYours: [{index: 0}],
		});
		expect((await release(world, alice, {by: 'gpus', ids: [0], label: 'team'})).released).toHaveLength(1);
	});

	test('keeps GPUs that a waiting request holds', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		const record = JSON.parse(world.memory.state.gpus.get(0)!) as Record<string, unknown>;
		world.memory.state.gpus.set(0, JSON.stringify({...record, partial_queue_id: 'q'}));
		world.memory.state.queue.push('q');
		world.memory.state.entries.set('q', 'garbage');
		expect((await release(world, alice, {by: 'gpus', ids: [0]})).released).toEqual([]);
	});
});

describe('extend', () => {
	test('adds time to the end of a reservation, or sets the end', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0, 1]);
		expect((await extend(world, alice, {by: 'label', label: 'alice'}, {by: 600})).extended).toMatchObject([
			{index: 0, expiryTime: startTime + hour + 600},
			{index: 1, expiryTime: startTime + hour + 600},
		]);
		const until = startTime + 2 * hour;
		expect((await extend(world, alice, {by: 'gpus', ids: [1]}, {until})).extended).toMatchObject([
			{index: 1, expiryTime: until},
		]);
		expect((await readStatus(world)).rows.map(({remainingSeconds}) => remainingSeconds)).toEqual([
			hour + 600,
			2 * hour,
			undefined,
			undefined,
		]);
	});

	test('rejects an end in the past, a reservation of another account and a job', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		await take(world, bob, [1]);
		await expect(extend(world, alice, {by: 'label', label: 'alice'}, {until: startTime - 1})).rejects.toMatchObject({
			code: 'usage',
		});
		expect(await extend(world, alice, {by: 'gpus', ids: [0, 1]}, {by: 60})).toMatchObject({
			extended: [],
			notYours: [{index: 1}],
		});
		world.memory.state.gpus.set(
			2,
			JSON.stringify({user: 'alice', type: 'run', start_time: startTime, last_heartbeat: startTime}),
		);
		expect(await extend(world, alice, {by: 'gpus', ids: [0, 2]}, {by: 60})).toMatchObject({
			extended: [],
			notTimed: [2],
		});
		expect((await readStatus(world)).rows[0]).toMatchObject({remainingSeconds: hour});
	});

	test('lists a GPU once if a job has several MIG instances of that GPU', async () => {
		const world = await createTestWorld();
		const lease = {user: 'alice', type: 'run', startTime, lastHeartbeat: startTime, leaseId: 'a'} as const;
		const shares = ['MIG-1', 'MIG-2'].map((uuid) => ({...lease, mig: {uuid}}));
		await world.memory.commit({...emptyPlan, writes: [{kind: 'shares', index: 2, shares}]});
		expect((await extend(world, alice, {by: 'gpus', ids: [2]}, {by: 60})).notTimed).toEqual([2]);
	});

	test('does not find a lease that has just expired', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		world.pass(hour + 1);
		expect((await extend(world, alice, {by: 'label', label: 'alice'}, {by: 60})).extended).toEqual([]);
		expect(await historyOf(world.store)).toMatchObject([{gpuId: 0, endTime: startTime + hour, endReason: 'expired'}]);
	});
});

describe('reading the pool', () => {
	test('ends expired leases and writes usage records that end at the expiry', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		world.pass(hour + 500);
		expect((await readStatus(world)).rows[0]).toMatchObject({state: 'available', freeSeconds: 500});
		expect(await historyOf(world.store)).toMatchObject([{endTime: startTime + hour, durationSeconds: hour}]);
	});

	test('frees the GPUs of a dead process at once', async () => {
		const world = await createTestWorld();
		world.memory.state.gpus.set(
			0,
			JSON.stringify({
				user: 'alice',
				type: 'run',
				start_time: startTime,
				last_heartbeat: startTime,
				lease_id: 'x',
				machine: 'machine-1',
				boot_id: 'boot-1',
				pid: 42,
			}),
		);
		expect((await readStatus(world)).rows[0]).toMatchObject({state: 'in-use'});
		world.processes.set(42, 'dead');
		world.pass(7);
		expect((await readStatus(world)).rows[0]).toMatchObject({state: 'available'});
		expect(await historyOf(world.store)).toMatchObject([{leaseId: 'x', endReason: 'holder-died', durationSeconds: 7}]);
	});

	test('fails if there is no pool or the pool belongs to another machine', async () => {
		const world = await createTestWorld();
		world.memory.state.pool = {
			...world.memory.state.pool,
			machine: JSON.stringify({machine_id: 'other', boot_id: 'x'}),
		};
		await expect(readStatus(world)).rejects.toMatchObject({code: 'wrong-machine', exitCode: 4});
		world.memory.state.pool = {gpuCount: undefined, provider: undefined, machine: undefined};
		await expect(readStatus(world)).rejects.toMatchObject({code: 'no-pool', exitCode: 4});
	});
});
