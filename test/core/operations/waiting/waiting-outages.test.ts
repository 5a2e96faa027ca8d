/** A waiting request whose store is down, loses data or loses an answer. The test controls the clock, so no wait takes real time. */
import {expect, test} from 'vitest';
import type {CommitOutcome, Store} from '../../../../source/core/model/ports.js';
import {extend, readStatus, release, reserve} from '../../../../source/core/operations/reservations.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {leaveQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {entry, join, write} from '../../../store/samples.js';
import {encodeAlerts} from '../../../../source/store/records/index.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../../../_helpers/world.js';
import type {AcquireRequest} from '../../../../source/core/rules/request/request.js';
import type {Progress} from '../../../../source/core/operations/engine.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);

const request: AcquireRequest = {requester: bob, count: 1, tenure: {type: 'run', timeLimitSeconds: 600}};

const unreachable = () => new CanhazgpuError('store-unreachable', 'Cannot reach the store');

const hold = async (world: TestWorld, ids: readonly number[]): Promise<void> => {
	await reserve(world, {requester: alice, count: 1, ids, durationSeconds: 100_000});
};

/** The fields of an entry whose process is alive on this machine. */
const livingHolder = ({host: {machineId: machine, bootId}}: TestWorld, pid = 1000) => ({
	machine,
	bootId,
	holder: {pid, startTicks: 1},
	lastHeartbeat: startTime + 10_000,
});

/** Waits for a GPU. `onProgress` can change the world, as other processes would. */
async function wait(
	world: TestWorld,
	{
		onProgress = () => undefined,
		waitSeconds,
	}: {readonly onProgress?: (progress: Progress) => unknown; readonly waitSeconds?: number},
) {
	const progress: Progress[] = [];
	const answer = await acquire(world, request, {
		waitSeconds,
		signal: new AbortController().signal,
		onProgress(step) {
			progress.push(step);
			void onProgress(step);
		},
	});
	return {answer, kinds: progress.map(({kind}) => kind)};
}

test('a waiting request sends heartbeats for its queue entry and its held GPUs every half minute', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await hold(world, [0, 1]);
	const {entries} = world.memory.state;
	const heartbeats = new Set<unknown>();
	const watching: TestWorld = {
		...world,
		store: {
			...world.store,
			async read(options) {
				for (const raw of entries.values()) {
					heartbeats.add((JSON.parse(raw) as {last_heartbeat: string}).last_heartbeat);
				}

				return world.store.read(options);
			},
		},
	};
	expect((await wait(watching, {waitSeconds: 200})).answer).toEqual({kind: 'gave-up', reason: 'timeout'});
	expect(heartbeats.size).toBeGreaterThanOrEqual(6);
	expect(world.memory.state.queue).toEqual([]);
});

test('an entry far back in the queue keeps its position by heartbeats and rarely reads the whole store', async () => {
	const world = await createTestWorld({gpuCount: 1});
	await hold(world, [0]);
	const others = new Map(
		Array.from({length: 100}, (_, index) => {
			const part = {...livingHolder(world, 1000 + index), reservationType: 'run', waitTimeout: undefined} as const;
			return [`other-${index}`, entry(`other-${index}`, part)];
		}),
	);
	await write(world.memory, ...others.values().map((other) => ({kind: 'join', entry: other}) as const));
	const counts = {reads: 0, beats: 0};
	let judged = 0;
	const counting: TestWorld = {
		...world,
		host: {
			...world.host,
			liveness(list) {
				judged += list.length;
				return world.host.liveness(list);
			},
		},
		store: {
			...world.store,
			async read(options) {
				counts.reads++;
				return world.store.read(options);
			},
			async readEntry(id) {
				counts.beats++;
				for (const other of world.memory.state.queue.filter((one) => one.startsWith('other-'))) {
					await write(world.memory, {kind: 'entry', entry: {...others.get(other)!, lastHeartbeat: world.now()}});
				}

				return world.store.readEntry(id);
			},
		},
	};
	world.processes.set(1050, 'dead');
	const {answer} = await wait(counting, {waitSeconds: 1200});
	expect(answer).toEqual({kind: 'gave-up', reason: 'timeout'});
	expect(counts.beats).toBeGreaterThanOrEqual(25);
	expect(counts.reads).toBeLessThan(25);
	expect(judged / counts.reads).toBeLessThan(50);
	expect(world.memory.state.queue).not.toContain('other-50');
	expect(world.memory.state.queue).toHaveLength(99);
});

