/**
GPUs that are broken or in use without a reservation. Entries that wait for them block nobody, and regain their rank when the GPUs are available
again.
*/
import fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import {freshMs} from '../../../../source/core/operations/acquire-now.js';
import {
	isSameNote,
	isServable,
	keepsHoldings,
	outagesSeen,
	usedPatienceSeconds,
} from '../../../../source/core/rules/queue/out-of-service.js';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import {isPossible} from '../../../../source/core/rules/queue/eligible.js';
import {entryFor, holdingsOf, planEntryNote, planJoin} from '../../../../source/core/rules/queue/queue.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import type {GpuReading, QueueEntry, QueueRecord, Snapshot} from '../../../../source/core/model/types.js';
import {usageBlockOf} from '../../../../source/core/rules/usage/usage-block.js';
import {planWithScan} from '../../../../source/core/operations/waiting/waiter-plan.js';
import {stuckText} from '../../../../source/format/queue/why.js';
import {decodeQueueEntry, encodeQueueEntry} from '../../../../source/store/records/index.js';
import {eventually} from '../../../_helpers/eventually.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {checkAuditLog} from '../../../_helpers/store/audit-log.js';
import {
	createTestWorld,
	entryRecord,
	idleReading,
	observationOf,
	person,
	snapshotWith,
	type TestWorld,
} from '../../../_helpers/world.js';
import {beatAll} from '../../operations/waiting/_settle.js';
import {bob, free, hold, start, wants} from '../../operations/waiting/_waiting.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {isLeased} from '../../../_helpers/leased.js';

const gpuCount = 3;

type State = 'fine' | 'broken' | 'used' | 'unread';

const readingOf = (index: number, state: State): GpuReading => {
	switch (state) {
		case 'fine': {
			return idleReading(index);
		}

		case 'broken': {
			return {...idleReading(index), failure: 'GPU has fallen off the bus'};
		}

		case 'used': {
			return {...idleReading(index), memoryUsedMiB: 9000, processes: [{pid: 7, user: 'eve', memoryUsedMiB: 9000}]};
		}

		case 'unread': {
			return {...idleReading(index), memoryUsedMiB: undefined};
		}
	}
};

const seeStates = (world: Pick<TestWorld, 'see'>, states: readonly State[]): void => {
	world.see(() => observationOf(states.map((state, index) => readingOf(index, state))));
};

type Step =
	| {readonly do: 'join'; readonly count: number; readonly id?: number; readonly force: boolean}
	| {readonly do: 'newcomer'; readonly count: number}
	| {readonly do: 'see'; readonly gpu: number; readonly state: State}
	| {readonly do: 'give back'; readonly gpu: number}
	| {readonly do: 'pass'; readonly seconds: number};

const gpu = fc.nat(gpuCount - 1);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant('join' as const),
			count: fc.integer({min: 1, max: gpuCount}),
			id: fc.option(gpu, {nil: undefined}),
			force: fc.constantFrom(false, false, false, true),
		}),
	},
	fc.record({do: fc.constant('newcomer' as const), count: fc.integer({min: 1, max: gpuCount})}),
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant('see' as const),
			gpu,
			state: fc.constantFrom<State>('fine', 'broken', 'used', 'unread'),
		}),
	},
	{weight: 2, arbitrary: fc.record({do: fc.constant('give back' as const), gpu})},
	fc.record({do: fc.constant('pass' as const), seconds: fc.constantFrom(10, 200, 400)}),
);

const root = person('root', 'root', 0);

const entriesOf = ({queue}: Snapshot): ReadonlyArray<Extract<QueueRecord, {kind: 'entry'}>> =>
	queue.filter((record) => record.kind === 'entry');

const outOf = async (world: TestWorld, snapshot: Snapshot) =>
	outagesSeen(snapshot, await world.gpus.observe(), world.memoryThresholdMiB);

