/**
Random requests for MIG instances and whole GPUs of one machine. Nothing is granted twice or lost, and no GPU in MIG mode is granted as a whole.
*/
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {holdingsIn, partKey, type Holding} from '../../../../source/core/rules/leases/holdings.js';
import {fitsProfile} from '../../../../source/core/rules/mig/profile.js';
import type {AcquireRequest, Wanted} from '../../../../source/core/rules/request/request.js';
import {wantedOf} from '../../../../source/core/rules/queue/eligible.js';
import type {GpuReading, Snapshot} from '../../../../source/core/model/types.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {splitReading} from '../../../_helpers/mig-box.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';
import {entriesOf, requestOf, settle} from './_settle.js';

const gpuCount = 4;
const layouts = [['1g.10gb', '1g.10gb', '3g.40gb'], ['1g.10gb', '2g.20gb'], ['7g.80gb']] as const;

/** The MIG layout of a GPU, or `whole`. With `isPending`, the GPU waits for a reset. */
type Mode = {readonly layout: 0 | 1 | 2 | 'whole'; readonly isPending: boolean};

const anyMode: fc.Arbitrary<Mode> = fc.record({
	layout: fc.constantFrom<Mode['layout']>('whole', 0, 1, 2),
	isPending: fc.constantFrom(false, false, false, true),
});

const anyWanted: fc.Arbitrary<Wanted> = fc.oneof(
	{weight: 2, arbitrary: fc.integer({min: 1, max: 2}).map((count) => ({count}))},
	{weight: 1, arbitrary: fc.nat(gpuCount - 1).map((id) => ({count: 1, ids: [id]}))},
	{
		weight: 4,
		arbitrary: fc.record({
			count: fc.integer({min: 1, max: 3}),
			need: fc.record({mig: fc.record({profile: fc.constantFrom('1g.10gb', '2g.20gb', '3g.40gb')})}),
		}),
	},
	{
		weight: 2,
		arbitrary: fc
			.uniqueArray(fc.record({gpu: fc.nat(1), number: fc.nat(2)}), {
				minLength: 1,
				maxLength: 2,
				selector: ({gpu, number}) => `${gpu}:${number}`,
			})
			.map((instances) => ({count: instances.length, need: {mig: {instances}}})),
	},
);

type Step =
	| {readonly do: 'join' | 'newcomer'; readonly wanted: Wanted; readonly force: boolean}
	/** `newcomer`: asks before the waiters have looked. */
	| {readonly do: 'give back'; readonly position: number; readonly newcomer: Wanted | undefined}
	| {readonly do: 'change'; readonly gpu: number; readonly mode: Mode};

const anyStep: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({do: fc.constant('join' as const), wanted: anyWanted, force: fc.constant(false)}),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant('newcomer' as const),
			wanted: anyWanted,
			force: fc.constantFrom(false, false, true),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('give back' as const),
			position: fc.nat(11),
			newcomer: fc.option(anyWanted, {nil: undefined}),
		}),
	},
	{weight: 1, arbitrary: fc.record({do: fc.constant('change' as const), gpu: fc.nat(gpuCount - 1), mode: anyMode})},
);

const isWholeNow = ({isMigEnabled, isMigPending}: GpuReading): boolean =>
	isMigEnabled !== true && isMigPending !== true;

/** Returns the keys of all parts that could serve a request, by simple rules. */
function partsFor({ids, need}: Wanted, box: readonly GpuReading[]): readonly string[] {
	const mig = need?.mig;
	return mig === undefined
		? box.filter((gpu) => isWholeNow(gpu) && (ids?.includes(gpu.index) ?? true)).map(({index}) => String(index))
		: box
				.filter(({isMigPending}) => isMigPending !== true)
				.flatMap(({index, migInstances = []}) =>
					migInstances
						.filter(({profile, number}) =>
							'profile' in mig
								? fitsProfile(profile!, mig.profile)
								: mig.instances.some((name) => name.gpu === index && name.number === number),
						)
						.map(({uuid}) => partKey(index, {mig: {uuid: uuid!}})),
				);
}

const keyOf = ({index, lease}: Holding): string => partKey(index, lease);

