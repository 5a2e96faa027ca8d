import {describe, expect, test} from 'vitest';
import type {AcquireRequest} from '../../source/core/acquisition.js';
import {lineRows} from '../../source/core/line.js';
import type {World} from '../../source/core/ports.js';
import {look, release, reserve} from '../../source/core/reservations.js';
import type {Progress, WaitOptions} from '../../source/core/wait-types.js';
import {acquire} from '../../source/core/waiting.js';
import {eventually} from '../_helpers/eventually.js';
import {createLiveWorld} from '../_helpers/live-world.js';
import {historyOf, idleReading, observationOf, person} from '../_helpers/world.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);

const wants = (changes: Partial<AcquireRequest> = {}): AcquireRequest => ({
	requester: bob,
	count: 1,
	tenure: {type: 'manual', durationSeconds: 3600},
	...changes,
});

/** Starts to wait; tells how it goes. */
function start(world: World, request: AcquireRequest, options: Partial<WaitOptions> = {}) {
	const news: Progress[] = [];
	const controller = new AbortController();
	const answer = acquire(world, request, {
		waitSeconds: undefined,
		signal: controller.signal,
		onProgress(progress) {
			news.push(progress);
		},
		...options,
	});
	return {
		answer,
		news,
		abort() {
			controller.abort();
		},
		waits: async () => eventually(() => news.some(({kind}) => kind === 'waiting')),
	};
}

const hold = async (world: World, ids: readonly number[], seconds = 3600): Promise<void> => {
	expect(await reserve(world, {requester: alice, count: 1, ids, durationSeconds: seconds})).toMatchObject({
		kind: 'granted',
	});
};

const free = async (world: World, ...ids: readonly number[]): Promise<void> => {
	await release(world, alice, {by: 'gpus', ids});
};

describe('one who waits', () => {
	test('is not in line when there is enough, and not when it did not want to wait', async () => {
		const world = await createLiveWorld(1);
		expect(await start(world, wants()).answer).toMatchObject({kind: 'granted', gpus: [0]});
		expect(await start(world, wants(), {waitSeconds: 0}).answer).toMatchObject({kind: 'refused'});
		expect(world.memory.state.line).toEqual([]);
	});

	test('gets what is released, at once, and leaves no trace of its waiting', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		const waiter = start(world, wants({note: 'please'}));
		await waiter.waits();
		expect(waiter.news[0]).toMatchObject({kind: 'waiting', position: 1, waiting: 1, held: [], wanted: {count: 1}});
		const released = performance.now();
		await free(world, 0);
		expect(await waiter.answer).toMatchObject({kind: 'granted', gpus: [0]});
		expect(performance.now() - released).toBeLessThan(1000);
		const {rows, snapshot} = await look(world);
		expect(rows[0]).toMatchObject({owner: 'bob', lease: {note: 'please', type: 'manual'}});
		expect(rows[0]!.lease?.partialQueueId).toBeUndefined();
		expect(snapshot.queue).toEqual([]);
		expect(world.memory.state.entries.size).toBe(0);
	});

	test('holds what it gets until the rest comes, and its time counts from then', async () => {
		const world = await createLiveWorld(2);
		await hold(world, [0, 1]);
		const waiter = start(world, wants({count: 2}));
		await waiter.waits();
		await free(world, 1);
		await eventually(() => waiter.news.some((news) => news.kind === 'waiting' && news.held.length === 1));
		expect((await look(world)).rows[1]).toMatchObject({owner: 'bob', remainingSeconds: undefined});
		expect(lineRows((await look(world)).snapshot)).toMatchObject([{position: 1, held: [1], isPossible: true}]);
		// A release by its owner leaves alone what the line holds.
		expect((await release(world, bob, {by: 'gpus', ids: [1]})).released).toEqual([]);
		await free(world, 0);
		const answer = await waiter.answer;
		expect(answer).toMatchObject({kind: 'granted', gpus: [0, 1]});
		const {rows, snapshot} = await look(world);
		expect(rows.map(({lease}) => lease?.expiryTime)).toEqual([
			'expiryTime' in answer ? answer.expiryTime : 0,
			'expiryTime' in answer ? answer.expiryTime : 0,
		]);
		expect(rows[0]!.remainingSeconds).toBeGreaterThan(3590);
		expect(snapshot.queue).toEqual([]);
	});

	test('leaves when it is called off, and gives back what it held, with a record', async () => {
		const world = await createLiveWorld(2);
		await hold(world, [0]);
		const waiter = start(world, wants({count: 2}));
		await eventually(() => waiter.news.some((news) => news.kind === 'waiting' && news.held.length === 1));
		waiter.abort();
		expect(await waiter.answer).toEqual({kind: 'gave-up', reason: 'aborted'});
		expect((await look(world)).rows.map(({owner}) => owner)).toEqual(['alice', undefined]);
		expect(world.memory.state.line).toEqual([]);
		expect(await historyOf(world.store)).toMatchObject([{gpuId: 1, user: 'bob', endReason: 'queue-left'}]);
	});

	test('gives up when its time is over', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		const waiter = start(world, wants(), {waitSeconds: 0.3});
		expect(await waiter.answer).toEqual({kind: 'gave-up', reason: 'timeout'});
		expect(world.memory.state.line).toEqual([]);
	});

	test('is served when a reservation expires, without any event', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0], 1);
		const waiter = start(world, wants());
		await waiter.waits();
		expect(waiter.news[0]).toMatchObject({estimateSeconds: expect.any(Number) as unknown});
		expect(await waiter.answer).toMatchObject({kind: 'granted', gpus: [0]});
	});

	test('does not take a GPU that is in unreserved use', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		world.see(() => observationOf([{...idleReading(0), memoryUsedMiB: 9000}]));
		const waiter = start(world, wants(), {waitSeconds: 0.4});
		await waiter.waits();
		await free(world, 0);
		expect(await waiter.answer).toEqual({kind: 'gave-up', reason: 'timeout'});
	});

	test('fails at once for what can never be, and never queues', async () => {
		const world = await createLiveWorld(2);
		await expect(start(world, wants({count: 3})).answer).rejects.toMatchObject({code: 'impossible'});
		await expect(start(world, wants({ids: [7]})).answer).rejects.toMatchObject({code: 'impossible'});
		expect(world.memory.state.line).toEqual([]);
	});
});

