import {describe, expect, test} from 'vitest';
import {readStatus, release} from '../../../../source/core/operations/reservations.js';
import {progressText} from '../../../../source/format/queue/waiting-progress.js';
import {eventually} from '../../../_helpers/eventually.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {timed} from '../../../_helpers/program/timed.js';
import {historyOf, idleReading, observationOf} from '../../../_helpers/world.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {bob, free, hold, start, wants} from './_waiting.js';

describe('a request for GPUs', () => {
	test('does not join the queue if enough GPUs are free or waiting is not allowed', async () => {
		const world = await createLiveWorld(1);
		expect(await start(world, wants()).answer).toMatchObject({kind: 'granted', gpus: [0]});
		expect(await start(world, wants(), {waitSeconds: 0}).answer).toMatchObject({kind: 'refused'});
		expect(world.memory.state.queue).toEqual([]);
	});

	test('is granted a GPU as soon as the GPU is released', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		const waiter = start(world, wants({note: 'please'}));
		await waiter.waits();
		expect(waiter.progress[0]).toMatchObject({kind: 'waiting', position: 1, waiting: 1, held: [], wanted: {count: 1}});
		const timing = timed(waiter.answer);
		await free(world, 0);
		expect(await waiter.answer).toMatchObject({kind: 'granted', gpus: [0]});
		expect((await timing).ownSeconds).toBeLessThan(1);
		const {rows, snapshot} = await readStatus(world);
		expect(rows[0]).toMatchObject({owner: 'bob', lease: {note: 'please', type: 'manual'}});
		expect(rows[0]!.lease?.partialQueueId).toBeUndefined();
		expect(snapshot.queue).toEqual([]);
		expect(world.memory.state.entries.size).toBe(0);
	});

	test('keeps the GPUs that it already holds until it gets the rest', async () => {
		const world = await createLiveWorld(2);
		await hold(world, [0, 1]);
		const waiter = start(world, wants({count: 2}));
		await waiter.waits();
		await free(world, 1);
		await eventually(() =>
			waiter.progress.some((progress) => progress.kind === 'waiting' && progress.held.length === 1),
		);
		expect((await readStatus(world)).rows[1]).toMatchObject({owner: 'bob', remainingSeconds: undefined});
		expect(queueRows((await readStatus(world)).snapshot)).toMatchObject([{position: 1, held: [1], isPossible: true}]);
		// A release by the owner keeps GPUs that a waiting request holds.
		expect((await release(world, bob, {by: 'gpus', ids: [1]})).released).toEqual([]);
		await free(world, 0);
		const answer = await waiter.answer;
		expect(answer).toMatchObject({kind: 'granted', gpus: [0, 1]});
		const {rows, snapshot} = await readStatus(world);
		expect(rows.map(({lease}) => lease?.expiryTime)).toEqual([
			answer.kind === 'granted' ? answer.endsBy : 0,
			answer.kind === 'granted' ? answer.endsBy : 0,
		]);
		expect(rows[0]!.remainingSeconds).toBeGreaterThan(3590);
		expect(snapshot.queue).toEqual([]);
	});

	test('releases its held GPUs when it is canceled', async () => {
		const world = await createLiveWorld(2);
		await hold(world, [0]);
		const waiter = start(world, wants({count: 2}));
		await eventually(() =>
			waiter.progress.some((progress) => progress.kind === 'waiting' && progress.held.length === 1),
		);
		waiter.abort();
		expect(await waiter.answer).toEqual({kind: 'gave-up', reason: 'aborted'});
		expect((await readStatus(world)).rows.map(({owner}) => owner)).toEqual(['alice', undefined]);
		expect(world.memory.state.queue).toEqual([]);
		expect(await historyOf(world.store)).toMatchObject([{gpuId: 1, user: 'bob', endReason: 'queue-left'}]);
	});

	test('leaves the queue at its time limit', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		const waiter = start(world, wants(), {waitSeconds: 0.3});
		expect(await waiter.answer).toEqual({kind: 'gave-up', reason: 'timeout'});
		expect(world.memory.state.queue).toEqual([]);
	});

	test('is granted the GPU of a reservation that expires, even if no event announces the expiry', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0], 1);
		const waiter = start(world, wants());
		await waiter.waits();
		expect(waiter.progress[0]).toMatchObject({estimateSeconds: expect.any(Number) as unknown});
		expect(await waiter.answer).toMatchObject({kind: 'granted', gpus: [0]});
	});

	test('is not granted a GPU that is in use without a reservation', async () => {
		const world = await createLiveWorld(1);
		await hold(world, [0]);
		world.see(() => observationOf([{...idleReading(0), memoryUsedMiB: 9000}]));
		const waiter = start(world, wants(), {waitSeconds: 0.4});
		await waiter.waits();
		await free(world, 0);
		expect(await waiter.answer).toEqual({kind: 'gave-up', reason: 'timeout'});
		const unusable = [{index: 0, block: {kind: 'unreserved', users: [], memoryUsedMiB: 9000}}];
		expect(waiter.progress).toMatchObject([{unusable: []}, {kind: 'waiting', held: [], unusable}]);
	});

	test.each(['at once', 'when the caller runs the deferred work'])(
		'records the unreserved use that its scan found, %s',
		async (when) => {
			const world = await createLiveWorld(2);
			await hold(world, [0]);
			world.see(() => observationOf([idleReading(0), {...idleReading(1), memoryUsedMiB: 9000}]));
			const recorded = async () => (await world.store.audit()).filter(({kind}) => kind === 'unreserved').length;
			const left: Array<() => Promise<void>> = [];
			const leave = (work: () => Promise<void>): void => {
				left.push(work);
			};

			const afterwards = when === 'at once' ? undefined : leave;
			const waiter = start(world, wants({ids: [0]}), {afterwards});
			await waiter.waits();
			expect(await recorded()).toBe(0);
			await free(world, 0);
			expect(await waiter.answer).toMatchObject({kind: 'granted', gpus: [0]});
			expect(await recorded()).toBe(afterwards === undefined ? 1 : 0);
			await Promise.all(left.map(async (work) => work()));
			expect(await recorded()).toBe(1);
		},
	);

	test('reports why a required GPU that nobody holds is unavailable', async () => {
		const world = await createLiveWorld(3);
		const broken = {...idleReading(1), failure: 'GPU requires reset'};
		world.see(() => observationOf([idleReading(0), broken, {...broken, index: 2}]));
		const waiter = start(world, wants({ids: [0, 1]}));
		await eventually(() =>
			waiter.progress.some((progress) => progress.kind === 'waiting' && progress.unusable.length > 0),
		);
		const progress = waiter.progress.at(-1)!;
		expect(progress).toMatchObject({
			held: [],
			unusable: [{index: 1, block: {kind: 'failed', why: 'GPU requires reset'}}],
		});
		expect(progressText(progress)).toBe(
			'Waiting for GPUs 0 1: position 1 of 1, got 0/2, since GPU 1 may be in use: GPU requires reset',
		);
		waiter.abort();
		await waiter.answer;
	});

	test('fails at once without joining the queue if it is impossible', async () => {
		const world = await createLiveWorld(2);
		await expect(start(world, wants({count: 3})).answer).rejects.toMatchObject({code: 'impossible'});
		await expect(start(world, wants({ids: [7]})).answer).rejects.toMatchObject({code: 'impossible'});
		expect(world.memory.state.queue).toEqual([]);
	});
});
