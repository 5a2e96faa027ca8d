/** A lease or queue entry whose process is not visible ends only after its silence was observed for some time. */
import * as fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {sendHeartbeat, findJobLease, withJob, type JobLease} from '../../../../source/core/operations/job-lease.js';
import {isEntryHeartbeatDue} from '../../../../source/core/rules/leases/liveness.js';
import type {Host, World} from '../../../../source/core/model/ports.js';
import {entryFor, planEntryHeartbeat, planJoin} from '../../../../source/core/rules/queue/queue.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {readCurrent, readForDisplay} from '../../../../source/core/operations/transact.js';
import type {Lease, Snapshot} from '../../../../source/core/model/types.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../../../_helpers/world.js';
import {isLeased} from '../../../_helpers/leased.js';

const bob = person('bob', 'bob', 1001);

/** Returns the world of a host that cannot see the processes of other hosts. */
const unseeing = (world: TestWorld, changes: Partial<Host> = {}): World => ({
	...world,
	host: {...world.host, liveness: (list) => list.map(() => 'unknown'), ...changes},
});

const leaseAt = (snapshot: Snapshot, index: number): Lease | undefined => {
	const record = snapshot.gpus[index]!;
	return isLeased(record) ? record.lease : undefined;
};

/** Returns a record as the Go program writes it, without unknown fields. */
const peerRecord = (world: TestWorld): string =>
	JSON.stringify({user: 'eve', type: 'run', start_time: startTime, last_heartbeat: Math.floor(world.now())});

/** A pool with a wrapper on GPU 0, a job of the Go program on GPU 1 and a queue entry for GPU 0, whose processes are all invisible. */
class Box {
	isLiving = true;
	#hold!: JobLease;
	#secondsToBeat = 0;
	#secondsToEntryBeat = 0;
	#lastEntryHeartbeat = startTime;
	readonly world: TestWorld;

	constructor(world: TestWorld) {
		this.world = world;
	}

	async begin(): Promise<void> {
		const {world} = this;
		await acquireNow(world, {requester: person('alice'), count: 1, ids: [0], tenure: {type: 'run'}}, 'lease');
		this.#hold = withJob(await findJobLease(world, 'lease'), {pid: 2, startTicks: 22});
		const options = {id: 'q', requester: bob, wanted: {count: 1, ids: [0]}, tenure: {type: 'run'}} as const;
		const entry = entryFor({...options, note: undefined, waitSeconds: undefined}, world.host, world.now());
		await world.store.commit(planJoin(entry, 'box'));
		await this.#beat();
	}

