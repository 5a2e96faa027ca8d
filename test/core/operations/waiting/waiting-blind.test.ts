/** A process in an isolated job does not wait in the queue, because it cannot see every GPU and would block others. */
import {expect, test} from 'vitest';
import type {Observation} from '../../../../source/core/model/types.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {planWithScan} from '../../../../source/core/operations/waiting/waiter-plan.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {createTestWorld, idleReading, observationOf, person} from '../../../_helpers/world.js';
import {alice, start, wants} from './_waiting.js';

const partial = (): Observation =>
	observationOf([idleReading(0), {...idleReading(1), failure: 'this process cannot open the device of this GPU'}], {
		isPartial: true,
	});

const waiting = {waitSeconds: undefined, signal: new AbortController().signal, onProgress: () => undefined};

test('acquire in an isolated job does not join the queue for a GPU that is hidden from the job', async () => {
	const world = await createTestWorld({gpuCount: 2});
	world.see(partial);
	expect(await acquire(world, wants({ids: [0]}), waiting)).toMatchObject({kind: 'granted', gpus: [0]});
	for (const request of [wants({ids: [1]}), wants(), wants({requester: person('carol'), count: 2})]) {
		await expect(acquire(world, request, waiting)).rejects.toMatchObject({
			code: 'unavailable',
			exitCode: 3,
			message: expect.stringContaining('an isolated job sees only its own') as string,
		});
	}

	const {queue, gpus} = await world.store.read();
	expect(queue).toEqual([]);
	expect(gpus[1]).toMatchObject({kind: 'free'});
	// A request that may not wait is refused, and the refusal names the GPU.
	expect(await acquire(world, wants({ids: [1]}), {...waiting, waitSeconds: 0})).toMatchObject({kind: 'refused'});
});

test('a waiting request leaves the queue if its first scan cannot see every GPU', async () => {
	const world = await createLiveWorld(1);
	await acquire(world, wants({requester: alice}), waiting);
	const first = start(world, wants());
	await first.waits();
	world.see(() =>
		observationOf([{...idleReading(0), failure: 'this process cannot open the device of this GPU'}], {isPartial: true}),
	);
	const second = start(world.as(3), wants({requester: person('carol')}));
	const ends = expect(second.answer).rejects.toMatchObject({code: 'unavailable'});
	first.abort();
	await first.answer;
	await release(world, alice, {by: 'label', label: 'alice'});
	await ends;
	expect((await world.store.read()).queue).toEqual([]);
});

test('planWithScan returns "stale" if its scan is newer than the read of the store', async () => {
	const world = await createTestWorld({gpuCount: 1});
	const request = {requester: alice, count: 1, tenure: {type: 'run'}} as const;
	await joinQueue(world, {id: 'place', request, waitSeconds: undefined});
	const planAfter = async (seconds: number) =>
		planWithScan(world, await readCurrent(world), {
			request,
			leaseId: 'lease',
			entryId: 'place',
			async scan() {
				world.pass(seconds);
				return world.gpus.observe();
			},
			readLinks: async () => undefined,
		});
	expect(await planAfter(1)).toBe('stale');
	expect(await planAfter(0)).toMatchObject({kind: 'complete', gpus: [0]});
});
