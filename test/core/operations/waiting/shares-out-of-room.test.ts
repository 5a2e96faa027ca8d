/** A share that a waiting request holds, on a GPU whose memory a process without a reservation fills. */
import {expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {holdingsIn} from '../../../../source/core/rules/leases/holdings.js';
import type {Wanted} from '../../../../source/core/rules/request/request.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';
import {entriesOf, requestOf, settle} from './_settle.js';

const gpuCount = 3;
const root = person('root', 'root', 0);
const shares = (count: number, shareMiB: number): Wanted => ({count, need: {shareMiB}});

async function createBox(): Promise<TestWorld> {
	const world = await createTestWorld({gpuCount});
	await changePolicy(world, root, [{key: 'share', value: 'on'}]);
	return world;
}

/** Makes a process without a reservation use this much memory of a GPU. */
const fill = (world: TestWorld, gpu: number, memoryUsedMiB: number): void => {
	const processes = [{pid: 7, user: 'eve', memoryUsedMiB}];
	world.see(() =>
		observationOf(
			Array.from({length: gpuCount}, (_, index) => ({
				...idleReading(index),
				...(index === gpu && {memoryUsedMiB, processes}),
			})),
		),
	);
};

async function join(world: TestWorld, id: string, wanted: Wanted): Promise<void> {
	const observation = await world.gpus.observe();
	await joinQueue(world, {id, request: requestOf(id, wanted), waitSeconds: undefined, observation});
}

const heldIn = async (world: TestWorld): Promise<readonly string[]> =>
	holdingsIn((await readCurrent(world)).gpus).map(
		({index, lease}) => `${index} ${lease.partialQueueId ?? lease.leaseId}`,
	);

/** Creates a pool in which an entry wants two shares and holds one on GPU 0. The other GPUs are leased as a whole. */
async function waitForTwo(): Promise<TestWorld> {
	const world = await createBox();
	for (const id of [1, 2]) {
		await acquireNow(world, requestOf('alice', {count: 1, ids: [id]}), `alice-${id}`);
	}

	await join(world, 'first', shares(2, 40_000));
	await settle(world);
	expect(await heldIn(world)).toEqual(['0 first', '1 alice-1', '2 alice-2']);
	return world;
}

test("a waiting request exchanges a held share for a share of another GPU if others fill the first GPU's memory", async () => {
	const world = await waitForTwo();
	fill(world, 0, 60_000);
	await release(world, person('alice'), {by: 'gpus', ids: [1]});
	await settle(world);
	expect(await heldIn(world)).toEqual(['1 first', '2 alice-2']);
	expect(entriesOf(await readCurrent(world))).toMatchObject([{entry: {allocatedGpus: [1]}}]);
	await release(world, person('alice'), {by: 'gpus', ids: [2]});
	await settle(world);
	expect(await heldIn(world)).toEqual(['1 lease-first', '2 lease-first']);
});

test('a waiting request is granted the share that is held for it, if the share still fits on the GPU', async () => {
	const world = await waitForTwo();
	fill(world, 0, 30_000);
	await release(world, person('alice'), {by: 'gpus', ids: [1]});
	await settle(world);
	expect(await heldIn(world)).toEqual(['0 lease-first', '1 lease-first', '2 alice-2']);
});

test('a waiting request takes a share again when the GPU has enough free memory', async () => {
	const world = await waitForTwo();
	fill(world, 0, 60_000);
	await release(world, person('alice'), {by: 'gpus', ids: [1]});
	await settle(world);
	expect(await heldIn(world)).toEqual(['1 first', '2 alice-2']);
	fill(world, 0, 0);
	await settle(world);
	expect(await heldIn(world)).toEqual(['0 lease-first', '1 lease-first', '2 alice-2']);
});