/** Lets every waiting request read and commit until no request changes anything. */
async function settle(world: TestWorld): Promise<void> {
	for (let hasChanged = true; hasChanged;) {
		hasChanged = false;
		// The last entry tries first, because grants must not depend on which request reads first.
		for (const {id} of entriesOf(await readCurrent(world)).toReversed()) {
			const snapshot = await readCurrent(world);
			const own = entriesOf(snapshot).find((record) => record.id === id);
			if (own === undefined) {
				continue;
			}

			const {entry} = own;
			const grant = await planWithScan(world, snapshot, {
				request: {
					requester: person(entry.user),
					count: entry.requestedCount,
					ids: entry.requestedIds.length === 0 ? undefined : entry.requestedIds,
					tenure: {type: 'run'},
					force: entry.force,
				},
				leaseId: `lease-${id}`,
				entryId: id,
				scan: async () => world.gpus.observe(),
				readLinks: async () => undefined,
				isScanDue: entry.unavailable !== undefined || holdingsOf(snapshot, id).length > 0,
			});
			if (grant === 'stale') {
				throw new Error('The clock stands still');
			}

			if (grant.kind !== 'nothing') {
				expect(await world.store.commit(grant.plan)).toBe('done');
			} else if (grant.note !== undefined && !isSameNote(grant.note.unavailable, entry.unavailable)) {
				expect(await world.store.commit(planEntryNote(snapshot, own, grant.note, 'here'))).toBe('done');
			} else {
				continue;
			}

			world.pass(0.001);
			hasChanged = true;
		}
	}
}

/** Whether the entry would take this GPU if it were available. */
const couldUse = ({requestedIds}: QueueEntry, index: number): boolean =>
	requestedIds.length === 0 || requestedIds.includes(index);

/** Returns the GPUs in service that are free, or held by an entry that must give them up. */
async function idleGpus(world: TestWorld, snapshot: Snapshot): Promise<readonly number[]> {
	const out = await outOf(world, snapshot);
	const observation = await world.gpus.observe();
	return snapshot.gpus
		.filter((record) => {
			if (out.has(record.index) || record.kind === 'free') {
				return record.kind === 'free' && !out.has(record.index);
			}

			// A GPU that is held by one account and used by another is unavailable.
			if (usageBlockOf(record.index, observation, world.memoryThresholdMiB, undefined) !== undefined) {
				return false;
			}

			const partial = record.kind === 'leased' ? record.lease.partialQueueId : undefined;
			const holder = entriesOf(snapshot).find(({id}) => id === partial);
			return holder !== undefined && !keepsHoldings(holder.entry, snapshot, out);
		})
		.map(({index}) => index);
}

test('an entry that can be served is never overtaken or blocked by an entry that cannot be served', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(anyStep, {minLength: 1, maxLength: 25, size: 'max'}), async (steps) => {
			const world = await createTestWorld({gpuCount});
			const states: State[] = Array.from({length: gpuCount}, () => 'fine');
			seeStates(world, states);
			for (const [stepIndex, step] of steps.entries()) {
				switch (step.do) {
					case 'join': {
						const wanted = step.id === undefined ? {count: step.count} : {count: 1, ids: [step.id]};
						const options = {requester: person(`user${stepIndex}`), wanted, tenure: {type: 'run'} as const};
						const entry = entryFor(
							{...options, id: `entry-${stepIndex}`, force: step.force, waitSeconds: undefined},
							world.host,
							world.now(),
						);
						await world.store.commit(planJoin(entry, 'box'));
						break;
					}

					case 'newcomer': {
						const before = await readCurrent(world);
						const out = await outOf(world, before);
						const idle = await idleGpus(world, before);
						const answer = await reserve(world, {requester: root, count: step.count, durationSeconds: 1e6});
						const servable = entriesOf(before).filter(({entry}) => isServable(entry, before.gpus, out));
						const claimed = (index: number) => servable.some(({entry}) => couldUse(entry, index));
						// A new request does not overtake an entry that can be served, and is not refused because of one that cannot.
						expect(answer.kind === 'granted' ? answer.gpus.filter((index) => claimed(index)) : []).toEqual([]);
						expect(answer.kind).toBe(
							idle.filter((index) => !claimed(index)).length >= step.count ? 'granted' : 'refused',
						);
						break;
					}

					case 'see': {
						states[step.gpu] = step.state;
						break;
					}

					case 'give back': {
						await release(world, root, {by: 'gpus', ids: [step.gpu]});
						break;
					}

					case 'pass': {
						world.pass(step.seconds);
						await beatAll(world);
						break;
					}
				}

				const rested = await readCurrent(world);
				const outBefore = await outOf(world, rested);
				await settle(world);
				const snapshot = await readCurrent(world);
				const out = await outOf(world, snapshot);
				const idle = await idleGpus(world, snapshot);
				for (const [position, {entry, id}] of entriesOf(snapshot).entries()) {
					if (!isPossible(entry, gpuCount) || !isServable(entry, snapshot.gpus, out)) {
						continue;
					}

					// No free GPU could serve the entry.
					expect(idle.filter((index) => couldUse(entry, index))).toEqual([]);
					if (!isServable(entry, rested.gpus, outBefore)) {
						continue;
					}

					// Later entries got nothing that this entry could use.
					const behind = new Set(
						entriesOf(rested)
							.slice(entriesOf(rested).findIndex((record) => record.id === id) + 1)
							.map((record) => `lease-${record.id}`),
					);
					const gone = snapshot.gpus.filter(
						(record) =>
							isLeased(record) &&
							couldUse(entry, record.index) &&
							behind.has(record.lease.leaseId ?? '') &&
							rested.gpus[record.index]!.kind === 'free',
					);
					expect(gone, `${position}`).toEqual([]);
				}

				await checkAuditLog(world, snapshot);
			}
		}),
		{numRuns: 80},
	);
});

