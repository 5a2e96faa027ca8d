import {describe, expect, test} from 'vitest';
import {readStatus, release, reserve} from '../../../source/core/operations/reservations.js';
import type {GpuReading} from '../../../source/core/model/types.js';
import {createTestWorld, idleReading, observationOf, person, startTime, type TestWorld} from '../../_helpers/world.js';
import {alice, bob, granted, hour, owners, take} from './_reservations.js';

describe('reserve', () => {
	test('grants the requested ids and records the user, the end and the note', async () => {
		const world = await createTestWorld();
		const {leaseId, endsBy, gpus} = granted(
			await reserve(world, {
				requester: person('alice', 'team'),
				count: 1,
				ids: [2, 0],
				durationSeconds: hour,
				note: 'a note',
			}),
		);
		expect({gpus, endsBy}).toEqual({gpus: [0, 2], endsBy: startTime + hour});
		expect((await readStatus(world)).rows[2]).toMatchObject({
			state: 'in-use',
			owner: 'alice',
			label: 'team',
			heldSeconds: 0,
			remainingSeconds: hour,
			lease: {leaseId, note: 'a note', type: 'manual'},
		});
		expect(await owners(world)).toEqual(['alice', undefined, 'alice', undefined]);
	});

	test("without ids prefers the user's last GPUs, then the GPUs that have been free for longest", async () => {
		const world = await createTestWorld();
		await take(world, alice, [2]);
		world.pass(10);
		await release(world, alice, {by: 'gpus', ids: [2]});
		await take(world, bob, [0]);
		world.pass(10);
		await release(world, bob, {by: 'gpus', ids: [0]});
		expect((await take(world, alice)).gpus).toEqual([2]);
		expect((await take(world, alice, undefined, 2)).gpus).toEqual([1, 3]);
		expect((await take(world, alice)).gpus).toEqual([0]);
	});

	test('grants all requested GPUs or none, and reports what prevents the grant', async () => {
		const world = await createTestWorld();
		await take(world, bob, [0]);
		world.memory.state.gpus.set(1, 'not json');
		world.see(() =>
			observationOf([
				idleReading(0),
				idleReading(1),
				{...idleReading(2), memoryUsedMiB: 8000, processes: [{pid: 7, user: 'dave'}]},
				{...idleReading(3), memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[Unknown Error]'}},
			]),
		);
		expect(await reserve(world, {requester: alice, count: 2, durationSeconds: hour})).toMatchObject({
			kind: 'refused',
			available: 0,
			blocked: [
				{index: 0, block: {kind: 'leased', lease: {user: 'bob'}}},
				{index: 1, block: {kind: 'garbage'}},
				{index: 2, block: {kind: 'unreserved', users: ['dave'], memoryUsedMiB: 8000}},
				{index: 3, block: {kind: 'unknown-use', why: 'memory in use is unknown: [Unknown Error]'}},
			],
		});
		expect(await owners(world)).toEqual(['bob', undefined, undefined, undefined]);
	});

	test('with force grants GPUs that are in use, unknown or broken, but never leased GPUs', async () => {
		const world = await createTestWorld();
		await take(world, bob, [0]);
		world.memory.state.gpus.set(1, 'not json');
		world.see(() => observationOf([], {failure: {message: 'no driver'}}));
		const forced = {requester: alice, count: 3, durationSeconds: hour, force: true};
		expect(await reserve(world, forced)).toMatchObject({kind: 'refused', available: 2});
		expect(granted(await reserve(world, {...forced, count: 2})).gpus).toEqual([2, 3]);
		expect(world.memory.state.gpus.get(1)).toBe('not json');
	});

	test.each<[string, Partial<GpuReading> | undefined]>([
		['broken', {failure: 'GPU requires reset', memoryUsedMiB: 0}],
		['missing from the scan', undefined],
		['possibly in use', {memoryUsedMiB: undefined}],
	])('never grants a GPU that is %s', async (_, reading) => {
		const world = await createTestWorld({gpuCount: 1});
		world.see(() => observationOf(reading === undefined ? [] : [{...idleReading(0), ...reading}]));
		expect(await reserve(world, {requester: alice, count: 1, durationSeconds: hour})).toMatchObject({kind: 'refused'});
	});

	test('grants nothing if the GPU scan fails', async () => {
		const world = await createTestWorld();
		world.see(() => observationOf([], {failure: {message: 'nvidia-smi timed out'}}));
		expect(await reserve(world, {requester: alice, count: 1, durationSeconds: hour})).toMatchObject({
			kind: 'refused',
			available: 0,
			blocked: [0, 1, 2, 3].map((index) => ({index, block: {kind: 'not-scanned', why: 'nvidia-smi timed out'}})),
		});
	});

	test.each([
		[{count: 5}, 'Cannot reserve 5 GPUs: the pool has 4'],
		[{count: 0}, 'Cannot reserve 0 GPUs'],
		[{count: 1, ids: [4]}, 'GPU 4 is out of range'],
		[{count: 1, ids: [-1, 9]}, 'GPUs -1, 9 are out of range'],
		[{count: 1, ids: [1, 1]}, 'GPU 1 is named twice in 1,1'],
	])('rejects an impossible request at once: %j', async (wants, message) => {
		const world = await createTestWorld();
		await expect(reserve(world, {requester: alice, durationSeconds: hour, ...wants})).rejects.toMatchObject({
			message,
			code: 'impossible',
			exitCode: 2,
		});
	});

	test('does not overtake queue entries, but grants GPUs that the entries cannot use', async () => {
		const world = await createTestWorld();
		const join = async (id: string, requestedIds: readonly number[], count: number) =>
			world.store.commit({
				expect: [],
				writes: [
					{
						kind: 'join',
						entry: {
							id,
							user: 'carol',
							requestedCount: count,
							requestedIds,
							allocatedGpus: [],
							reservationType: 'run',
							enqueueTime: world.now(),
							lastHeartbeat: world.now(),
						},
					},
				],
				usage: [],
				audit: [],
				event: undefined,
				grants: false,
			});
		await join('wants-3', [3], 1);
		expect(await reserve(world, {requester: alice, count: 1, ids: [3], durationSeconds: hour})).toMatchObject({
			kind: 'refused',
			blocked: [{index: 3, block: {kind: 'queued', entry: {id: 'wants-3'}}}],
		});
		expect((await take(world, alice, [2])).gpus).toEqual([2]);
		await join('wants-any', [], 2);
		expect(await reserve(world, {requester: alice, count: 1, durationSeconds: hour})).toMatchObject({
			kind: 'refused',
			available: 0,
		});
		// An entry without a heartbeat for two minutes is observed for another minute before it is removed.
		world.pass(121);
		expect(await reserve(world, {requester: alice, count: 1, durationSeconds: hour})).toMatchObject({kind: 'refused'});
		world.pass(40);
		expect((await take(world, alice, [3])).gpus).toEqual([3]);
		expect(world.memory.state.queue).toEqual([]);
	});

	test('scans again if its scan is older than two seconds', async () => {
		const world = await createTestWorld();
		let reads = 0;
		const slow: TestWorld = {
			...world,
			store: {
				...world.store,
				async read(options) {
					reads++;
					world.pass(reads === 1 ? 3 : 0);
					return world.store.read(options);
				},
			},
		};
		await take(slow);
		expect(world.scans()).toBe(2);
	});
});