test('a waiting request keeps its position while the store is down', async () => {
	let failures = 0;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store) => ({
			...store,
			async read(options) {
				if (failures > 0) {
					failures--;
					throw unreachable();
				}

				return store.read(options);
			},
		}),
	});
	await hold(world, [0]);
	const {answer, kinds} = await wait(world, {
		onProgress({kind}) {
			if (kind === 'waiting') {
				failures = 5;
			}

			if (kind !== 'store-lost') {
				return;
			}

			failures = 0;
			world.memory.state.gpus.set(0, '{}');
		},
	});
	expect(kinds).toEqual(['waiting', 'store-lost']);
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
});

test('a waiting request rejoins the queue at its end if the store has lost everything but the pool', async () => {
	let isAway = false;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store) => ({
			...store,
			async read(options) {
				if (isAway) {
					isAway = false;
					throw unreachable();
				}

				return store.read(options);
			},
		}),
	});
	await hold(world, [0]);
	const {answer, kinds} = await wait(world, {
		onProgress({kind}) {
			if (kind === 'waiting' && world.memory.state.gpus.get(0) !== '{}') {
				isAway = true;
			}

			if (kind === 'store-lost') {
				world.memory.state.queue.length = 0;
				world.memory.state.entries.clear();
			} else if (kind === 'rejoined') {
				world.memory.state.gpus.set(0, '{}');
			}
		},
	});
	expect(kinds.slice(0, 3)).toEqual(['waiting', 'store-lost', 'rejoined']);
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
	expect(world.memory.state.queue).toEqual([]);
});

/** Removes every entry from the queue, and frees the only GPU. */
function forget({memory: {state}}: TestWorld): void {
	state.queue.length = 0;
	state.entries.clear();
	state.gpus.set(0, '{}');
}

test('a queue entry that the store lost returns ahead of later entries', async () => {
	let losses = 0;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store) => ({
			...store,
			async read(options) {
				if (losses === 1) {
					losses++;
					forget(world);
					world.pass(1);
					await write(world.memory, join('later', {...livingHolder(world), waitTimeout: undefined}));
					throw unreachable();
				}

				return store.read(options);
			},
		}),
	});
	await hold(world, [0]);
	const {answer, kinds} = await wait(world, {
		onProgress({kind}) {
			losses ||= kind === 'waiting' ? 1 : 0;
		},
	});
	expect(kinds.slice(0, 3)).toEqual(['waiting', 'store-lost', 'rejoined']);
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
	expect(world.memory.state.queue).toEqual(['later']);
});

test('a queue entry that is missing after a restore rejoins, but gets no GPU for five seconds', async () => {
	const world = await createTestWorld({gpuCount: 1});
	await hold(world, [0]);
	let restoredAt = NaN;
	const {answer, kinds} = await wait(world, {
		onProgress({kind}) {
			if (!(kind === 'waiting' && Number.isNaN(restoredAt))) {
				return;
			}

			restoredAt = world.now();
			forget(world);
			world.memory.state.alerts = encodeAlerts({alerts: [], dataLoss: {restoredAt, readAt: restoredAt}});
		},
	});
	expect(kinds).toEqual(['waiting', 'rejoined']);
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
	expect(answer.kind === 'granted' && answer.startTime).toBeGreaterThanOrEqual(Math.floor(restoredAt + 5));
});

test.each([
	['dropped while its process was stopped for more than two minutes joins the queue again', 130, 'granted'],
	['removed from the queue by another user ends its wait', 1, 'gave-up'],
])('a queue entry that was %s', async (_, silentSeconds, kind) => {
	const world = await createTestWorld({gpuCount: 1});
	await hold(world, [0]);
	let isThere = true;
	const {answer} = await wait(world, {
		onProgress() {
			if (!isThere) {
				return;
			}

			isThere = false;
			forget(world);
			world.pass(silentSeconds);
		},
	});
	expect(answer).toMatchObject({kind});
	expect(world.memory.state.queue).toEqual([]);
});