/** Creates a pool of three GPUs in which alice waits for all of them and holds 0 and 1. */
async function waitForAll() {
	const world = await createLiveWorld(gpuCount);
	const states: State[] = ['fine', 'fine', 'fine'];
	seeStates(world, states);
	await hold(world, [2]);
	const waiter = start(world, wants({count: 3}));
	onTestFinished(async () => {
		waiter.abort();
		await waiter.answer;
	});
	await eventually(() => waiter.progress.some((progress) => progress.kind === 'waiting' && progress.held.length === 2));
	// Waits until the scan of the request is too old to be used again.
	const seenAtMs = world.clock.monotonicMs();
	await eventually(() => world.clock.monotonicMs() - seenAtMs > freshMs);
	return {world, states, waiter};
}

const bobsFriend = {...bob, account: 'carol', label: 'carol'};

test('other requests can take GPUs from a queue entry while a GPU that the entry requires is broken', async () => {
	const {world, states} = await waitForAll();
	const newcomer = {requester: bobsFriend, count: 1, durationSeconds: 3600};
	expect(await reserve(world, newcomer)).toMatchObject({kind: 'refused'});
	states[2] = 'broken';
	await free(world, 2);
	expect(await reserve(world, newcomer)).toMatchObject({kind: 'granted', gpus: [0]});
	const behind = start(world, wants({requester: bobsFriend}));
	expect(await behind.answer).toMatchObject({kind: 'granted', gpus: [1]});
	await eventually(async () => entriesOf(await world.memory.read())[0]?.entry.unavailable !== undefined);
	const [row] = queueRows(await world.memory.read());
	expect(stuckText(row!)).toBe(
		'waits for GPU 2, which is out of service: GPU has fallen off the bus; others can use its GPUs in the meantime',
	);
	expect((await world.memory.audit()).filter(({kind}) => kind === 'ended').map(({reason}) => reason)).toEqual([
		'drained',
		'drained',
	]);
});

test('a queue entry regains its rank when its required GPU is repaired', async () => {
	const {world, states, waiter} = await waitForAll();
	states[2] = 'broken';
	await free(world, 2);
	expect(await reserve(world, {requester: bobsFriend, count: 2, durationSeconds: 3600})).toMatchObject({gpus: [0, 1]});
	await eventually(async () => entriesOf(await world.memory.read())[0]?.entry.unavailable !== undefined);
	states[2] = 'fine';
	const behind = start(world, wants({requester: bobsFriend}));
	await behind.waits();
	await eventually(async () => holdingsOf(await world.memory.read(), world.memory.state.queue[0]!).length === 1);
	expect(entriesOf(await world.memory.read())[0]?.entry.unavailable).toBeUndefined();
	await release(world, bobsFriend, {by: 'gpus', ids: [0, 1]});
	expect(await waiter.answer).toMatchObject({kind: 'granted', gpus: [0, 1, 2]});
	await release(world, bob, {by: 'gpus', ids: [1]});
	expect(await behind.answer).toMatchObject({kind: 'granted', gpus: [1]});
});

/** Adds an entry of carol that holds these GPUs. By default, it requests all GPUs. */
async function standing(world: TestWorld, held: readonly number[], {id = 'all', count = gpuCount} = {}): Promise<void> {
	const options = {id, requester: person('carol'), wanted: {count}, tenure: {type: 'run'} as const};
	await world.store.commit(planJoin(entryFor({...options, waitSeconds: undefined}, world.host, world.now()), 'box'));
	const lease = {
		user: 'carol',
		type: 'run' as const,
		startTime: world.now(),
		leaseId: `lease-${id}`,
		partialQueueId: id,
	};
	await world.memory.commit({...emptyPlan, writes: held.map((index) => ({kind: 'lease', index, lease}) as const)});
}