describe('the order', () => {
	test('two wanted, one free: a newcomer for one waits behind', async () => {
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
		expect(newcomer.news.at(-1)).toMatchObject({kind: 'waiting'});
		await release(world, bob, {by: 'gpus', ids: [1]});
		expect(await newcomer.answer).toMatchObject({gpus: [1]});
	});

	test('one who waits for GPU 0 does not hold up one who can use GPU 1', async () => {
		const world = await createLiveWorld(2);
		await hold(world, [0]);
		const picky = start(world.as(11), wants({ids: [0]}));
		await picky.waits();
		expect(await start(world.as(12), wants()).answer).toMatchObject({kind: 'granted', gpus: [1]});
		picky.abort();
		await picky.answer;
	});

	test('a stopped waiter claims nothing until it wakes', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		const sleeper = start(world.as(11), wants());
		await sleeper.waits();
		const other = start(world.as(12), wants({requester: alice}));
		await other.waits();
		world.processes.set(11, 'stopped');
		await free(world, 0);
		// The sleeper here is only said to be stopped, so it may be served as well: but never before the other could be.
		const winner = await Promise.race([other.answer, sleeper.answer]);
		expect(winner).toMatchObject({kind: 'granted', gpus: [0]});
		sleeper.abort();
		other.abort();
		await Promise.all([sleeper.answer, other.answer]);
	});

	test('an earlier entry takes over what a later one holds', async () => {
		const world = await createLiveWorld(2);
		await hold(world, [0, 1]);
		const first = start(world.as(11), wants({count: 2}));
		await first.waits();
		const second = start(world.as(12), wants({requester: alice, count: 2}));
		await second.waits();
		// While the first sleeps, the second gets one; then the first wakes.
		world.processes.set(11, 'stopped');
		const {expiry_time: _, ...record} = JSON.parse(world.memory.state.gpus.get(0)!) as Record<string, unknown>;
		world.memory.state.gpus.set(0, JSON.stringify({...record, partial_queue_id: world.memory.state.line[1]}));
		world.processes.delete(11);
		await free(world, 1);
		expect(await first.answer).toMatchObject({kind: 'granted', gpus: [0, 1]});
		expect(await historyOf(world.store)).toEqual(
			expect.arrayContaining([expect.objectContaining({gpuId: 0, endReason: 'taken-by-earlier'})]),
		);
		second.abort();
		await second.answer;
	});

	test('the head that dies is dropped with what it held, and the next is served', async () => {
		const world = await createLiveWorld(2);
		await hold(world, [0]);
		const controller = new AbortController();
		const dead = start(world.as(11), wants({count: 2}), {signal: controller.signal});
		await eventually(() => dead.news.some((news) => news.kind === 'waiting' && news.held.length === 1));
		world.processes.set(11, 'dead');
		// A look of anybody drops it; its place and GPU are free.
		expect((await look(world.as(12))).snapshot.queue).toEqual([]);
		expect(await start(world.as(12), wants({requester: alice})).answer).toMatchObject({gpus: [1]});
		expect(await dead.answer).toEqual({kind: 'gave-up', reason: 'removed'});
	});

	test('twenty who wait are served in the order in which they came', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		const served: number[] = [];
		const waiters = [];
		for (let place = 0; place < 20; place++) {
			const waiter = start(
				world.as(100 + place),
				wants({requester: person(`user${place}`, `user${place}`, 2000 + place)}),
			);
			await waiter.waits();
			waiters.push(
				waiter.answer.then(async (answer) => {
					served.push(place);
					if (answer.kind === 'granted') {
						await release(world, person(`user${place}`), {by: 'lease', leaseId: answer.leaseId});
					}
				}),
			);
		}

		await free(world, 0);
		await Promise.all(waiters);
		expect(served).toEqual(Array.from({length: 20}, (_, place) => place));
		expect(world.memory.state.line).toEqual([]);
		expect(world.memory.state.gpus.values().toArray()).toEqual([expect.stringContaining('last_released')]);
	});
});