test.each([
	['while its process was stopped for more than two minutes', 130, false],
	['while the store could not be reached', 1, true],
])('a queue entry that another user removed %s does not return', async (_, silentSeconds, isOutage) => {
	let isWaiting = false;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store) => ({
			...store,
			async read(options) {
				if (!isWaiting) {
					return store.read(options);
				}

				isWaiting = false;
				expect(await leaveQueue(world, person('root', 'root', 0), world.memory.state.queue[0]!)).toMatchObject({
					kind: 'left',
				});
				world.memory.state.gpus.set(0, '{}');
				world.pass(silentSeconds);
				if (isOutage) {
					throw unreachable();
				}

				return store.read(options);
			},
		}),
	});
	await hold(world, [0]);
	const {answer, kinds} = await wait(world, {
		onProgress({kind}) {
			isWaiting = kind === 'waiting';
		},
	});
	expect(answer).toEqual({kind: 'gave-up', reason: 'removed'});
	expect(kinds).toEqual(isOutage ? ['waiting', 'store-lost'] : ['waiting']);
});

test('if the answer to a grant is lost, the waiting request reads the store to find its GPUs', async () => {
	let isLosing = false;
	const withLoss = (store: Store): Store => ({
		...store,
		async commit(plan): Promise<CommitOutcome> {
			const outcome = await store.commit(plan);
			if (isLosing && plan.grants) {
				isLosing = false;
				throw unreachable();
			}

			return outcome;
		},
	});
	const world = await createTestWorld({gpuCount: 1, wrap: withLoss});
	await hold(world, [0]);
	const {answer} = await wait(world, {
		onProgress({kind}) {
			if (kind !== 'waiting') {
				return;
			}

			isLosing = true;
			world.memory.state.gpus.set(0, '{}');
		},
	});
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
	expect((await readStatus(world)).rows[0]).toMatchObject({owner: 'bob'});
});

test('a waiting request plans its grant again after a conflict', async () => {
	const answers: CommitOutcome[] = [];
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store) => ({
			...store,
			commit: async (plan) => (plan.grants ? answers.shift() : undefined) ?? store.commit(plan),
		}),
	});
	await hold(world, [0]);
	const {answer} = await wait(world, {
		onProgress() {
			answers.push('conflict', 'locked');
			world.memory.state.gpus.set(0, '{}');
		},
	});
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
});

test('a waiting request fails and leaves the queue if the pool becomes too small', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await hold(world, [0, 1]);
	const waiting = acquire(
		world,
		{...request, count: 2},
		{
			waitSeconds: undefined,
			signal: new AbortController().signal,
			onProgress() {
				world.memory.state.pool = {...world.memory.state.pool, gpuCount: '1'};
			},
		},
	);
	await expect(waiting).rejects.toMatchObject({code: 'impossible'});
	expect(world.memory.state.queue).toEqual([]);
});

test('canceling a wait at the moment of the grant releases the GPUs', async () => {
	const controller = new AbortController();
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store) => ({
			...store,
			async commit(plan) {
				const outcome = await store.commit(plan);
				controller.abort();
				return outcome;
			},
		}),
	});
	expect(
		await acquire(world, request, {waitSeconds: undefined, signal: controller.signal, onProgress: () => undefined}),
	).toEqual({kind: 'gave-up', reason: 'aborted'});
	expect(await historyOf(world.store)).toMatchObject([{gpuId: 0, user: 'bob', endReason: 'released'}]);
});

test('if the answer to a change is lost, extend reads the store to see whether the change was made', async () => {
	let isLosing = false;
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			async commit(plan) {
				const outcome = await store.commit(plan);
				if (isLosing) {
					isLosing = false;
					throw unreachable();
				}

				return outcome;
			},
		}),
	});
	await reserve(world, {requester: alice, count: 1, durationSeconds: 600});
	isLosing = true;
	const {extended} = await extend(world, alice, {by: 'label', label: 'alice'}, {by: 60});
	expect(extended).toHaveLength(1);
	// The reservation was extended only once.
	expect((await readStatus(world)).rows[0]!.remainingSeconds).toBeLessThanOrEqual(660);
	await release(world, alice, {by: 'label', label: 'alice'});
});