test.each(['used', 'unread'] as const)(
	'while a required GPU is out of service (%s), other requests can take held GPUs after five minutes',
	async (state) => {
		const world = await createTestWorld({gpuCount});
		await standing(world, [0]);
		seeStates(world, ['fine', 'fine', state]);
		const ask = async () => reserve(world, {requester: bob, count: 1, durationSeconds: 3600});
		expect(await ask()).toMatchObject({kind: 'granted', gpus: [1]});
		await settle(world);
		const [row] = queueRows(await readCurrent(world));
		expect(row).toMatchObject({outOfService: [2], keepsHoldings: true, held: [0]});
		expect(stuckText(row!)).toContain('others go first, and after 5m they get the GPUs that it holds');
		world.pass(usedPatienceSeconds - 1);
		expect(await ask()).toMatchObject({kind: 'refused'});
		await settle(world);
		world.pass(2);
		expect(await ask()).toMatchObject({kind: 'granted', gpus: [0]});
	},
);

test('a later entry takes held GPUs only after a required GPU was in unreserved use for five minutes', async () => {
	const world = await createTestWorld({gpuCount});
	await reserve(world, {requester: bob, count: 1, ids: [1], durationSeconds: 36_000});
	await standing(world, [0]);
	seeStates(world, ['fine', 'fine', 'used']);
	await settle(world);
	await standing(world, [], {id: 'later', count: 1});
	const holder = async (): Promise<unknown> => {
		await settle(world);
		return (await readCurrent(world)).gpus[0];
	};

	expect(await holder()).toMatchObject({lease: {leaseId: 'lease-all'}});
	world.pass(usedPatienceSeconds - 1);
	expect(await holder()).toMatchObject({lease: {leaseId: 'lease-all'}});
	world.pass(2);
	expect(await holder()).toMatchObject({lease: {leaseId: 'lease-later'}});
});

test('a held GPU that breaks is released and replaced by another GPU', async () => {
	const world = await createTestWorld({gpuCount});
	await reserve(world, {requester: bob, count: 2, ids: [1, 2], durationSeconds: 36_000});
	await standing(world, [0], {count: 2});
	seeStates(world, ['broken', 'fine', 'fine']);
	await release(world, bob, {by: 'gpus', ids: [1]});
	await settle(world);
	expect(queueRows(await readCurrent(world))).toMatchObject([{held: [1]}]);
	await release(world, bob, {by: 'gpus', ids: [2]});
	await settle(world);
	expect((await readCurrent(world)).gpus).toMatchObject([
		{kind: 'free', ended: {reason: 'queue-left'}},
		{kind: 'leased', lease: {leaseId: 'lease-all'}},
		{kind: 'leased', lease: {leaseId: 'lease-all'}},
	]);
});

test('a queue entry whose held GPU is broken blocks nobody, and continues after the repair', async () => {
	const world = await createTestWorld({gpuCount});
	await reserve(world, {requester: bob, count: 1, ids: [2], durationSeconds: 36_000});
	await standing(world, [0, 1]);
	seeStates(world, ['broken', 'fine', 'fine']);
	await release(world, bob, {by: 'gpus', ids: [2]});
	await settle(world);
	expect(await reserve(world, {requester: bob, count: 2, durationSeconds: 36_000})).toMatchObject({gpus: [1, 2]});
	seeStates(world, ['fine', 'fine', 'fine']);
	await release(world, bob, {by: 'gpus', ids: [1, 2]});
	await settle(world);
	expect((await readCurrent(world)).gpus.filter((record) => isLeased(record))).toHaveLength(gpuCount);
	expect(entriesOf(await readCurrent(world))).toEqual([]);
});

test('a queue entry that holds too many GPUs after a repair is granted only as many as it requested', async () => {
	const world = await createTestWorld({gpuCount});
	await standing(world, [0, 1, 2], {count: 2});
	await settle(world);
	expect((await readCurrent(world)).gpus).toMatchObject([{kind: 'leased'}, {kind: 'leased'}, {kind: 'free'}]);
});

test.each(['used', 'unread'] as const)(
	'if a later entry holds an out-of-service GPU (%s), the GPU counts as unavailable only for earlier entries',
	async (state) => {
		const world = await createTestWorld({gpuCount});
		await standing(world, [0, 1]);
		await standing(world, [2], {id: 'later', count: 2});
		seeStates(world, ['fine', 'fine', state]);
		await settle(world);
		const [all, later] = entriesOf(await readCurrent(world));
		expect(all?.entry.unavailable).toMatchObject([{gpu: 2, kind: state === 'used' ? 'used' : 'unknown'}]);
		expect(later?.entry.unavailable).toBeUndefined();
		world.pass(usedPatienceSeconds + 1);
		await settle(world);
		expect(entriesOf(await readCurrent(world)).map(({id}) => id)).toEqual(['all']);
	},
);

