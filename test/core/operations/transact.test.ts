import {expect, test} from 'vitest';
import type {CommitOutcome, Store} from '../../../source/core/model/ports.js';
import {extend, readStatus, release, reserve} from '../../../source/core/operations/reservations.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../../_helpers/world.js';

const alice = person('alice');
const request = {requester: alice, count: 1, durationSeconds: 60};

const unreachable = () => new CanhazgpuError('store-unreachable', 'Cannot reach the store');

/** Returns a store wrapper in which the test answers every commit. `real` carries the commit out. */
const withCommit =
	(answer: (real: () => Promise<CommitOutcome>, call: number) => Promise<CommitOutcome>) =>
	(store: Store): Store => {
		let calls = 0;
		return {...store, commit: async (plan) => answer(async () => store.commit(plan), ++calls)};
	};

test('reserve plans again after a conflict, or while the Go canhazgpu holds its lock', async () => {
	const answers: CommitOutcome[] = ['conflict', 'locked', 'conflict'];
	const world = await createTestWorld({wrap: withCommit(async (real) => answers.shift() ?? real())});
	expect(await reserve(world, request)).toMatchObject({kind: 'granted', gpus: [0]});
	expect(answers).toEqual([]);
});

test.each(['conflict', 'locked'] as const)(
	'reserve gives up after ten seconds if the store answers every commit with "%s"',
	async (outcome) => {
		const world = await createTestWorld({wrap: withCommit(async () => outcome)});
		await expect(reserve(world, request)).rejects.toMatchObject({code: 'busy', exitCode: 1});
		expect(world.clock.monotonicMs()).toBeGreaterThan(10_000);
		expect(world.clock.monotonicMs()).toBeLessThan(11_000);
		expect(world.memory.state.gpus.size).toBe(0);
	},
);

test('release retries with increasing delays while other processes commit', async () => {
	let conflictsUntilMs = 0;
	let commits = 0;
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			async commit(plan) {
				if (world.clock.monotonicMs() < conflictsUntilMs) {
					commits++;
					return 'conflict';
				}

				return store.commit(plan);
			},
		}),
	});
	await reserve(world, {...request, durationSeconds: 3600});
	conflictsUntilMs = world.clock.monotonicMs() + 30_000;
	expect(await release(world, alice, {by: 'gpus', ids: [0]})).toMatchObject({released: [{index: 0}]});
	// The first retries follow at once, the later ones with increasing delays.
	expect(commits).toBeGreaterThan(100);
	expect(commits).toBeLessThan(400);
});

test('release writes a usage record that ends at the expiry if the reservation expires during retries', async () => {
	let isFirst = true;
	const world: TestWorld = await createTestWorld({
		wrap: (store) => ({
			...store,
			async commit(plan) {
				if (plan.event?.kind === 'released' && isFirst) {
					isFirst = false;
					world.pass(30);
					return 'conflict';
				}

				return store.commit(plan);
			},
		}),
	});
	await reserve(world, request);
	world.pass(50);
	await release(world, alice, {by: 'gpus', ids: [0]});
	expect(await historyOf(world.store)).toMatchObject([{durationSeconds: 60, endReason: 'released'}]);
});

test('extend does not extend a reservation that expires during retries', async () => {
	let isFirst = true;
	const world: TestWorld = await createTestWorld({
		wrap: (store) => ({
			...store,
			async commit(plan) {
				if (plan.event?.kind === 'extended' && isFirst) {
					isFirst = false;
					world.pass(30);
					return 'conflict';
				}

				return store.commit(plan);
			},
		}),
	});
	await reserve(world, request);
	await reserve(world, {...request, durationSeconds: 3600});
	world.pass(50);
	expect(await extend(world, alice, {by: 'gpus', ids: [0]}, {by: 600})).toMatchObject({extended: [], notYours: []});
	expect(isFirst).toBe(false);
	const {snapshot} = await readStatus(world);
	expect(snapshot.gpus.map(({kind}) => kind)).toEqual(['free', 'leased', 'free', 'free']);
	expect(await historyOf(world.store)).toMatchObject([{durationSeconds: 60, endReason: 'expired'}]);
});

test('release succeeds even if expired leases of others cannot be removed', async () => {
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			commit: async (plan) => (plan.audit[0]?.kind === 'expired' ? 'conflict' : store.commit(plan)),
		}),
	});
	await reserve(world, {...request, requester: person('bob')});
	await reserve(world, {...request, durationSeconds: 3600});
	await world.clock.sleep(120_000);
	expect(await release(world, alice, {by: 'gpus', ids: [1]})).toMatchObject({released: [{index: 1}]});
});

test('extend does not extend an expired lease, even if conflicts prevent its removal', async () => {
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			commit: async (plan) => (plan.audit[0]?.kind === 'expired' ? 'conflict' : store.commit(plan)),
		}),
	});
	await reserve(world, request);
	await world.clock.sleep(120_000);
	expect(await extend(world, alice, {by: 'label', label: 'alice'}, {by: 600})).toMatchObject({extended: []});
	expect((await world.store.read()).gpus[0]).toMatchObject({lease: {expiryTime: startTime + 60}});
});

test('release fails after a minute of conflicts and reports how long it tried', async () => {
	let isClosed = false;
	const world = await createTestWorld({wrap: withCommit(async (real) => (isClosed ? 'conflict' : real()))});
	await reserve(world, {...request, durationSeconds: 3600});
	isClosed = true;
	const beganMs = world.clock.monotonicMs();
	await expect(release(world, alice, {by: 'gpus', ids: [0]})).rejects.toMatchObject({
		code: 'busy',
		message: 'The GPU pool is too busy: others kept changing it for 60 seconds',
	});
	expect(world.clock.monotonicMs() - beganMs).toBeGreaterThan(60_000);
	expect(world.clock.monotonicMs() - beganMs).toBeLessThan(62_000);
});

