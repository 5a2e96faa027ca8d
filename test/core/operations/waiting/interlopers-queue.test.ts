/** Changes by other processes between the read and the commit of a waiting request. */
import {expect, test} from 'vitest';
import {adopt} from '../../../../source/core/operations/adopt.js';
import {planQueueGrant} from '../../../../source/core/rules/grants/queue-grant.js';
import {drain} from '../../../../source/core/operations/pool/drain.js';
import {leaveQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {emptyPlan, type Plan} from '../../../../source/core/model/plan.js';
import {entryFor, planEntryHeartbeat, planJoin} from '../../../../source/core/rules/queue/queue.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import type {QueueRecord} from '../../../../source/core/model/types.js';
import {encodeQueueEntry} from '../../../../source/store/records/index.js';
import {historyOf, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';
import {createInterruptedWorld} from '../interrupted/_interrupted.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);
const tenure = {type: 'manual', durationSeconds: 3600} as const;

const entryOf = (world: TestWorld, id: string, count = 1) =>
	entryFor({id, requester: bob, wanted: {count}, tenure, waitSeconds: undefined}, world.host, world.now());

const join = async (world: TestWorld, id: string, count?: number) =>
	world.memory.commit(planJoin(entryOf(world, id, count), 'box'));

const grantsBob = ({grants, event}: Plan): boolean => grants && event?.user === 'bob';

/** Bob waits for the GPU that alice has reserved for 50 s. */
async function waitForAlice(world: TestWorld) {
	await reserve(world, {requester: alice, count: 1, durationSeconds: 50});
	return acquire(
		world,
		{requester: bob, count: 1, tenure},
		{waitSeconds: 100, signal: new AbortController().signal, onProgress: () => undefined},
	);
}

test('a GPU that is drained when it becomes free is not granted to the queue', async () => {
	const {world, before} = await createInterruptedWorld(1);
	before(async (_, others) => drain(others, alice, [0], 'fan'), grantsBob);
	expect(await waitForAlice(world)).toEqual({kind: 'gave-up', reason: 'timeout'});
	expect((await readCurrent(world)).gpus[0]).toMatchObject({kind: 'free'});
});

test('a waiting request does not overtake an entry that is inserted ahead of it', async () => {
	const {world, before} = await createInterruptedWorld(1);
	before(async () => {
		// The Go program sets the join time itself.
		const {queue, entries} = world.memory.state;
		queue.unshift('early');
		entries.set('early', encodeQueueEntry(entryOf(world, 'early')));
	}, grantsBob);
	expect(await waitForAlice(world)).toEqual({kind: 'gave-up', reason: 'timeout'});
	expect((await readCurrent(world)).gpus[0]).toMatchObject({kind: 'free'});
});

test('a request that is removed from the queue when its GPU becomes free gets nothing', async () => {
	const {world, before} = await createInterruptedWorld(1);
	before(async (_, others) => leaveQueue(others, bob, others.memory.state.queue[0]!), grantsBob);
	expect(await waitForAlice(world)).toEqual({kind: 'gave-up', reason: 'removed'});
	expect((await readCurrent(world)).gpus[0]).toMatchObject({kind: 'free'});
});

test('a request that leaves the queue at the moment of its grant keeps the granted GPU', async () => {
	const {world, before} = await createInterruptedWorld(1);
	await join(world, 'place');
	before(async (_, others) => {
		const grant = planQueueGrant(await others.store.read(), 'place', {
			lease: {user: 'bob', type: 'manual', startTime: world.now(), expiryTime: world.now() + 3600, leaseId: 'got'},
			outOfService: new Map(),
			isUsable: () => true,
			isAnswering: () => true,
			host: 'box',
		});
		await others.store.commit(grant.kind === 'nothing' ? emptyPlan : grant.plan);
	});
	expect(await leaveQueue(world, bob, 'place')).toEqual({kind: 'not-found'});
	expect((await readCurrent(world)).gpus[0]).toMatchObject({lease: {leaseId: 'got'}});
	expect((await world.store.audit()).map(({kind}) => kind)).not.toContain('left');
});

test('adopt refuses a process on a GPU that is drained during the command', async () => {
	const {world, before} = await createInterruptedWorld(1);
	const processes = [{pid: 700, startTicks: 7, user: 'alice', memoryUsedMiB: 9000}];
	world.see(() => observationOf([{...idleReading(0), memoryUsedMiB: 9000, processes}]));
	before(async (_, others) => drain(others, bob, [0], 'fan'));
	await expect(adopt(world, {requester: alice, pid: 700})).rejects.toMatchObject({
		code: 'unavailable',
		message: 'GPU 0 is out of service: fan',
	});
	expect((await readCurrent(world)).gpus[0]).toMatchObject({kind: 'free'});
});

test('reserve overtakes a waiting request only while the process of that request is stopped', async () => {
	const {world} = await createInterruptedWorld(1);
	await join(world, 'place');
	const ask = async () => reserve(world, {requester: alice, count: 1, durationSeconds: 60});
	expect(await ask()).toMatchObject({kind: 'refused', blocked: [{block: {kind: 'queued'}}]});
	world.processes.set(1, 'stopped');
	expect(await ask()).toMatchObject({kind: 'granted', gpus: [0]});
	await release(world, alice, {by: 'label', label: 'alice'});
	world.processes.delete(1);
	expect(await ask()).toMatchObject({kind: 'refused'});
});

test('the heartbeat of a waiting request also renews the leases of the GPUs that it holds', async () => {
	const {world} = await createInterruptedWorld(2);
	await join(world, 'place', 2);
	const lease = {user: 'bob', type: 'manual', startTime: world.now(), lastHeartbeat: world.now()} as const;
	await world.memory.commit({
		...emptyPlan,
		writes: [{kind: 'lease', index: 1, lease: {...lease, partialQueueId: 'place'}}],
	});
	world.pass(30);
	const snapshot = await readCurrent(world);
	const [own] = snapshot.queue as ReadonlyArray<Extract<QueueRecord, {kind: 'entry'}>>;
	expect(await world.store.commit(planEntryHeartbeat(snapshot, own!))).toBe('done');
	const {gpus, queue} = await readCurrent(world);
	expect(gpus[1]).toMatchObject({lease: {lastHeartbeat: world.now()}});
	expect(queue).toMatchObject([{entry: {lastHeartbeat: world.now()}}]);
	expect(await historyOf(world.store)).toEqual([]);
});
