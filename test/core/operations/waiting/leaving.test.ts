import {expect, test} from 'vitest';
import {leaveQueue, leaveQueueWhileEmpty} from '../../../../source/core/operations/waiting/leave-queue.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import type {Plan} from '../../../../source/core/model/plan.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {eventually} from '../../../_helpers/eventually.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {createTestWorld, person} from '../../../_helpers/world.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);

test("leaveQueue removes the user's queue entry by a prefix of its id", async () => {
	const world = await createLiveWorld(1);
	await reserve(world, {requester: alice, count: 1, durationSeconds: 3600});
	const answer = acquire(
		world,
		{requester: bob, count: 1, tenure: {type: 'run'}},
		{waitSeconds: undefined, signal: new AbortController().signal, onProgress: () => undefined},
	);
	await eventually(() => world.memory.state.queue.length === 1);
	const [id] = world.memory.state.queue;
	expect(await leaveQueue(world, alice, id!)).toMatchObject({kind: 'not-yours'});
	expect(await leaveQueue(world, bob, 'nobody')).toEqual({kind: 'not-found'});
	expect(await leaveQueue(world, bob, id!.slice(0, 8))).toEqual({kind: 'left', id, freed: []});
	expect(await answer).toEqual({kind: 'gave-up', reason: 'removed'});
});

test('leaveQueue rejects an ambiguous prefix and an unreadable entry', async () => {
	const world = await createTestWorld();
	world.memory.state.queue.push('abc-1', 'abc-2', 'garbage');
	world.memory.state.entries.set('garbage', '!');
	for (const id of ['abc-1', 'abc-2']) {
		world.memory.state.entries.set(
			id,
			JSON.stringify({
				id,
				user: 'alice',
				requested_count: 1,
				requested_ids: [],
				allocated_gpus: [],
				reservation_type: 'run',
				enqueue_time: world.now(),
				last_heartbeat: world.now(),
			}),
		);
	}

	expect(await leaveQueue(world, alice, 'abc')).toEqual({kind: 'ambiguous', ids: ['abc-1', 'abc-2']});
	expect(await leaveQueue(world, alice, 'garbage')).toEqual({kind: 'not-found'});
	expect(await leaveQueue(world, person('root', 'root', 0), 'garbage')).toEqual({
		kind: 'left',
		id: 'garbage',
		freed: [],
	});
	expect(await leaveQueue(world, alice, 'abc-1')).toEqual({kind: 'left', id: 'abc-1', freed: []});
	expect(world.memory.state.queue).toEqual(['abc-2']);
});

const waitingFor = async (world: Awaited<ReturnType<typeof createLiveWorld>>, count: number) =>
	acquire(
		world,
		{requester: bob, count, tenure: {type: 'run'}},
		{waitSeconds: undefined, signal: AbortSignal.timeout(20_000), onProgress: () => undefined},
	);

test('leaveQueueWhileEmpty keeps an entry that already holds a GPU', async () => {
	const world = await createLiveWorld(2);
	await reserve(world, {requester: alice, count: 1, durationSeconds: 3600});
	const answer = waitingFor(world, 2);
	await eventually(async () => (await world.store.read()).gpus.every(({kind}) => kind === 'leased'));
	const [id] = world.memory.state.queue;
	expect(await leaveQueueWhileEmpty(world, bob, id!)).toEqual({kind: 'holds', gpus: [1]});
	expect(world.memory.state.queue).toEqual([id]);
	expect(await leaveQueue(world, bob, id!)).toEqual({kind: 'left', id, freed: [1]});
	expect(await answer).toEqual({kind: 'gave-up', reason: 'removed'});
});

test('leaveQueue removes the entry and releases its GPUs in one commit', async () => {
	const commits: Plan[] = [];
	const world = await createTestWorld({
		gpuCount: 2,
		wrap: (store) => ({
			...store,
			async commit(plan) {
				commits.push(plan);
				return store.commit(plan);
			},
		}),
	});
	await reserve(world, {requester: alice, count: 1, durationSeconds: 3600});
	await joinQueue(world, {
		id: 'place',
		request: {requester: bob, count: 2, tenure: {type: 'run'}},
		waitSeconds: undefined,
	});
	const held = {user: 'bob', type: 'run', start_time: world.now(), lease_id: 'part', partial_queue_id: 'place'};
	world.memory.state.gpus.set(1, JSON.stringify(held));
	commits.length = 0;
	expect(await leaveQueue(world, bob, 'place')).toEqual({kind: 'left', id: 'place', freed: [1]});
	expect(commits).toMatchObject([
		{usage: [{gpuId: 1, leaseId: 'part', endReason: 'queue-left'}], event: {gpus: [1], left: ['place']}},
	]);
	const {gpus, queue} = await world.memory.read();
	expect([gpus.map(({kind}) => kind), queue]).toEqual([['leased', 'free'], []]);
});

test('a request that leaves the queue at the moment of a grant gets the GPU or leaves, never both', async () => {
	const outcomes = new Set<string>();
	for (let turns = 0; turns < 60; turns += 2) {
		const world = await createLiveWorld(1);
		await reserve(world, {requester: alice, count: 1, durationSeconds: 3600});
		const answer = waitingFor(world, 1);
		await eventually(() => world.memory.state.queue.length === 1);
		const [id] = world.memory.state.queue;
		const leaving = (async () => {
			for (let turn = 0; turn < turns; turn++) {
				await Promise.resolve();
			}

			return leaveQueueWhileEmpty(world, bob, id!);
		})();
		await release(world, alice, {by: 'gpus', ids: [0]});
		const [left, got] = await Promise.all([leaving, answer]);
		expect([left.kind, got.kind]).toEqual(left.kind === 'left' ? ['left', 'gave-up'] : ['not-found', 'granted']);
		outcomes.add(left.kind);
	}

	expect([...outcomes].toSorted()).toEqual(['left', 'not-found']);
});
