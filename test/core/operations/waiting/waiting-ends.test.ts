/** How a wait ends while a lock is held or the last answer is lost. The test controls the clock, so no wait takes real time. */
import {expect, test} from 'vitest';
import type {Store} from '../../../../source/core/model/ports.js';
import {readStatus, reserve} from '../../../../source/core/operations/reservations.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {createTestWorld, historyOf, person, type TestWorld} from '../../../_helpers/world.js';
import type {AcquireRequest} from '../../../../source/core/rules/request/request.js';
import type {Progress} from '../../../../source/core/operations/engine.js';

const request: AcquireRequest = {
	requester: person('bob', 'bob', 1001),
	count: 1,
	tenure: {type: 'manual', durationSeconds: 3600},
};

const unreachable = () => new CanhazgpuError('store-unreachable', 'The answer was lost');

const hold = async (world: TestWorld, seconds: number) =>
	reserve(world, {requester: person('alice'), count: 1, durationSeconds: seconds});

const wait = async (
	world: TestWorld,
	{
		onProgress = () => undefined,
		waitSeconds,
		signal = new AbortController().signal,
		leaveUntil,
	}: {
		readonly onProgress?: (progress: Progress) => void;
		readonly waitSeconds?: number;
		readonly signal?: AbortSignal;
		readonly leaveUntil?: AbortSignal;
	} = {},
) => acquire(world, request, {waitSeconds, signal, leaveUntil, onProgress});

const ownersOf = async (world: TestWorld) => (await readStatus(world)).rows.map(({owner}) => owner);

/** Returns a store wrapper that loses the answers to grants and then calls a function. */
const losingGrants =
	(then: () => void) =>
	(store: Store): Store => ({
		...store,
		async commit(plan) {
			const outcome = await store.commit(plan);
			if (outcome === 'done' && plan.grants && plan.event?.user === 'bob') {
				then();
				throw unreachable();
			}

			return outcome;
		},
	});

/** Returns a world with one GPU, whose store can be made unreachable. */
async function createFailingWorld(
	wrapInside: (setAway: (value: boolean) => void) => (store: Store) => Store = () => (store) => store,
) {
	let isAway = false;
	const setAway = (value: boolean): void => {
		isAway = value;
	};

	const failing =
		<Parameters extends readonly unknown[], Result>(work: (...parameters: Parameters) => Promise<Result>) =>
		async (...parameters: Parameters): Promise<Result> => {
			if (isAway) {
				throw unreachable();
			}

			return work(...parameters);
		};

	const world = await createTestWorld({
		gpuCount: 1,
		wrap(store) {
			const inside = wrapInside(setAway)(store);
			return {...inside, read: failing(inside.read), commit: failing(inside.commit)};
		},
	});
	return {world, setAway};
}

test('a request joins the queue while the Go canhazgpu holds its lock for a long time', async () => {
	const world = await createTestWorld({gpuCount: 1});
	world.memory.setAllocationLock(true);
	const progress: Progress[] = [];
	const answer = await wait(world, {
		onProgress(step) {
			progress.push(step);
			world.memory.setAllocationLock(false);
		},
	});
	expect(progress).toMatchObject([{kind: 'waiting', position: 1, waiting: 1}]);
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
});

test('a waiting request can end even if a dead Go canhazgpu left its lock behind', async () => {
	const world = await createTestWorld({gpuCount: 1});
	world.memory.setAllocationLock(true);
	expect(await wait(world, {waitSeconds: 60})).toEqual({kind: 'gave-up', reason: 'timeout'});
	const controller = new AbortController();
	const answer = await wait(world, {
		signal: controller.signal,
		onProgress() {
			controller.abort();
		},
	});
	expect(answer).toEqual({kind: 'gave-up', reason: 'aborted'});
	expect(world.memory.state.queue).toEqual([]);
});

test('canceling a wait releases the GPUs even if the answer to their grant was lost', async () => {
	const controller = new AbortController();
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: losingGrants(() => {
			controller.abort();
		}),
	});
	await hold(world, 50);
	expect(await wait(world, {signal: controller.signal})).toEqual({kind: 'gave-up', reason: 'aborted'});
	expect(await ownersOf(world)).toEqual([undefined]);
	expect(await historyOf(world.store)).toMatchObject([{user: 'alice'}, {user: 'bob', endReason: 'released'}]);
});