	/** Advances the time, while every process sends its heartbeats as usual. */
	async pass(seconds: number): Promise<void> {
		let left = seconds;
		while (left > 0) {
			const step = Math.min(left, this.#secondsToBeat, this.#secondsToEntryBeat);
			this.world.pass(step);
			left -= step;
			this.#secondsToBeat -= step;
			this.#secondsToEntryBeat -= step;
			await this.#beat();
		}
	}

	async #beat(): Promise<void> {
		const {world} = this;
		if (this.#secondsToBeat <= 0) {
			this.#secondsToBeat = 60;
			if (this.isLiving) {
				const answer = await sendHeartbeat(world, this.#hold);
				expect(answer.kind).toBe('held');
				this.#hold = answer.jobLease;
				world.memory.state.gpus.set(1, peerRecord(world));
			}
		}

		if (!(this.#secondsToEntryBeat <= 0)) {
			return;
		}

		this.#secondsToEntryBeat = 30;
		if (this.isLiving) {
			await this.#beatEntry();
		}
	}

	async #beatEntry(): Promise<void> {
		const snapshot = await this.world.store.read();
		const own = snapshot.queue.find((record) => record.kind === 'entry');
		expect(own).toBeDefined();
		if (!isEntryHeartbeatDue(own!.entry, this.#lastEntryHeartbeat, snapshot.now)) {
			return;
		}

		this.#lastEntryHeartbeat = snapshot.now;
		expect(await this.world.store.commit(planEntryHeartbeat(snapshot, own!))).toBe('done');
	}
}

/** Observers with different clocks: two share one, one is in another time namespace, and one has none. */
const viewersOf = (world: TestWorld): readonly World[] => {
	const {seconds} = world.host.monotonic;
	return [
		unseeing(world),
		unseeing(world, {bootId: undefined}),
		unseeing(world, {monotonic: {id: 'boot-1/shifted', seconds: () => seconds()! + 1_000_000}}),
		unseeing(world, {monotonic: {id: 'boot-1', seconds: () => undefined}}),
	];
};

const anyJump = fc.oneof(
	fc.integer({min: -200, max: 200}),
	fc.integer({min: -7200, max: 7200}),
	fc.integer({min: -90 * 86_400, max: 90 * 86_400}),
);

const anyStep = fc.oneof(
	fc.record({
		kind: fc.constant('pass'),
		amount: fc.oneof(fc.integer({min: 1, max: 100}), fc.integer({min: 1, max: 2000})),
	}),
	fc.record({kind: fc.constant('jump'), amount: anyJump}),
	fc.record({kind: fc.constant('look'), amount: fc.integer({min: 0, max: 3})}),
);

describe("a lease whose process is not visible, with any jumps of the store's clock", () => {
	test('ends soon after another process notices the missing heartbeats, and never before', async () => {
		let watches = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.array(anyStep, {maxLength: 60, size: 'max'}),
				anyJump,
				fc.integer({min: 1, max: 100}),
				async (steps, lastJump, checkEverySeconds) => {
					const box = new Box(await createTestWorld({gpuCount: 2}));
					const {world} = box;
					await box.begin();
					const viewers = viewersOf(world);
					for (const {kind, amount} of steps) {
						if (kind === 'jump') {
							world.jump(amount);
						} else if (kind === 'pass') {
							await box.pass(amount);
						} else {
							const snapshot = await readCurrent(viewers[amount]!);
							expect(leaseAt(snapshot, 0)?.user).toBe('alice');
							expect(leaseAt(snapshot, 1)?.user).toBe('eve');
							expect(snapshot.queue).toHaveLength(1);
							watches += leaseAt(snapshot, 0)?.silence === undefined ? 0 : 1;
						}
					}

					expect(await historyOf(world.store)).toEqual([]);
					box.isLiving = false;
					world.jump(lastJump);
					let silentSeconds = 0;
					for (;;) {
						const {gpus, queue} = await readCurrent(viewers[0]!);
						if (gpus.every((record) => !isLeased(record)) && queue.length === 0) {
							break;
						}

						await box.pass(checkEverySeconds);
						silentSeconds += checkEverySeconds;
						// The longest silence: the limit, a heartbeat in the future, the time after which another clock's observation is replaced, an observation that
						// starts that far in the future, and the observation itself. Start times are stored in whole seconds.
						expect(silentSeconds).toBeLessThanOrEqual(900 + 70 + 2 * 140 + 70 + 4 * (checkEverySeconds + 1));
					}

					// Each lease was observed for at least a heartbeat interval plus ten seconds, and its last heartbeat may have been one interval earlier.
					expect(silentSeconds).toBeGreaterThanOrEqual(10);
				},
			),
			{
				numRuns: 80,
				examples: [
					// The clock steps back before and after an observer with another clock starts to observe. Seed -1186794491.
					[
						[
							{kind: 'jump', amount: -121},
							{kind: 'look', amount: 2},
							{kind: 'jump', amount: -97},
						],
						0,
						1,
					],
					// An observation has been running since the last heartbeats. Seed 957157752.
					[
						[
							{kind: 'jump', amount: 1000},
							{kind: 'look', amount: 0},
							{kind: 'pass', amount: 30},
							{kind: 'jump', amount: 200},
							{kind: 'look', amount: 0},
							{kind: 'pass', amount: 29},
						],
						0,
						1,
					],
				],
			},
		);
		// The test proves nothing if no silence is ever observed.
		expect(watches).toBeGreaterThan(0);
	});

	test('is marked as silent in one commit, however many reads there are', async () => {
		let commits = 0;
		const world = await createTestWorld({
			gpuCount: 1,
			wrap: (store) => ({
				...store,
				async commit(plan) {
					commits++;
					return store.commit(plan);
				},
			}),
		});
		world.memory.state.gpus.set(0, peerRecord(world));
		const [viewer, , shifted] = viewersOf(world) as readonly [World, World, World];
		world.pass(901);
		for (let step = 0; step < 69; step++) {
			expect(leaseAt(await readCurrent(step % 2 === 0 ? viewer : shifted), 0)?.silence?.clock).toBe('boot-1');
			world.pass(1);
		}

		expect(commits).toBe(1);
		world.pass(1);
		expect(leaseAt(await readCurrent(viewer), 0)).toBeUndefined();
		expect(commits).toBe(2);
		expect(await historyOf(world.store)).toMatchObject([{endReason: 'heartbeat-lost', endTime: startTime}]);
	});
});

test("the first queue entry gets a GPU about 16 minutes after the last heartbeat of the GPU's lease", async () => {
	const world = await createTestWorld({gpuCount: 1});
	world.memory.state.gpus.set(0, peerRecord(world));
	const answer = await acquire(
		world,
		{requester: bob, count: 1, tenure: {type: 'run'}},
		{waitSeconds: undefined, signal: new AbortController().signal, onProgress: () => undefined},
	);
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
	expect(world.now() - startTime).toBeGreaterThan(970);
	expect(world.now() - startTime).toBeLessThan(973);
});