test('if the answer to a commit is lost, reserve reads the store to see whether the commit took effect', async () => {
	const world = await createTestWorld({
		wrap: withCommit(async (real, call) => {
			const outcome = await real();
			if (call === 1) {
				throw unreachable();
			}

			return outcome;
		}),
	});
	expect(await reserve(world, request)).toMatchObject({kind: 'granted', gpus: [0]});
	expect(world.memory.state.gpus.size).toBe(1);
});

test('reserve repeats a commit that never arrived', async () => {
	const world = await createTestWorld({
		wrap: withCommit(async (real, call) => {
			if (call === 1) {
				throw unreachable();
			}

			return real();
		}),
	});
	expect(await reserve(world, request)).toMatchObject({kind: 'granted', gpus: [0]});
});

test('release writes only one usage record if the answer to its commit is lost', async () => {
	let isLosing = false;
	const world = await createTestWorld({
		wrap: withCommit(async (real) => {
			const outcome = await real();
			if (isLosing) {
				isLosing = false;
				throw unreachable();
			}

			return outcome;
		}),
	});
	await reserve(world, request);
	isLosing = true;
	expect((await release(world, alice, {by: 'label', label: 'alice'})).released).toHaveLength(1);
	expect(await historyOf(world.store)).toHaveLength(1);
});

test("reserve fails within 6 s with the store's own error if the store stays down", async () => {
	let isAway = false;
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			async read(options) {
				if (isAway) {
					throw unreachable();
				}

				return store.read(options);
			},
			async commit() {
				isAway = true;
				throw unreachable();
			},
		}),
	});
	await expect(reserve(world, request)).rejects.toMatchObject({code: 'store-unreachable', exitCode: 4});
	expect(world.clock.monotonicMs()).toBeLessThan(6000);
});

test('reserve reports every other error unchanged, even an error of the read after an outage', async () => {
	const world = await createTestWorld({
		wrap: withCommit(async () => {
			throw new CanhazgpuError('store-refused', 'out of memory');
		}),
	});
	await expect(reserve(world, request)).rejects.toMatchObject({code: 'store-refused'});
	const spoilt = await createTestWorld({
		wrap: withCommit(async () => {
			spoilt.memory.state.pool = {gpuCount: 'x', provider: undefined, machine: undefined};
			throw unreachable();
		}),
	});
	await expect(reserve(spoilt, request)).rejects.toMatchObject({code: 'pool-garbage'});
});

test('reserve fails within seconds if the store answers reads but no commit', async () => {
	const lose = async () => {
		throw unreachable();
	};

	const world = await createTestWorld({wrap: withCommit(lose)});
	await expect(reserve(world, request)).rejects.toMatchObject({code: 'store-unreachable'});
	expect(world.clock.monotonicMs()).toBeLessThan(11_000);
	// A slow store is not retried for long either.
	const slow = await createTestWorld({
		wrap: withCommit(async () => {
			slow.pass(3);
			throw unreachable();
		}),
	});
	await expect(reserve(slow, request)).rejects.toMatchObject({code: 'store-unreachable'});
	expect(slow.clock.monotonicMs()).toBeLessThan(13_000);
});

test('while the store rejects writes, the pool can be read and reserve fails', async () => {
	let isFull = false;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: withCommit(async (real) => {
			if (isFull) {
				throw new CanhazgpuError('store-refused', 'cannot save to its disk');
			}

			return real();
		}),
	});
	await reserve(world, request);
	isFull = true;
	world.pass(61);
	expect((await readStatus(world)).rows).toMatchObject([{owner: 'alice', remainingSeconds: 0}]);
	await expect(reserve(world, request)).rejects.toMatchObject({code: 'store-refused'});
	isFull = false;
	expect((await readStatus(world)).rows).toMatchObject([{state: 'available'}]);
	expect(await historyOf(world.store)).toHaveLength(1);
});

test('while no commit is answered, the pool can be read, and reserve reports the store after ten seconds', async () => {
	let isBroken = false;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: withCommit(async (real) => {
			if (isBroken) {
				throw unreachable();
			}

			return real();
		}),
	});
	await reserve(world, request);
	isBroken = true;
	world.pass(61);
	const beganMs = world.clock.monotonicMs();
	expect((await readStatus(world)).rows).toMatchObject([{owner: 'alice', remainingSeconds: 0}]);
	expect(world.clock.monotonicMs()).toBe(beganMs);
	await expect(reserve(world, request)).rejects.toMatchObject({code: 'store-unreachable'});
	expect(world.clock.monotonicMs() - beganMs).toBeLessThan(11_000);
	isBroken = false;
	expect((await readStatus(world)).rows).toMatchObject([{state: 'available'}]);
});

test('release retries without reading the queue', async () => {
	const reads: Array<boolean | undefined> = [];
	let refusals = 0;
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			async read(options) {
				reads.push(options?.withoutQueue);
				return store.read(options);
			},
			async commit(plan) {
				return plan.audit[0]?.kind === 'released' && refusals++ < 30 ? 'conflict' : store.commit(plan);
			},
		}),
	});
	await reserve(world, request);
	const before = world.clock.monotonicMs();
	reads.length = 0;
	expect(await release(world, alice, {by: 'label', label: 'alice'})).toMatchObject({released: [{index: 0}]});
	expect(reads).toEqual([undefined, ...Array.from({length: 30}, () => true)]);
	expect(world.clock.monotonicMs() - before).toBeLessThan(30 * 20);
});