/** Checks that no entry waits although parts that nobody claims could serve it. */
function checkNobodyIsHeldUp(snapshot: Snapshot, box: readonly GpuReading[]): void {
	const entries = entriesOf(snapshot);
	const wantedBefore = new Set<string>();
	for (const [position, {id, entry}] of entries.entries()) {
		const parts = partsFor(wantedOf(entry), box);
		const behind = new Set(entries.slice(position).map((record) => record.id));
		const firm = holdingsIn(snapshot.gpus).filter(({lease}) => !behind.has(lease.partialQueueId ?? ''));
		// A lease of the whole GPU from before MIG mode conflicts with its instances.
		const isInTheWay = (part: string): boolean =>
			firm.some((holding) => {
				const [gpu, ...uuid] = part.split(':');
				return (
					keyOf(holding) === part ||
					(String(holding.index) === gpu && (uuid.length === 0 || holding.lease.mig === undefined))
				);
			});
		const loose = parts.filter((part) => !wantedBefore.has(part) && !isInTheWay(part));
		expect(
			loose.length < entry.requestedCount || parts.length < entry.requestedCount,
			`${id}: ${loose.join(' ')}`,
		).toBe(true);
		for (const part of parts.length < entry.requestedCount ? [] : parts) {
			wantedBefore.add(part);
		}
	}
}

/** Checks that later entries got nothing that an earlier entry could have used. */
function checkNobodyIsOvertaken(before: Snapshot, after: Snapshot, box: readonly GpuReading[]): void {
	const earlier = entriesOf(before).map(({id}) => id);
	const known = new Set(holdingsIn(before.gpus).map((holding) => `${keyOf(holding)} ${holding.lease.leaseId}`));
	for (const {id, entry} of entriesOf(after)) {
		const behind = new Set(earlier.slice(earlier.indexOf(id) + 1).map((other) => `lease-${other}`));
		const parts = partsFor(wantedOf(entry), box);
		const taken = holdingsIn(after.gpus).filter(
			(holding) =>
				behind.has(holding.lease.leaseId ?? '') &&
				!known.has(`${keyOf(holding)} ${holding.lease.leaseId}`) &&
				parts.length >= entry.requestedCount &&
				parts.includes(keyOf(holding)),
		);
		expect(
			taken.map((holding) => keyOf(holding)),
			`${id} is overtaken`,
		).toEqual([]);
	}
}

/** Checks that each lease has its own part that meets the request, and that each granted GPU is in the right mode. */
function checkHoldings(before: readonly Holding[], snapshot: Snapshot, box: readonly GpuReading[]): void {
	const holdings = holdingsIn(snapshot.gpus);
	const keys = holdings.map((holding) => keyOf(holding));
	expect(new Set(keys).size, keys.join(' ')).toBe(keys.length);
	const known = new Set(before.map((holding) => `${keyOf(holding)} ${holding.lease.leaseId}`));
	const fresh = holdings.filter((holding) => !known.has(`${keyOf(holding)} ${holding.lease.leaseId}`));
	for (const {index, lease} of fresh) {
		const {isMigPending, migInstances = []} = box[index]!;
		expect(isMigPending).toBeUndefined();
		expect(
			migInstances.map(({uuid}) => uuid).includes(lease.mig?.uuid) ||
				(lease.mig === undefined && isWholeNow(box[index]!)),
		).toBe(true);
		const others = holdings.filter((other) => other.index === index && other.lease.leaseId !== lease.leaseId);
		expect(
			others.every((other) => (other.lease.mig === undefined) === (lease.mig === undefined) && lease.mig !== undefined),
		).toBe(true);
	}
}

