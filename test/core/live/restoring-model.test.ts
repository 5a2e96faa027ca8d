/** Random histories of a store that returns to earlier states, with some processes that remember its data and some that do not. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {drain, undrain} from '../../../source/core/operations/pool/drain.js';
import {sendHeartbeat, findJobLease, endJobLease, type JobLease} from '../../../source/core/operations/job-lease.js';
import {leaveQueue} from '../../../source/core/operations/waiting/leave-queue.js';
import type {World} from '../../../source/core/model/ports.js';
import {extend, release, reserve} from '../../../source/core/operations/reservations.js';
import {createRestoringStore} from '../../../source/core/live/restoring-store.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import type {Snapshot} from '../../../source/core/model/types.js';
import {CanhazgpuError} from '../../../source/errors.js';
import type {State} from '../../../source/store/memory/state.js';
import {crash, saved} from '../../_helpers/store/losing.js';
import {createTestWorld, historyOf, person} from '../../_helpers/world.js';
import {joinQueue} from '../../../source/core/operations/waiting/join-queue.js';
import {isLeased} from '../../_helpers/leased.js';

const runs = 300;
const gpuCount = 3;
const readers = 3;

const anyNumber = fc.nat({max: 11});
const anyStep = fc.record({
	what: fc.constantFrom(
		'reserve',
		'reserve',
		'release',
		'extend',
		'run',
		'run',
		'beat',
		'finish',
		'kill',
		'join',
		'join',
		'leave',
		'drain',
		'undrain',
		'setPolicy',
		'unsetPolicy',
		'read',
		'read',
		'look',
		'save',
		'pass',
	),
	which: anyNumber,
});
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

type Wrapper = {readonly world: World; readonly pid: number; jobLease: JobLease};

const alice = person('alice');
const bob = person('bob', 'bob', 1001);
const root = person('root', 'root', 0);

/** Runs the work and ignores errors that a random history can cause. */
const unlessRefused = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
	try {
		return await work();
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return undefined;
		}

		throw error;
	}
};

const contentOf = ({pool, gpus, queue, drains, policy}: Snapshot) => ({
	pool,
	gpus: gpus.map((record) =>
		isLeased(record) ? record.lease : record.kind === 'free' ? [record.lastReleased, record.ended] : record,
	),
	queue: queue.map(({id}) => id),
	drains: drains
		.entries()
		.toArray()
		.toSorted(([a], [b]) => a - b),
	policy: Object.fromEntries(policy),
});

