/** A store that lost data gets back what running processes have read from it. */
import {describe, expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {sendHeartbeat, findJobLease} from '../../../../source/core/operations/job-lease.js';
import {closePool, createPool} from '../../../../source/core/operations/pool/create-pool.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {drain, undrain} from '../../../../source/core/operations/pool/drain.js';
import {leaveQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import type {World} from '../../../../source/core/model/ports.js';
import {extend, release, reserve} from '../../../../source/core/operations/reservations.js';
import {createRestoringStore} from '../../../../source/core/live/restoring-store.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import type {Snapshot} from '../../../../source/core/model/types.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {crash, saved} from '../../../_helpers/store/losing.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../../../_helpers/world.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {isLeased} from '../../../_helpers/leased.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);
const root = person('root', 'root', 0);

/** Returns the world of another long-running process, which remembers what it reads. */
const stayingIn = (world: World): World => ({...world, store: createRestoringStore(world.store, world)});

const holdersOf = ({gpus}: Snapshot) => gpus.map((record) => (isLeased(record) ? record.lease.leaseId : undefined));

const lineOf = ({queue}: Snapshot) => queue.map(({id}) => id);

const reserveFor = async (world: World, gpu: number, durationSeconds = 36_000) => {
	const answer = await reserve(world, {requester: bob, count: 1, ids: [gpu], durationSeconds});
	if (answer.kind !== 'granted') {
		throw new Error('refused');
	}

	return answer.leaseId;
};

const runOn = async (world: World, gpu: number, leaseId: string) =>
	acquireNow(world, {requester: alice, count: 1, ids: [gpu], tenure: {type: 'run'}}, leaseId);

/** Makes a change, without which there would be nothing to restore. */
const makeRevision = async (world: World) => {
	await release(world, bob, {by: 'lease', leaseId: await reserveFor(world, 0)});
};

const joinAs = async (world: World, id: string, pid: number) =>
	joinQueue(
		{...world, host: {...world.host, self: {pid}}},
		{id, request: {requester: bob, count: 4, tenure: {type: 'run'}}, waitSeconds: undefined},
	);

/** Writes every kind of record that a store can lose. */
async function fill(world: TestWorld) {
	await runOn(world, 0, 'job');
	const manual = await reserveFor(world, 1);
	await drain(world, root, [2], 'fan is dead');
	await changePolicy(world, root, [{key: 'strategy', value: 'lru'}]);
	for (const [index, id] of ['w1', 'w2', 'w3', 'w4', 'w5'].entries()) {
		await joinAs(world, id, 100 + index);
		world.pass(1);
	}

	await world.memory.commit({
		...emptyPlan,
		writes: [{kind: 'alerts', alerts: [{kind: 'health', gpu: 2, problem: 'temperature', since: startTime}]}],
	});
	return {manual};
}

const contentOf = ({pool, gpus, queue, drains, policy, alerts}: Snapshot) => ({
	pool,
	gpus,
	queue,
	drains,
	policy,
	alerts,
});

describe('a process restores everything that it has read', () => {
	test('into an empty store', async () => {
		const world = await createTestWorld();
		await fill(world);
		const staying = stayingIn(world);
		const before = await staying.store.read();
		world.pass(7);
		crash(world.memory);
		const after = await staying.store.read();
		expect(contentOf(after)).toEqual(contentOf(before));
		expect(after.dataLoss).toEqual({restoredAt: world.now(), readAt: before.now});
		expect(await world.store.audit()).toMatchObject([
			{kind: 'pool', reason: 'restored', count: 4, until: before.now},
			{kind: 'granted', reason: 'restored', gpus: [0], leaseId: 'job'},
			{kind: 'granted', reason: 'restored', gpus: [1], account: 'bob'},
			...['w1', 'w2', 'w3', 'w4', 'w5'].map((entryId) => ({kind: 'joined', reason: 'restored', entryId})),
		]);
	});

	test('and prevents grants for five seconds, so that running jobs can restore newer leases first', async () => {
		const world = await createTestWorld({gpuCount: 1});
		await makeRevision(world);
		const staying = stayingIn(world);
		await staying.store.read();
		await runOn(world, 0, 'job');
		const wrapper = await findJobLease(world, 'job');
		world.pass(7);
		crash(world.memory);
		await staying.store.read();
		const restoredAt = world.now();
		const slow: World = {
			...world,
			clock: {
				...world.clock,
				async sleep(milliseconds, signal) {
					// The wrapper finds out about the loss and restores its lease.
					await sendHeartbeat(world, wrapper);
					await world.clock.sleep(milliseconds, signal);
				},
			},
		};
		const answer = await reserve(slow, {requester: bob, count: 1, durationSeconds: 3600});
		expect(answer.kind).not.toBe('granted');
		expect(world.now() - restoredAt).toBeGreaterThanOrEqual(5);
		expect(holdersOf(await world.store.read())).toEqual(['job']);
	});

	test('into an outdated store, replacing records that changed before the crash', async () => {
		const world = await createTestWorld();
		const released = await reserveFor(world, 3);
		const replaced = await reserveFor(world, 1);
		await joinAs(world, 'w0', 99);
		await drain(world, root, [0], 'a test');
		const disk = saved(world.memory);
		world.pass(10);
		await leaveQueue(world, root, 'w0');
		await release(world, bob, {by: 'lease', leaseId: released});
		await release(world, bob, {by: 'lease', leaseId: replaced});
		await undrain(world, root, [0]);
		world.pass(10);
		const {manual} = await fill(world);
		await extend(world, bob, {by: 'lease', leaseId: manual}, {by: 3600});
		const staying = stayingIn(world);
		const before = await staying.store.read();
		const history = await historyOf(world.store);
		world.pass(5);
		crash(world.memory, disk);
		expect(holdersOf(await world.store.read())).toEqual([undefined, replaced, undefined, released]);
		expect(contentOf(await staying.store.read())).toEqual(contentOf(before));
		// A lost usage record is restored if the record of the GPU still shows how the lease ended.
		expect(await historyOf(world.store)).toEqual(history.filter(({gpuId}) => gpuId === 3));
	});

	test('into a copy of the database from an hour ago, which keeps its run', async () => {
		const world = await createTestWorld();
		world.pass(3600);
		await makeRevision(world);
		const released = await reserveFor(world, 3);
		const disk = saved(world.memory);
		world.pass(3600);
		await release(world, bob, {by: 'lease', leaseId: released});
		await fill(world);
		const staying = stayingIn(world);
		const before = await staying.store.read();
		world.pass(5);
		crash(world.memory, disk, world.memory.state.run);
		expect(contentOf(await staying.store.read())).toEqual(contentOf(before));
	});

	test('including that the pool has moved to another store', async () => {
		const world = await createTestWorld();
		await reserveFor(world, 1);
		const disk = saved(world.memory);
		world.pass(10);
		await closePool(world, 'another store');
		const staying = stayingIn(world);
		await staying.store.read();
		crash(world.memory, disk);
		const after = await staying.store.read();
		expect(after.pool).toMatchObject({machine: {movedTo: 'another store'}});
		expect(holdersOf(after)).toEqual([undefined, undefined, undefined, undefined]);
	});

	test('including notes about returned reservations that the owners have not received', async () => {
		const world = await createTestWorld();
		await makeRevision(world);
		const disk = saved(world.memory);
		const note = {account: 'bob', gpus: [1], leaseId: 'gone', endedAt: startTime, reason: 'reclaimed'} as const;
		await world.memory.commit({...emptyPlan, writes: [{kind: 'alerts', alerts: [], returned: [note]}]});
		const staying = stayingIn(world);
		const {returned} = await staying.store.read();
		expect(returned).toMatchObject([note]);
		crash(world.memory, disk);
		expect((await staying.store.read()).returned).toEqual(returned);
	});

	test('in queue order, even if the clock was set back while entries joined', async () => {
		const world = await createTestWorld();
		for (const [index, id] of ['w1', 'w2', 'w3'].entries()) {
			await joinAs(world, id, 100 + index);
			world.jump(-100);
		}

		const staying = stayingIn(world);
		await staying.store.read();
		crash(world.memory);
		expect(lineOf(await staying.store.read())).toEqual(['w1', 'w2', 'w3']);
	});

	test('into a recreated pool, without replacing new holders', async () => {
		const world = await createTestWorld();
		const {manual} = await fill(world);
		const staying = stayingIn(world);
		await staying.store.read();
		world.pass(5);
		crash(world.memory);
		await createPool(world, {gpuCount: 4, provider: 'fake', force: false});
		const taken = await reserveFor(world, 0);
		const after = await staying.store.read();
		expect(holdersOf(after)).toEqual([taken, manual, undefined, undefined]);
		expect(after.drains.get(2)).toMatchObject({reason: 'fan is dead'});
		expect(lineOf(after)).toEqual(['w1', 'w2', 'w3', 'w4', 'w5']);
	});

	test('before the pool is recreated, if the process reads the empty store earlier', async () => {
		const world = await createTestWorld();
		const {manual} = await fill(world);
		const staying = stayingIn(world);
		await staying.store.read();
		crash(world.memory);
		await staying.store.read();
		const request = {gpuCount: 4, provider: 'fake', force: false} as const;
		expect(await createPool(world, request)).toMatchObject({wasThere: true, droppedLeases: 0});
		expect(holdersOf(await world.store.read())).toEqual(['job', manual, undefined, undefined]);
		await expect(createPool(world, {...request, gpuCount: 3})).rejects.toMatchObject({code: 'pool-exists'});
		world.pass(60);
		await expect(createPool(world, request)).rejects.toMatchObject({code: 'pool-exists'});
	});

	test('except for GPUs that the pool no longer has', async () => {
		const world = await createTestWorld();
		await fill(world);
		const staying = stayingIn(world);
		await staying.store.read();
		crash(world.memory);
		await createPool(world, {gpuCount: 1, provider: 'fake', force: false});
		expect(holdersOf(await staying.store.read())).toEqual(['job']);
	});
});

describe('a process that restores a store never changes', () => {
	const scene = async () => {
		const world = await createTestWorld();
		const disk = saved(world.memory);
		await reserveFor(world, 1);
		world.pass(5);
		const staying = stayingIn(world);
		await staying.store.read();
		world.pass(5);
		return {world, disk, staying};
	};

	test('a lease that was granted after the crash', async () => {
		const {world, disk, staying} = await scene();
		crash(world.memory, disk);
		const since = await reserveFor(world, 1);
		expect(holdersOf(await staying.store.read())).toEqual([undefined, since, undefined, undefined]);
	});

	test('a GPU that was granted and released after the crash', async () => {
		const {world, disk, staying} = await scene();
		crash(world.memory, disk);
		const since = await reserveFor(world, 1);
		await release(world, bob, {by: 'lease', leaseId: since});
		expect(holdersOf(await staying.store.read())[1]).toBe(undefined);
	});

	test('a drain that was made after the crash', async () => {
		const {world, disk, staying} = await scene();
		crash(world.memory, disk);
		await drain(world, root, [3], 'since');
		expect((await staying.store.read()).drains.get(3)).toMatchObject({reason: 'since'});
	});

	test('a policy key that was set or unset after the crash', async () => {
		const set = await scene();
		crash(set.world.memory, set.disk);
		await changePolicy(set.world, root, [{key: 'strategy', value: 'lru'}]);
		const policy = await set.staying.store.read();
		expect(policy.policy.get('strategy')).toMatchObject({value: 'lru', by: 'root'});

		const world = await createTestWorld();
		await changePolicy(world, root, [{key: 'strategy', value: 'lru'}]);
		const disk = saved(world.memory);
		const staying = stayingIn(world);
		world.pass(1);
		await makeRevision(world);
		await staying.store.read();
		world.pass(5);
		crash(world.memory, disk);
		await changePolicy(world, root, [{key: 'strategy', value: undefined}]);
		expect((await staying.store.read()).policy).toEqual(new Map());
	});

	test('records that it has never read', async () => {
		const world = await createTestWorld();
		const disk = saved(world.memory);
		await drain(world, root, [2], 'fan is dead');
		await joinAs(world, 'w1', 100);
		const stopped = stayingIn(world);
		await stopped.store.read();
		crash(world.memory, disk);
		world.pass(60);
		await runOn(world, 0, 'since');
		world.pass(3600);
		await drain(world, root, [3], 'since');
		await stopped.store.read();
		const after = await world.store.read();
		expect(after.drains.keys().toArray()).toEqual([3]);
		expect(lineOf(after)).toEqual([]);
	});

	test('a store that lost nothing, however often the store restarts', async () => {
		const {world, staying} = await scene();
		const before = structuredClone({...world.memory.state, run: undefined});
		crash(world.memory, saved(world.memory));
		const {dataLoss} = await staying.store.read();
		expect(dataLoss).toBeUndefined();
		expect({...world.memory.state, run: undefined}).toEqual(before);
	});

	test('the pool of another machine', async () => {
		const {world, staying} = await scene();
		crash(world.memory);
		await createPool(
			{...world, host: {...world.host, machineId: 'machine-2'}},
			{
				gpuCount: 4,
				provider: 'fake',
				force: false,
			},
		);
		expect(holdersOf(await staying.store.read())).toEqual([undefined, undefined, undefined, undefined]);
	});
});

describe('processes that restore the same store', () => {
	/** Creates two processes, of which only the second has read a certain change. Then the store is emptied. */
	const scene = async (world: TestWorld, change: () => Promise<unknown>) => {
		const [first, second] = [stayingIn(world), stayingIn(world)];
		await first.store.read();
		world.pass(1);
		await change();
		await second.store.read();
		world.pass(1);
		crash(world.memory);
		await first.store.read();
		world.pass(1);
		return second;
	};

	test('keep the latest end of an extended lease', async () => {
		const world = await createTestWorld();
		const leaseId = await reserveFor(world, 1);
		const second = await scene(world, async () => extend(world, bob, {by: 'lease', leaseId}, {by: 3600}));
		const expiryTime = startTime + 36_000 + 3600;
		expect((await second.store.read()).gpus[1]).toMatchObject({lease: {leaseId, expiryTime}});
	});

	test('do not bring back entries that have left the queue meanwhile', async () => {
		const world = await createTestWorld();
		await joinAs(world, 'leaves', 100);
		await joinAs(world, 'served', 101);
		const second = await scene(world, async () => changePolicy(world, root, [{key: 'strategy', value: 'lru'}]));
		expect(lineOf(await world.store.read())).toEqual(['leaves', 'served']);
		await leaveQueue(world, root, 'leaves');
		await leaveQueue(world, root, 'served');
		await runOn({...world, host: {...world.host, self: {pid: 101}}}, 1, 'job');
		// The audit log does not mention the entry, but the GPU that its process holds shows that it was served.
		const {auditLog} = world.memory.state;
		auditLog.splice(0, Infinity, ...auditLog.filter(({raw}) => !raw.includes('"served"')));
		const after = await second.store.read();
		expect(after.policy.get('strategy')).toMatchObject({value: 'lru'});
		expect(lineOf(after)).toEqual([]);
	});

	test('restore the data only once if all processes read the store at the same time', async () => {
		const world = await createTestWorld();
		await fill(world);
		const all = Array.from({length: 8}, () => stayingIn(world));
		await Promise.all(all.map(async ({store}) => store.read()));
		crash(world.memory);
		const found = await Promise.all(all.map(async ({store}) => store.read()));
		expect(new Set(found.map((snapshot) => JSON.stringify(contentOf(snapshot)))).size).toBe(1);
		expect((await world.store.audit()).filter(({kind}) => kind === 'pool')).toHaveLength(1);
	});

	test.each(['first', 'last'])(
		'keep the newest records, even if the process that knows these records restores %s',
		async (when) => {
			const world = await createTestWorld();
			const old = await reserveFor(world, 0);
			const older = stayingIn(world);
			await older.store.read();
			world.pass(5);
			const kept = await reserveFor(world, 1);
			await release(world, bob, {by: 'lease', leaseId: old});
			world.pass(5);
			const newer = stayingIn(world);
			await newer.store.read();
			crash(world.memory);
			for (const {store} of when === 'first' ? [newer, older] : [older, newer]) {
				await store.read();
			}

			expect(holdersOf(await world.store.read())).toEqual([undefined, kept, undefined, undefined]);
		},
	);
});

describe('a store that lost only the size of its pool', () => {
	test('gets the size back in one commit without other changes', async () => {
		const world = await createTestWorld();
		await fill(world);
		let commits = 0;
		const staying = stayingIn({
			...world,
			store: {
				...world.store,
				async commit(plan) {
					commits++;
					return world.store.commit(plan);
				},
			},
		});
		const before = await staying.store.read();
		world.memory.state.pool = {...world.memory.state.pool, gpuCount: undefined};
		const after = await staying.store.read();
		expect(contentOf(after)).toEqual(contentOf(before));
		expect(after.dataLoss).toBeUndefined();
		expect(commits).toBe(1);
	});

	test('keeps its reservations, and tells a new process in an error to set only the size again', async () => {
		const world = await createTestWorld();
		await fill(world);
		world.memory.state.pool = {...world.memory.state.pool, gpuCount: undefined};
		await expect(readCurrent(world)).rejects.toMatchObject({
			code: 'no-pool',
			message: 'There is no GPU pool in memory',
			hint: 'Only its number of GPUs is missing. Its reservations are still there. Set the number again, without --force: canhazgpu admin --gpus N',
		});
	});

	test('gets the size back before newer GPU records, which depend on it', async () => {
		const world = await createTestWorld();
		const disk = saved(world.memory);
		const {manual} = await fill(world);
		const staying = stayingIn(world);
		const before = await staying.store.read();
		crash(world.memory, {
			...disk,
			gpus: new Map([[1, '{"last_released":1}']]),
			pool: {...disk.pool, gpuCount: undefined},
		});
		const after = await staying.store.read();
		expect(holdersOf(after)).toEqual(['job', manual, undefined, undefined]);
		expect(contentOf(after)).toEqual(contentOf(before));
	});
});

test('a store that rejects writes can be read, and is restored later', async () => {
	const world = await createTestWorld();
	const {manual} = await fill(world);
	let isRefusing = true;
	const staying = stayingIn({
		...world,
		store: {
			...world.store,
			async commit(plan) {
				if (isRefusing) {
					throw new CanhazgpuError('store-refused', 'read-only');
				}

				return world.store.commit(plan);
			},
		},
	});
	await staying.store.read();
	crash(world.memory);
	expect((await staying.store.read()).pool).toBeUndefined();
	isRefusing = false;
	expect(holdersOf(await staying.store.read())).toEqual(['job', manual, undefined, undefined]);
});

test('the older of two concurrent reads is not mistaken for lost data', async () => {
	const world = await createTestWorld();
	const answers: Array<() => void> = [];
	let isSlow = false;
	const staying = stayingIn({
		...world,
		store: {
			...world.store,
			async read(options) {
				const found = await world.store.read(options);
				if (isSlow) {
					const {promise, resolve} = Promise.withResolvers<void>();
					answers.push(resolve);
					await promise;
				}

				return found;
			},
		},
	});
	await staying.store.read();
	isSlow = true;
	const first = staying.store.read();
	await Promise.resolve();
	await reserveFor(world, 0);
	const second = staying.store.read();
	await Promise.resolve();
	isSlow = false;
	answers[1]?.();
	await second;
	answers[0]?.();
	expect(holdersOf(await first)[0]).toBeUndefined();
	expect((await staying.store.read()).dataLoss).toBeUndefined();
});