/** Checks that replaying the audit log produces exactly the current leases of MIG instances. */
async function checkAudit(world: TestWorld, snapshot: Snapshot): Promise<void> {
	const held = new Set<string>();
	for (const {kind, leaseId, gpus, instances} of await world.store.audit()) {
		const parts = instances?.map(({gpu, ...mig}) => partKey(gpu, {mig})) ?? gpus.map(String);
		for (const part of leaseId === undefined ? [] : parts) {
			if (kind === 'granted' || kind === 'held') {
				held.add(`${part} ${leaseId}`);
			} else if (['released', 'expired', 'ended'].includes(kind)) {
				expect(held.delete(`${part} ${leaseId}`), `${part} ${leaseId} ${kind}`).toBe(true);
			}
		}
	}

	const live = holdingsIn(snapshot.gpus).map((holding) => `${keyOf(holding)} ${holding.lease.leaseId}`);
	expect([...held].toSorted()).toEqual(live.toSorted());
}

async function createBox() {
	const world = await createTestWorld({gpuCount});
	const modes: Mode[] = [0, 1, 'whole', 'whole'].map((layout) => ({
		layout: layout as Mode['layout'],
		isPending: false,
	}));
	const generations = [0, 0, 0, 0];
	const box = (): readonly GpuReading[] =>
		modes.map(({layout, isPending}, index) => ({
			...(layout === 'whole' ? idleReading(index) : splitReading(index, layouts[layout], generations[index])),
			...(isPending && {isMigPending: true}),
		}));
	world.see(() => observationOf(box()));
	return {
		world,
		box,
		change(gpu: number, mode: Mode): void {
			modes[gpu] = mode;
			generations[gpu]!++;
		},
	};
}

/** Checks that an error means that the request is impossible. */
function checkImpossible(error: unknown, wanted: Wanted, box: readonly GpuReading[]): void {
	expect(error).toBeInstanceOf(CanhazgpuError);
	expect(error).toMatchObject({code: 'impossible', hint: expect.any(String) as string});
	expect(partsFor(wanted, box).length).toBeLessThan(wanted.count);
}

/** Requests GPUs without waiting, and checks that the request gets parts that nobody claims, or nothing. */
async function ask(
	world: TestWorld,
	{
		request,
		leaseId,
		before,
		box,
	}: {
		readonly request: AcquireRequest;
		readonly leaseId: string;
		readonly before: Snapshot;
		readonly box: readonly GpuReading[];
	},
): Promise<void> {
	const serves = partsFor(request, box);
	// An entry with too few known candidates claims nothing.
	const claimed = new Set(
		entriesOf(before)
			.map(({entry}) => ({entry, parts: partsFor(wantedOf(entry), box)}))
			.filter(({entry, parts}) => parts.length >= entry.requestedCount)
			.flatMap(({parts}) => parts),
	);
	let answer: Awaited<ReturnType<typeof acquireNow>>;
	try {
		answer = await acquireNow(world, request, leaseId);
	} catch (error) {
		checkImpossible(error, request, box);
		return;
	}

	const got = holdingsIn((await readCurrent(world)).gpus)
		.filter(({lease}) => lease.leaseId === leaseId)
		.map((holding) => keyOf(holding));
	expect(got).toHaveLength(answer.kind === 'granted' ? request.count : 0);
	expect(got.filter((part) => !serves.includes(part) || claimed.has(part))).toEqual([]);
}

/** A request for each part of the machine. */
const everything: readonly Wanted[] = [
	...[2, 3].map((id) => ({count: 1, ids: [id]})),
	...[0, 1, 2].map((number) => ({count: 1, need: {mig: {instances: [{gpu: 0, number}]}}})),
	...[0, 1].map((number) => ({count: 1, need: {mig: {instances: [{gpu: 1, number}]}}})),
];

