import {describe, expect, test} from 'vitest';
import type {Grant} from '../../source/core/acquisition.js';
import {extend, look, release, reserve} from '../../source/core/reservations.js';
import type {Refusal} from '../../source/core/allocation.js';
import type {GpuReading} from '../../source/core/types.js';
import {
	createTestWorld,
	historyOf,
	idleReading,
	observationOf,
	person,
	startTime,
	type TestWorld,
} from '../_helpers/world.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);
const root = person('root', 'root', 0);

const hour = 3600;

const granted = (answer: Grant | Refusal): Grant => {
	if (answer.kind !== 'granted') {
		throw new Error(`refused: ${JSON.stringify(answer.blocked)}`);
	}

	return answer;
};

const take = async (world: TestWorld, requester = alice, ids?: readonly number[], count = 1) =>
	granted(await reserve(world, {requester, count, ids, durationSeconds: hour}));

const owners = async (world: TestWorld) => (await look(world)).rows.map(({owner}) => owner);

describe('reserve', () => {
	test('takes the ids that were asked for, and writes down who, until when and what for', async () => {
		const world = await createTestWorld();
		const {leaseId, expiryTime, gpus} = granted(
			await reserve(world, {
				requester: person('alice', 'team'),
				count: 1,
				ids: [2, 0],
				durationSeconds: hour,
				note: 'a note',
			}),
		);
		expect({gpus, expiryTime}).toEqual({gpus: [0, 2], expiryTime: startTime + hour});
		expect((await look(world)).rows[2]).toMatchObject({
			state: 'in-use',
			owner: 'alice',
			label: 'team',
			heldSeconds: 0,
			remainingSeconds: hour,
			lease: {leaseId, note: 'a note', type: 'manual'},
		});
		expect(await owners(world)).toEqual(['alice', undefined, 'alice', undefined]);
	});

	test('by count, gives back the GPUs this user had last, then those free for longest', async () => {
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

	test('is all or nothing, and says what is in the way', async () => {
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

	test("force takes what is in use, unknown or broken, but nobody's lease and no garbage", async () => {
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
		['not mentioned', undefined],
		['of unknown use', {memoryUsedMiB: undefined}],
	])('never hands out a GPU that is %s', async (_, reading) => {
		const world = await createTestWorld({gpuCount: 1});
		world.see(() => observationOf(reading === undefined ? [] : [{...idleReading(0), ...reading}]));
		expect(await reserve(world, {requester: alice, count: 1, durationSeconds: hour})).toMatchObject({kind: 'refused'});
	});

	test('hands out nothing blind when the scan failed', async () => {
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
		[{count: 1, ids: [4]}, 'No GPU 4 in this pool'],
		[{count: 1, ids: [-1, 9]}, 'No GPU -1, 9 in this pool'],
		[{count: 1, ids: [1, 1]}, 'GPU 1 is named twice in 1,1'],
	])('refuses at once what can never be: %j', async (wants, message) => {
		const world = await createTestWorld();
		await expect(reserve(world, {requester: alice, durationSeconds: hour, ...wants})).rejects.toMatchObject({
			message,
			code: 'impossible',
			exitCode: 2,
		});
	});

	test('does not overtake whoever waits, and takes what they do not want', async () => {
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
		// Two minutes after their last heartbeat they are gone.
		world.pass(121);
		expect((await take(world, alice, [3])).gpus).toEqual([3]);
		expect(world.memory.state.line).toEqual([]);
	});

	test('scans again when what it saw is older than two seconds', async () => {
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

describe('release', () => {
	test('without ids: own manual leases without a label, and no others', async () => {
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

	test("of another's lease is refused, by id, label or lease id, and then nothing at all is released", async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		const {leaseId} = await take(world, bob, [1]);
		// Mallory calls herself bob: a label changes nothing.
		const mallory = person('alice', 'bob');
		expect(await release(world, mallory, {by: 'label', label: 'bob'})).toMatchObject({released: [], notYours: []});
		expect(await release(world, mallory, {by: 'gpus', ids: [0, 1]})).toMatchObject({
			released: [],
			notYours: [{index: 1}],
		});
		expect(await release(world, mallory, {by: 'lease', leaseId})).toMatchObject({released: [], notYours: [{index: 1}]});
		expect(await owners(world)).toEqual(['alice', 'bob', undefined, undefined]);
	});

	test("root may release anybody's by id or by name, but not by accident", async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		await take(world, bob, [1]);
		expect((await release(world, root, {by: 'label', label: 'root'})).released).toEqual([]);
		expect((await release(world, root, {by: 'gpus', ids: [0]})).released).toHaveLength(1);
		expect((await release(world, {...root, label: 'bob'}, {by: 'label', label: 'bob'})).released).toHaveLength(1);
	});

	test('by lease acts on that lease, not on whoever holds the GPU now', async () => {
		const world = await createTestWorld();
		const first = await take(world, alice, [0]);
		await release(world, alice, {by: 'lease', leaseId: first.leaseId});
		await take(world, alice, [0]);
		expect((await release(world, alice, {by: 'lease', leaseId: first.leaseId})).released).toEqual([]);
		expect(await owners(world)).toEqual(['alice', undefined, undefined, undefined]);
	});

	test("of some of a lease's GPUs leaves the others", async () => {
		const world = await createTestWorld();
		const {leaseId} = await take(world, alice, [0, 1]);
		await release(world, alice, {by: 'lease', leaseId, ids: [1]});
		expect(await owners(world)).toEqual(['alice', undefined, undefined, undefined]);
	});

	test('of a GPU that is not there is refused; of a free one does nothing', async () => {
		const world = await createTestWorld();
		await expect(release(world, alice, {by: 'gpus', ids: [4]})).rejects.toMatchObject({code: 'impossible'});
		expect(await release(world, alice, {by: 'gpus', ids: [0]})).toEqual({released: [], notYours: []});
	});

	test('with a label leaves what bears another', async () => {
		const world = await createTestWorld();
		await take(world, person('alice', 'team'), [0]);
		expect(await release(world, alice, {by: 'gpus', ids: [0], label: 'other'})).toMatchObject({
			released: [],
			notYours: [{index: 0}],
		});
		expect((await release(world, alice, {by: 'gpus', ids: [0], label: 'team'})).released).toHaveLength(1);
	});

	test('leaves alone what a waiter holds', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		const record = JSON.parse(world.memory.state.gpus.get(0)!) as Record<string, unknown>;
		world.memory.state.gpus.set(0, JSON.stringify({...record, partial_queue_id: 'q'}));
		world.memory.state.line.push('q');
		world.memory.state.entries.set('q', 'garbage');
		expect((await release(world, alice, {by: 'gpus', ids: [0]})).released).toEqual([]);
	});
});

describe('extend', () => {
	test('adds to the end, or sets it', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0, 1]);
		expect((await extend(world, alice, {by: 'label', label: 'alice'}, {by: 600})).extended).toEqual([
			{index: 0, expiryTime: startTime + hour + 600},
			{index: 1, expiryTime: startTime + hour + 600},
		]);
		const until = startTime + 2 * hour;
		expect((await extend(world, alice, {by: 'gpus', ids: [1]}, {until})).extended).toEqual([
			{index: 1, expiryTime: until},
		]);
		expect((await look(world)).rows.map(({remainingSeconds}) => remainingSeconds)).toEqual([
			hour + 600,
			2 * hour,
			undefined,
			undefined,
		]);
	});

	test("refuses an end in the past, another's lease and a job's", async () => {
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
		expect((await look(world)).rows[0]).toMatchObject({remainingSeconds: hour});
	});

	test('finds nothing of one that has expired meanwhile', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		world.pass(hour + 1);
		expect((await extend(world, alice, {by: 'label', label: 'alice'}, {by: 60})).extended).toEqual([]);
		expect(await historyOf(world.store)).toMatchObject([{gpuId: 0, endTime: startTime + hour, endReason: 'expired'}]);
	});
});

describe('look', () => {
	test('plans away what has expired, with its record at the time of its end', async () => {
		const world = await createTestWorld();
		await take(world, alice, [0]);
		world.pass(hour + 500);
		expect((await look(world)).rows[0]).toMatchObject({state: 'available', freeSeconds: 500});
		expect(await historyOf(world.store)).toMatchObject([{endTime: startTime + hour, durationSeconds: hour}]);
	});

	test('frees what a dead process held, at once', async () => {
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
		expect((await look(world)).rows[0]).toMatchObject({state: 'in-use'});
		world.processes.set(42, 'dead');
		world.pass(7);
		expect((await look(world)).rows[0]).toMatchObject({state: 'available'});
		expect(await historyOf(world.store)).toMatchObject([{leaseId: 'x', endReason: 'holder-died', durationSeconds: 7}]);
	});

	test('needs a pool, of this machine', async () => {
		const world = await createTestWorld();
		world.memory.state.pool = {
			...world.memory.state.pool,
			machine: JSON.stringify({machine_id: 'other', boot_id: 'x'}),
		};
		await expect(look(world)).rejects.toMatchObject({code: 'wrong-machine', exitCode: 4});
		world.memory.state.pool = {gpuCount: undefined, provider: undefined, machine: undefined};
		await expect(look(world)).rejects.toMatchObject({code: 'no-pool', exitCode: 4});
	});
});
