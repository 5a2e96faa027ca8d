import {expect, test} from 'vitest';
import {entryFor, planJoin} from '../../../../source/core/rules/queue/queue.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {readStatus, release} from '../../../../source/core/operations/reservations.js';
import {eventually} from '../../../_helpers/eventually.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {historyOf, person} from '../../../_helpers/world.js';
import {alice, bob, free, hold, start, wants} from './_waiting.js';

const manualHour = {type: 'manual', durationSeconds: 3600} as const;

test('a new request for one GPU waits behind an entry for two GPUs, although one GPU is free', async () => {
	const world = await createLiveWorld(2);
	await hold(world, [0, 1]);
	const first = start(world.as(11), wants({count: 2}));
	await first.waits();
	await free(world, 0);
	const newcomer = start(world.as(12), wants({requester: alice}));
	await newcomer.waits();
	expect(await start(world.as(13), wants({requester: alice}), {waitSeconds: 0}).answer).toMatchObject({
		kind: 'refused',
	});
	await free(world, 1);
	expect(await first.answer).toMatchObject({gpus: [0, 1]});
	expect(newcomer.progress.at(-1)).toMatchObject({kind: 'waiting'});
	await release(world, bob, {by: 'gpus', ids: [1]});
	expect(await newcomer.answer).toMatchObject({gpus: [1]});
});

test('an entry for GPU 0 does not block an entry that can use GPU 1', async () => {
	const world = await createLiveWorld(2);
	await hold(world, [0]);
	const picky = start(world.as(11), wants({ids: [0]}));
	await picky.waits();
	expect(await start(world.as(12), wants()).answer).toMatchObject({kind: 'granted', gpus: [1]});
	picky.abort();
	await picky.answer;
});

test('a waiting request whose process is stopped has no claim on GPUs until it continues', async () => {
	const world = await createLiveWorld(1);
	await hold(world, [0]);
	// Nothing scans for this entry. Only its position matters.
	const asleep = {id: 'asleep', requester: bob, wanted: {count: 1}, tenure: manualHour, waitSeconds: undefined};
	const {host, now} = {host: world.as(11).host, now: (await world.store.read()).now};
	await world.store.commit(planJoin(entryFor(asleep, host, now), 'box'));
	const second = start(world.as(12), wants({requester: alice}), {waitSeconds: 8});
	await second.waits();
	world.processes.set(11, 'stopped');
	await free(world, 0);
	expect(await second.answer).toMatchObject({kind: 'granted', gpus: [0]});
});

test('if a stopped request has recorded that a GPU is in use, later requests still scan that GPU', async () => {
	const world = await createLiveWorld(1);
	await hold(world, [0]);
	const asleep = {id: 'asleep', requester: bob, wanted: {count: 1}, tenure: manualHour, waitSeconds: undefined};
	const entry = entryFor(asleep, world.as(11).host, (await world.store.read()).now);
	const unavailable = [{gpu: 0, kind: 'used', since: 0}] as const;
	await world.store.commit(planJoin({...entry, unavailable}, 'box'));
	world.processes.set(11, 'stopped');
	const second = start(world.as(12), wants({requester: alice}), {waitSeconds: 8});
	await second.waits();
	await free(world, 0);
	expect(await second.answer).toMatchObject({kind: 'granted', gpus: [0]});
});

test('an earlier entry takes over the GPUs that a later entry holds', async () => {
	const world = await createLiveWorld(2);
	await hold(world, [0, 1]);
	const first = start(world.as(11), wants({count: 2}));
	await first.waits();
	const second = start(world.as(12), wants({requester: alice, count: 2}));
	await second.waits();
	// The second request gets a GPU while the first is stopped. Then the first continues.
	world.processes.set(11, 'stopped');
	const {expiry_time: _, ...record} = JSON.parse(world.memory.state.gpus.get(0)!) as Record<string, unknown>;
	world.memory.state.gpus.set(0, JSON.stringify({...record, partial_queue_id: world.memory.state.queue[1]}));
	world.processes.delete(11);
	await free(world, 1);
	expect(await first.answer).toMatchObject({kind: 'granted', gpus: [0, 1]});
	expect(await historyOf(world.store)).toEqual(
		expect.arrayContaining([expect.objectContaining({gpuId: 0, endReason: 'taken-by-earlier'})]),
	);
	second.abort();
	await second.answer;
});

test('the first entry is removed from the queue if its process is dead, and the next entry is served', async () => {
	const world = await createLiveWorld(2);
	await hold(world, [0]);
	const controller = new AbortController();
	const dead = start(world.as(11), wants({count: 2}), {signal: controller.signal});
	await eventually(() => dead.progress.some((progress) => progress.kind === 'waiting' && progress.held.length === 1));
	world.processes.set(11, 'dead');
	// Any read removes the dead entry and frees its GPU.
	expect((await readStatus(world.as(12))).snapshot.queue).toEqual([]);
	expect(await start(world.as(12), wants({requester: alice})).answer).toMatchObject({gpus: [1]});
	expect(await dead.answer).toEqual({kind: 'gave-up', reason: 'removed'});
});

test('twenty waiting requests are served in the order in which they joined', async () => {
	const world = await createLiveWorld(1);
	await hold(world, [0]);
	const served: number[] = [];
	const waiters = [];
	for (let index = 0; index < 20; index++) {
		const waiter = start(
			world.as(100 + index),
			wants({requester: person(`user${index}`, `user${index}`, 2000 + index)}),
		);
		await waiter.waits();
		waiters.push(
			waiter.answer.then(async (answer) => {
				served.push(index);
				if (answer.kind === 'granted') {
					await release(world, person(`user${index}`), {by: 'lease', leaseId: answer.leaseId});
				}
			}),
		);
	}

	await free(world, 0);
	await Promise.all(waiters);
	expect(served).toEqual(Array.from({length: 20}, (_, index) => index));
	expect(world.memory.state.queue).toEqual([]);
	expect(world.memory.state.gpus.values().toArray()).toEqual([expect.stringContaining('last_released')]);
});

test('joining the queue again with the id of an existing entry keeps its position', async () => {
	const world = await createLiveWorld(1);
	await hold(world, [0]);
	for (const id of ['first', 'second', 'first']) {
		await joinQueue(world, {id, request: wants(), waitSeconds: undefined});
	}

	expect((await world.store.read()).queue.map(({id}) => id)).toEqual(['first', 'second']);
});