describe('the usage record of a job whose wrapper and process have died', () => {
	const startOrphan = async () => {
		const world = await createTestWorld({gpuCount: 1});
		await acquireNow(world, {requester: person('alice'), count: 1, tenure: {type: 'run'}}, 'lease');
		await sendHeartbeat(world, withJob(await findJobLease(world, 'lease'), {pid: 2, startTicks: 22}));
		world.processes.set(1, 'dead');
		return world;
	};

	test('ends at the last heartbeat if nobody read the store for days', async () => {
		const world = await startOrphan();
		world.processes.set(2, 'dead');
		world.pass(3 * 86_400);
		await readCurrent(world);
		expect(await historyOf(world.store)).toMatchObject([{endReason: 'holder-died', durationSeconds: 60}]);
	});

	test('ends about when the job was last seen running', async () => {
		const world = await startOrphan();
		let heartbeats = 0;
		let raw = world.memory.state.gpus.get(0);
		for (let second = 0; second < 3600; second += 10) {
			world.pass(10);
			await readCurrent(world);
			heartbeats += world.memory.state.gpus.get(0) === raw ? 0 : 1;
			raw = world.memory.state.gpus.get(0);
		}

		expect(heartbeats).toBeGreaterThan(40);
		expect(heartbeats).toBeLessThanOrEqual(60);
		// A process that cannot see the job must not end its lease either.
		expect(leaseAt(await readCurrent(unseeing(world)), 0)?.silence).toBeUndefined();
		world.processes.set(2, 'dead');
		world.pass(86_400);
		await readCurrent(world);
		const [record] = await historyOf(world.store);
		expect(record).toMatchObject({endReason: 'holder-died'});
		expect(Math.abs(record!.durationSeconds - 3600)).toBeLessThanOrEqual(70);
	});
});

describe('a job on a clone of this machine with the same machine-id', () => {
	const startOnClone = async () => {
		const world = await createTestWorld({gpuCount: 2});
		const clone = {
			...world,
			host: {...world.host, hostname: 'clone', bootId: 'boot-2', monotonic: {...world.host.monotonic, id: 'boot-2'}},
		};
		await acquireNow(clone, {requester: person('alice'), count: 1, ids: [0], tenure: {type: 'run'}}, 'lease');
		return {world, clone, hold: withJob(await findJobLease(clone, 'lease'), {pid: 2, startTicks: 22})};
	};

	const request = {requester: bob, count: 1, tenure: {type: 'run'}} as const;
	const refusal = {code: 'wrong-machine', exitCode: 4};

	test('keeps its lease, and this machine refuses every request while the clone is alive', async () => {
		const {world, clone, hold} = await startOnClone();
		await expect(readForDisplay(world)).rejects.toMatchObject(refusal);
		await expect(acquireNow(world, request, 'other')).rejects.toMatchObject(refusal);
		await expect(reserve(world, {requester: bob, count: 1, durationSeconds: 60})).rejects.toMatchObject(refusal);
		const waiting = {waitSeconds: undefined, signal: new AbortController().signal, onProgress: () => undefined};
		await expect(acquire(world, request, waiting)).rejects.toMatchObject(refusal);
		for (let minute = 0; minute < 60; minute++) {
			world.pass(60);
			expect(await sendHeartbeat(clone, hold)).toMatchObject({kind: 'held'});
			expect(leaseAt(await readCurrent(world), 0)?.leaseId).toBe('lease');
		}

		expect(world.memory.state.queue).toEqual([]);
	});

	test('loses its lease some time after the clone was shut down', async () => {
		const {world} = await startOnClone();
		world.pass(71);
		expect(await acquireNow(world, {...request, ids: [1]}, 'other')).toMatchObject({kind: 'granted', gpus: [1]});
		world.pass(900);
		expect(leaseAt(await readCurrent(world), 0)?.leaseId).toBe('lease');
		world.pass(70);
		expect(leaseAt(await readCurrent(world), 0)).toBeUndefined();
	});

	test('loses its lease if it has sent no heartbeat since this machine booted', async () => {
		const {world} = await startOnClone();
		world.pass(100);
		const restarted = {...world, host: {...world.host, uptimeSeconds: () => 30}};
		expect(leaseAt(await readCurrent(restarted), 0)).toBeUndefined();
		expect(await historyOf(world.store)).toMatchObject([{endReason: 'reboot', endTime: startTime}]);
	});
});

test('a pool can be used only on its own machine, even if the boot id is unknown', async () => {
	const world = await createTestWorld();
	const setMachine = (machine: Readonly<Record<string, string>>): void => {
		world.memory.state.pool = {...world.memory.state.pool, machine: JSON.stringify(machine)};
	};

	setMachine({machine_id: 'other', boot_id: 'no-boot-id-other'});
	const unknown = unseeing(world, {bootId: undefined});
	await expect(readCurrent(unknown)).rejects.toMatchObject({code: 'wrong-machine'});
	await expect(readCurrent(world)).rejects.toMatchObject({code: 'wrong-machine'});
	setMachine({machine_id: 'machine-1'});
	await expect(readCurrent(unknown)).resolves.toMatchObject({pool: {machine: {id: 'machine-1'}}});
});