async function scene() {
	const world = await createTestWorld({gpuCount});
	const staying = Array.from({length: readers}, (): World => ({
		...world,
		store: createRestoringStore(world.store, world),
	}));
	const wrappers: Wrapper[] = [];
	/** The time at which each waiting entry first joined the queue. */
	const joined = new Map<string, number>();
	/** Leases granted since the last crash that are still live, by GPU. A restore must not change them. */
	const since = new Map<number, string>();
	let disk: State | undefined;
	let ids = 0;

	const asProcess = (pid: number): World => {
		world.processes.set(pid, 'alive');
		const own = {...world, host: {...world.host, self: {pid}}};
		return {...own, store: createRestoringStore(world.store, own)};
	};

	const finishes = (wrapper: Wrapper): void => {
		wrappers.splice(wrappers.indexOf(wrapper), 1);
		for (const [gpu, leaseId] of since) {
			if (leaseId === wrapper.jobLease.leaseId) {
				since.delete(gpu);
			}
		}
	};

	const steps: Readonly<Record<Step['what'], (which: number) => Promise<unknown>>> = {
		async reserve(which) {
			const gpu = which % gpuCount;
			const answer = await reserve(world, {requester: bob, count: 1, ids: [gpu], durationSeconds: 1_000_000});
			if (answer.kind === 'granted') {
				since.set(gpu, answer.leaseId);
			}
		},
		async release(which) {
			const gpu = which % gpuCount;
			since.delete(gpu);
			await release(world, root, {by: 'gpus', ids: [gpu]});
		},
		extend: async (which) => extend(world, root, {by: 'gpus', ids: [which % gpuCount]}, {by: 100}),
		async run(which) {
			const pid = 1000 + ++ids;
			const own = asProcess(pid);
			const leaseId = `job-${pid}`;
			const gpu = which % gpuCount;
			const answer = await acquireNow(own, {requester: alice, count: 1, ids: [gpu], tenure: {type: 'run'}}, leaseId);
			if (answer.kind !== 'granted') {
				return;
			}

			since.set(gpu, leaseId);
			wrappers.push({world: own, pid, jobLease: await findJobLease(own, leaseId)});
		},
		async beat(which) {
			const wrapper = wrappers[which % Math.max(1, wrappers.length)];
			if (wrapper === undefined) {
				return;
			}

			const {jobLease} = await sendHeartbeat(wrapper.world, wrapper.jobLease);
			wrapper.jobLease = jobLease;
			if (jobLease.gpus.length === 0) {
				wrappers.splice(wrappers.indexOf(wrapper), 1);
			}
		},
		async finish(which) {
			const wrapper = wrappers[which % Math.max(1, wrappers.length)];
			if (wrapper === undefined) {
				return;
			}

			finishes(wrapper);
			world.processes.set(wrapper.pid, 'dead');
			await endJobLease(wrapper.world, wrapper.jobLease, 'exited');
		},
		async kill(which) {
			const wrapper = wrappers[which % Math.max(1, wrappers.length)];
			if (wrapper === undefined) {
				return;
			}

			finishes(wrapper);
			world.processes.set(wrapper.pid, 'dead');
		},
		async join() {
			const pid = 1000 + ++ids;
			const id = `w${String(pid)}`;
			await joinQueue(asProcess(pid), {
				id,
				request: {requester: bob, count: gpuCount, tenure: {type: 'run'}},
				waitSeconds: undefined,
			});
			joined.set(id, world.now());
		},
		async leave(which) {
			const id = joined.keys().toArray()[which % Math.max(1, joined.size)];
			if (id !== undefined) {
				await leaveQueue(world, root, id);
			}
		},
		drain: async (which) => drain(world, root, [which % gpuCount], `reason ${which}`),
		undrain: async (which) => undrain(world, root, [which % gpuCount]),
		setPolicy: async (which) => changePolicy(world, root, [{key: 'strategy', value: which % 2 === 0 ? 'lru' : 'mru'}]),
		unsetPolicy: async () => changePolicy(world, root, [{key: 'strategy', value: undefined}]),
		read: async (which) => readCurrent(staying[which % readers]!),
		look: async () => readCurrent(world),
		async save() {
			disk = saved(world.memory);
		},
		async pass(which) {
			world.pass(which * 5);
		},
	};

	return {
		world,
		staying,
		wrappers,
		joined,
		since,
		async do({what, which}: Step) {
			// Times are stored in whole seconds, so two events could otherwise have the same time.
			world.pass(2);
			await unlessRefused(async () => steps[what](which));
		},
		crash(isEmpty: boolean) {
			world.pass(2);
			since.clear();
			crash(world.memory, isEmpty ? undefined : disk);
			world.pass(1);
		},
	};
}

/** Checks that the usage records of the same lease and GPU do not overlap in time. */
async function checkHistory(world: World): Promise<void> {
	const records = (await historyOf(world.store)).filter(({leaseId}) => leaseId !== undefined);
	const groups = Map.groupBy(records, ({leaseId, gpuId}) => `${leaseId} ${gpuId}`);
	for (const group of groups.values()) {
		const sorted = group.toSorted((a, b) => a.startTime - b.startTime);
		for (const [index, record] of sorted.entries()) {
			expect(record.startTime).toBeGreaterThanOrEqual(Math.floor(sorted[index - 1]?.endTime ?? 0));
		}
	}
}