test('a waiting request reports the grant at its time limit if the answer to the grant was lost', async () => {
	let isLost = false;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap(store) {
			const losing = losingGrants(() => {
				isLost = true;
			})(store);
			return {
				...losing,
				async read(options) {
					if (isLost) {
						// The store does not answer until the time limit, and once more after it.
						isLost = world.clock.monotonicMs() < 60_000;
						throw unreachable();
					}

					return losing.read(options);
				},
			};
		},
	});
	await hold(world, 50);
	expect(await wait(world, {waitSeconds: 60})).toMatchObject({kind: 'granted', gpus: [0]});
	expect(await ownersOf(world)).toEqual(['bob']);
});

test('a request whose wait ends while the store is down does not claim to have left the queue', async () => {
	const {world, setAway} = await createFailingWorld();
	await hold(world, 5000);
	const answer = await wait(world, {
		waitSeconds: 60,
		onProgress() {
			setAway(true);
		},
	});
	expect(answer).toEqual({kind: 'gave-up', reason: 'timeout', isUnsure: true});
});

/** Lets time pass in which background work runs. */
const letPass = async ({clock}: TestWorld, seconds: number): Promise<void> => {
	for (let index = 0; index < seconds * 10; index++) {
		await clock.sleep(100);
	}
};

test('a request whose wait ends while the store is down leaves the queue when the store is back, until its process ends', async () => {
	for (const isEnded of [false, true]) {
		const {world, setAway} = await createFailingWorld();
		await hold(world, 5000);
		const process = new AbortController();
		const answer = await wait(world, {
			waitSeconds: 60,
			leaveUntil: process.signal,
			onProgress() {
				setAway(true);
			},
		});
		expect(answer).toMatchObject({isUnsure: true});
		await letPass(world, 5);
		expect(world.memory.state.queue).toHaveLength(1);
		if (isEnded) {
			process.abort();
		}

		setAway(false);
		await letPass(world, 5);
		expect(world.memory.state.queue).toHaveLength(isEnded ? 1 : 0);
		process.abort();
	}
});

test('a canceled request releases a grant whose answer was lost when the store is back', async () => {
	const controller = new AbortController();
	const process = new AbortController();
	const {world, setAway} = await createFailingWorld((setAway) =>
		losingGrants(() => {
			controller.abort();
			setAway(true);
		}),
	);
	await hold(world, 50);
	const answer = await wait(world, {signal: controller.signal, leaveUntil: process.signal});
	expect(answer).toEqual({kind: 'gave-up', reason: 'aborted', isUnsure: true});
	await letPass(world, 5);
	setAway(false);
	expect(await ownersOf(world)).toEqual(['bob']);
	await letPass(world, 5);
	expect(await ownersOf(world)).toEqual([undefined]);
	process.abort();
});

test('a request that is canceled during its first scan ends at once without joining the queue', async () => {
	const world = await createTestWorld({gpuCount: 1});
	const controller = new AbortController();
	const hanging = {
		...world,
		gpus: {
			...world.gpus,
			async observe() {
				controller.abort();
				return Promise.withResolvers<never>().promise;
			},
		},
	};
	for (const waitSeconds of [undefined, 0, 60]) {
		expect(await wait(hanging, {signal: controller.signal, waitSeconds})).toEqual({kind: 'gave-up', reason: 'aborted'});
	}

	expect((await world.store.read()).queue).toEqual([]);
});

test('a request that is canceled during a later scan leaves the queue at once', async () => {
	const world = await createTestWorld({gpuCount: 1});
	await hold(world, 5);
	const controller = new AbortController();
	let scans = 0;
	const hanging = {
		...world,
		gpus: {
			...world.gpus,
			async observe() {
				scans++;
				if (scans === 1) {
					return world.gpus.observe();
				}

				controller.abort();
				return Promise.withResolvers<never>().promise;
			},
		},
	};
	expect(await wait(hanging, {signal: controller.signal})).toEqual({kind: 'gave-up', reason: 'aborted'});
	expect((await world.store.read()).queue).toEqual([]);
});