test('random requests for MIG instances and whole GPUs never overtake or block each other', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.boolean(),
			fc.array(anyStep, {minLength: 1, maxLength: 16, size: 'max'}),
			async (isFull, steps) => {
				const {world, box, change} = await createBox();
				for (const wanted of isFull ? everything : []) {
					expect(await acquireNow(world, requestOf('first', wanted), world.clock.uuid())).toMatchObject({
						kind: 'granted',
					});
				}

				for (const [index, step] of steps.entries()) {
					const before = await readCurrent(world);
					const firm = holdingsIn(before.gpus).filter(({lease}) => lease.partialQueueId === undefined);
					let given: Holding | undefined;
					switch (step.do) {
						case 'join':
						case 'newcomer': {
							const request = requestOf(`user${index}`, step.wanted, step.force);
							if (step.do === 'newcomer') {
								await ask(world, {request, leaseId: `newcomer-${index}`, before, box: box()});
								break;
							}

							const observation = await world.gpus.observe();
							try {
								await joinQueue(world, {id: `entry-${index}`, request, waitSeconds: undefined, observation});
							} catch (error) {
								checkImpossible(error, step.wanted, box());
							}

							break;
						}

						case 'give back': {
							given = firm[step.position % Math.max(1, firm.length)];
							if (given !== undefined) {
								await release(world, person('root', 'root', 0), {by: 'leases', leases: [given]});
							}

							if (step.newcomer !== undefined) {
								const request = requestOf(`user${index}`, step.newcomer);
								await ask(world, {request, leaseId: `newcomer-${index}`, before, box: box()});
							}

							break;
						}

						case 'change': {
							change(step.gpu, step.mode);
							break;
						}
					}

					const rested = await readCurrent(world);
					checkHoldings(holdingsIn(before.gpus), rested, box());
					await settle(world, {canBecomeImpossible: true});
					const after = await readCurrent(world);
					checkHoldings(holdingsIn(rested.gpus), after, box());
					checkNobodyIsOvertaken(rested, after, box());
					if (box().every(({isMigPending}) => isMigPending !== true)) {
						checkNobodyIsHeldUp(after, box());
					}

					const live = new Set(holdingsIn(after.gpus).map((holding) => `${keyOf(holding)} ${holding.lease.leaseId}`));
					const lost = firm.filter(
						(holding) => holding !== given && !live.has(`${keyOf(holding)} ${holding.lease.leaseId}`),
					);
					expect(lost.map((holding) => keyOf(holding))).toEqual([]);
					await checkAudit(world, after);
				}

				for (const gpu of [0, 1, 2, 3]) {
					change(gpu, {layout: gpu < 2 ? 0 : 'whole', isPending: false});
				}

				for (let round = 0; entriesOf(await readCurrent(world)).length > 0; round++) {
					expect(round).toBeLessThan(steps.length + 2);
					await release(world, person('root', 'root', 0), {by: 'gpus', ids: [0, 1, 2, 3]});
					await settle(world, {canBecomeImpossible: true});
				}
			},
		),
		{numRuns: 40},
	);
});

test('a waiting request gets a MIG instance that an administrator creates during the wait', async () => {
	const {world, change} = await createBox();
	const large: Wanted = {count: 1, need: {mig: {profile: '3g.40gb'}}};
	await acquireNow(world, requestOf('alice', large), 'first');
	let reads = 0;
	const answer = await acquire(world, requestOf('bob', large), {
		waitSeconds: undefined,
		signal: new AbortController().signal,
		onProgress() {
			reads++;
			change(1, {layout: 2, isPending: false});
		},
	});
	expect(reads).toBeGreaterThan(0);
	expect(answer).toMatchObject({kind: 'granted', gpus: [1], instances: [{gpu: 1, number: 0, profile: '7g.80gb'}]});
});

// A random history found this case: seed 1584282707.
test('a new MIG instance goes to the first request in the queue, not to the request that first notices the instance', async () => {
	const {world, box, change} = await createBox();
	for (const wanted of everything) {
		await acquireNow(world, requestOf('first', wanted), world.clock.uuid());
	}

	const small = (count: number): Wanted => ({count, need: {mig: {profile: '1g.10gb'}}});
	const observation = await world.gpus.observe();
	for (const [id, count] of [
		['entry-1', 1],
		['entry-2', 3],
	] as const) {
		const request = requestOf(id, small(count));
		await joinQueue(world, {id, request, waitSeconds: undefined, observation});
	}

	change(1, {layout: 0, isPending: false});
	const before = await readCurrent(world);
	expect(await acquireNow(world, requestOf('carol', small(1)), 'newcomer')).toMatchObject({kind: 'refused'});
	// The last entry in the queue reads first.
	await settle(world);
	const after = await readCurrent(world);
	checkNobodyIsOvertaken(before, after, box());
	expect(entriesOf(after).map(({id}) => id)).toEqual(['entry-2']);
});