/** Checks that the wrappers that still hold a GPU are those in the store. */
async function checkHolders({world, wrappers}: Awaited<ReturnType<typeof scene>>): Promise<void> {
	// Two rounds, because the second wrapper to restore its lease may know a later holder than the first.
	for (const wrapper of [wrappers, wrappers].flat()) {
		const answer = await unlessRefused(async () => sendHeartbeat(wrapper.world, wrapper.jobLease));
		wrapper.jobLease = answer?.jobLease ?? wrapper.jobLease;
	}

	const {pool, gpus} = await world.store.read();
	const held =
		pool === undefined
			? []
			: wrappers.flatMap(({jobLease}) => jobLease.gpus.map((gpu) => [gpu, jobLease.leaseId] as const));
	expect(new Set(held.map(([gpu]) => gpu)).size).toBe(held.length);
	for (const [gpu, leaseId] of held) {
		const record = gpus[gpu]!;
		expect(isLeased(record) && record.lease.leaseId).toBe(leaseId);
	}
}

async function checkOrder({world, joined}: Awaited<ReturnType<typeof scene>>): Promise<void> {
	const times = (await world.store.read()).queue.map(({id}) => joined.get(id) ?? 0);
	expect(times).toEqual(times.toSorted((a, b) => a - b));
}

async function checkSince({world, since}: Awaited<ReturnType<typeof scene>>): Promise<void> {
	const {pool, gpus} = await world.store.read();
	for (const [gpu, leaseId] of pool === undefined ? [] : since) {
		const record = gpus[gpu]!;
		expect(isLeased(record) && record.lease.leaseId).toBe(leaseId);
	}
}

const anySteps = fc.array(anyStep, {maxLength: 14, size: 'max'});

type Round = {readonly steps: readonly Step[]; readonly isEmpty: boolean};

/** Plays rounds that each end with a crash of the store, and then the last steps. Afterwards all processes read, and the state must be right. */
async function play(rounds: readonly Round[], last: readonly Step[]): Promise<void> {
	const all = await scene();
	for (const {steps, isEmpty} of rounds) {
		for (const step of steps) {
			await all.do(step);
			await checkSince(all);
		}

		all.crash(isEmpty);
	}

	for (const step of last) {
		await all.do(step);
		await checkSince(all);
	}

	for (const reader of all.staying) {
		await unlessRefused(async () => readCurrent(reader));
		await checkSince(all);
	}

	await checkHolders(all);
	await checkOrder(all);
	await checkHistory(all.world);
}

test('random restores after data loss never give a GPU two holders or change the queue order', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.record({steps: anySteps, isEmpty: fc.boolean()}), {minLength: 1, maxLength: 4}),
			anySteps,
			play,
		),
		{numRuns: runs},
	);
});

test('restoring after data loss does not replace a lease with a later lease that has already ended', async () => {
	const round = (...steps: readonly Step[]): Round => ({steps, isEmpty: false});
	await play(
		[
			round({what: 'save', which: 0}, {what: 'run', which: 8}),
			round({what: 'run', which: 2}, {what: 'read', which: 0}),
			round({what: 'read', which: 0}),
		],
		[
			{what: 'beat', which: 7},
			{what: 'kill', which: 7},
			{what: 'reserve', which: 0},
			{what: 'beat', which: 0},
		],
	);
});

test('the first reads after a store crash restore everything that the most recent reader knew', async () => {
	await fc.assert(
		fc.asyncProperty(
			anySteps,
			anySteps,
			fc.shuffledSubarray([0, 1, 2], {minLength: 3}),
			fc.boolean(),
			async (before, after, order, isEmpty) => {
				const all = await scene();
				const {world, staying} = all;
				for (const step of before) {
					await all.do(step);
				}

				await all.do({what: 'save', which: 0});
				// Every reader has read something, and the last one has read the newest state.
				for (const [index, step] of after.entries()) {
					await all.do(step);
					await readCurrent(staying[index % 2]!);
				}

				const known = contentOf(await readCurrent(staying[2]!));
				all.crash(isEmpty);
				for (const reader of order) {
					await staying[reader]!.store.read();
				}

				expect(contentOf(await world.store.read())).toEqual(known);
				await checkHistory(world);
			},
		),
		{numRuns: runs},
	);
});