test('the time of unreserved use starts again after an interruption', async () => {
	const world = await createTestWorld({gpuCount});
	await reserve(world, {requester: bob, count: 1, ids: [1], durationSeconds: 36_000});
	await standing(world, [0]);
	seeStates(world, ['fine', 'fine', 'used']);
	await settle(world);
	world.pass(usedPatienceSeconds + 1);
	seeStates(world, ['fine', 'fine', 'fine']);
	await settle(world);
	expect(holdingsOf(await readCurrent(world), 'all').map(({index}) => index)).toEqual([0, 2]);
});

test('the time of unreserved use starts when the first queue entry recorded the use', () => {
	const saw = (id: string, kind: 'used' | 'broken', since: number): QueueRecord =>
		entryRecord(id, {requestedIds: [0], unavailable: [{gpu: 0, kind, since}]});
	const sinceIn = (...queue: readonly QueueRecord[]) =>
		outagesSeen(
			snapshotWith({gpus: [{kind: 'free', index: 0, raw: undefined}], queue}),
			observationOf([readingOf(0, 'used')]),
			1024,
		).get(0)?.since;
	expect(sinceIn(saw('a', 'used', 100), saw('b', 'used', 50), saw('c', 'used', 75))).toBe(50);
	expect(sinceIn(saw('a', 'broken', 100))).toBeUndefined();
});

test('a failed scan marks no GPU as broken', async () => {
	const world = await createTestWorld({gpuCount});
	await standing(world, [0]);
	world.see(() => observationOf([], {failure: {message: 'nvidia-smi does not answer'}}));
	expect(await reserve(world, {requester: bob, count: 1, durationSeconds: 3600})).toMatchObject({
		kind: 'refused',
		available: 0,
	});
	await settle(world);
	expect(queueRows(await readCurrent(world))[0]).toMatchObject({outOfService: [], held: [0]});
});

test('a queue entry with --force keeps its claim on broken GPUs, because --force allows broken GPUs', async () => {
	const world = await createTestWorld({gpuCount});
	await reserve(world, {requester: bob, count: 1, ids: [2], durationSeconds: 3600});
	const options = {id: 'forced', requester: person('carol'), wanted: {count: 3}, tenure: {type: 'run'} as const};
	const entry = entryFor({...options, force: true, waitSeconds: undefined}, world.host, world.now());
	await world.store.commit(planJoin(entry, 'box'));
	seeStates(world, ['fine', 'fine', 'broken']);
	expect(await reserve(world, {requester: bob, count: 1, durationSeconds: 3600})).toMatchObject({kind: 'refused'});
	await settle(world);
	await release(world, bob, {by: 'gpus', ids: [2]});
	await settle(world);
	expect((await readCurrent(world)).gpus.map((record) => isLeased(record) && record.lease.leaseId)).toEqual([
		'lease-forced',
		'lease-forced',
		'lease-forced',
	]);
});

test('only the first of several entries that wait for a broken GPU keeps scanning', async () => {
	const world = await createLiveWorld(gpuCount);
	seeStates(world, ['fine', 'fine', 'broken']);
	const first = start(world, wants({count: 3}));
	await eventually(async () => entriesOf(await world.memory.read())[0]?.entry.unavailable !== undefined);
	const others = Array.from({length: 8}, () => start(world, wants({count: 3})));
	await Promise.all(others.map(async (waiter) => waiter.waits()));
	// Each request scanned once before it joined, to see whether it could be served at once.
	const notes = entriesOf(await world.memory.read()).filter(({entry}) => entry.unavailable !== undefined);
	expect(notes).toHaveLength(1);
	for (const waiter of [first, ...others]) {
		waiter.abort();
		await waiter.answer;
	}
});

test('decodeQueueEntry reads the unavailable GPUs that an entry has recorded', () => {
	const entry: QueueEntry = {
		...entryFor(
			{id: 'a', requester: bob, wanted: {count: 3}, tenure: {type: 'run'}, force: true, waitSeconds: undefined},
			{hostname: 'box', machineId: 'm', bootId: 'b', self: {pid: 1}} as TestWorld['host'],
			1_800_000_000,
		),
		unavailable: [{gpu: 2, kind: 'broken', detail: 'GPU has fallen\u{1B}[31m off', since: 1_800_000_000}],
	};
	const raw = encodeQueueEntry(entry);
	expect(decodeQueueEntry('a', raw)).toMatchObject({
		kind: 'entry',
		entry: {force: true, unavailable: entry.unavailable},
	});
	const later = raw.replace('"broken"', '"haunted"');
	expect(later).not.toBe(raw);
	expect(decodeQueueEntry('a', later)).toMatchObject({kind: 'entry', entry: {unavailable: undefined}});
});
