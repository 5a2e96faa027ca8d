/**
Random histories of a machine with MIG GPUs and GPUs that are leased alone or shared. Some are drained, broken or used without a reservation.
`checks` judges each step by simple rules.
*/
import fc from 'fast-check';
import {expect} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {drain, undrain} from '../../../../source/core/operations/pool/drain.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {extend, release} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {undoableOf, undoRelease} from '../../../../source/core/operations/undo.js';
import {leaveQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import type {GpuReading, Snapshot} from '../../../../source/core/model/types.js';
import {holdingsIn, holdingsOn, partKey, type Holding} from '../../../../source/core/rules/leases/holdings.js';
import {fitsProfile} from '../../../../source/core/rules/mig/profile.js';
import {wantedOf} from '../../../../source/core/rules/queue/eligible.js';
import type {Wanted} from '../../../../source/core/rules/request/request.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {splitReading} from '../../../_helpers/mig-box.js';
import {idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';
import {beatAll, entriesOf, requestOf, settle, type EntryRecord} from './_settle.js';

export const gpuCount = 4;
const layouts = [
	['1g.10gb', '1g.10gb', '3g.40gb'],
	['1g.10gb', '2g.20gb'],
] as const;
const capacityMiB = idleReading(0).memoryTotalMiB!;
const thresholdMiB = 1024;
const root = person('root', 'root', 0);

const anyWanted: fc.Arbitrary<Wanted> = fc.oneof(
	fc.constantFrom(1, 1, 2).map((count) => ({count})),
	fc.constantFrom(2, 3).map((id) => ({count: 1, ids: [id]})),
	fc.record({
		count: fc.constantFrom(1, 2, 2),
		need: fc.record({shareMiB: fc.constantFrom(10_000, 30_000, 60_000)}),
	}),
	fc
		.tuple(fc.constantFrom(2, 3), fc.constantFrom(10_000, 45_000))
		.map(([id, shareMiB]) => ({count: 1, ids: [id], need: {shareMiB}})),
	fc.record({
		count: fc.integer({min: 1, max: 3}),
		need: fc.record({mig: fc.record({profile: fc.constantFrom('1g.10gb', '2g.20gb', '3g.40gb')})}),
	}),
	fc
		.uniqueArray(fc.constantFrom('0:0', '0:1', '0:2', '1:0', '1:1'), {minLength: 1, maxLength: 2})
		.map((names) => names.map((name) => ({gpu: Number(name[0]), number: Number(name[2])})))
		.map((instances) => ({count: instances.length, need: {mig: {instances}}})),
);

const gpu = fc.nat(gpuCount - 1);
const position = fc.nat(11);

const anyStep = fc.oneof(
	{weight: 10, arbitrary: fc.record({do: fc.constant('join' as const), wanted: anyWanted})},
	{weight: 3, arbitrary: fc.record({do: fc.constant('newcomer' as const), wanted: anyWanted})},
	{
		weight: 10,
		arbitrary: fc.record({
			do: fc.constantFrom('give back' as const, 'give back' as const, 'give back' as const, 'undo' as const),
			position,
		}),
	},
	{
		weight: 6,
		arbitrary: fc.record({
			do: fc.constant('squat' as const),
			gpu,
			/** The number of the MIG instance, if the GPU is in MIG mode. */
			number: fc.nat(2),
			memoryMiB: fc.constantFrom(0, 500, 25_000, 60_000, 60_000),
		}),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant('condition' as const),
			gpu,
			condition: fc.constantFrom('fine' as const, 'fine' as const, 'broken' as const, 'pending' as const),
		}),
	},
	{weight: 2, arbitrary: fc.record({do: fc.constantFrom('drain' as const, 'undrain' as const), gpu})},
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constantFrom('leave' as const, 'die' as const, 'stop' as const, 'wake' as const, 'extend' as const),
			position,
		}),
	},
	{weight: 1, arbitrary: fc.record({do: fc.constant('most' as const), mostShares: fc.constantFrom(1, 2, 4)})},
	{weight: 1, arbitrary: fc.record({do: fc.constant('pass' as const), seconds: fc.constantFrom(10, 200, 400)})},
);

type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

/** With `isFull`, the whole machine is leased at the start. */
export type History = {readonly isFull: boolean; readonly steps: readonly Step[]};

export const anyHistory: fc.Arbitrary<History> = fc.record({
	isFull: fc.constantFrom(true, true, false),
	steps: fc.array(anyStep, {minLength: 1, maxLength: 30, size: 'max'}),
});

type Condition = 'fine' | 'broken' | 'pending';

/** The actual state of the machine, which scans report. */
type Box = {
	readonly squats: Map<string, number>;
	readonly conditions: Condition[];
	mostShares: number;
};

const isSplit = (index: number): boolean => index < layouts.length;

const uuidOf = (index: number, number: number): string => `MIG-${index}-${number}`;

/** Returns a reading. The temperatures differ, so that choices do not depend on time. */
function readingOf(index: number, {squats, conditions}: Box): GpuReading {
	const layout = layouts[index];
	const condition = conditions[index]!;
	const used = (key: string): number => squats.get(key) ?? 0;
	const eve = (memoryUsedMiB: number, pid: number) => (memoryUsedMiB === 0 ? [] : [{pid, user: 'eve', memoryUsedMiB}]);
	const base: GpuReading =
		layout === undefined
			? {
					...idleReading(index),
					memoryUsedMiB: 3 + used(String(index)),
					processes: eve(used(String(index)), 900 + index),
				}
			: {
					...splitReading(index, layout),
					processes: layout.flatMap((_, number) =>
						eve(used(uuidOf(index, number)), 910 + 10 * index + number).map((process) => ({
							...process,
							gpuInstanceId: number + 1,
							computeInstanceId: 0,
						})),
					),
				};
	return {
		...base,
		temperatureCelsius: 30 + index,
		...(layout !== undefined && {
			migInstances: base.migInstances!.map((instance) => ({
				...instance,
				memoryUsedMiB: 10 + used(instance.uuid!),
			})),
		}),
		...(condition === 'broken' && {failure: 'GPU has fallen off the bus'}),
		...(condition === 'pending' && {isMigPending: true}),
	};
}

/** A whole GPU or a MIG instance. `key` identifies it in leases. */
type Part = {readonly key: string; readonly gpu: number; readonly uuid?: string};

/** Returns every part that could serve a request. */
function partsFor({ids, need}: Wanted): readonly Part[] {
	const mig = need?.mig;
	return mig === undefined
		? [2, 3].filter((index) => ids?.includes(index) ?? true).map((index) => ({key: String(index), gpu: index}))
		: layouts.flatMap((layout, index) =>
				layout.flatMap((profile, number) => {
					const isWanted =
						'profile' in mig
							? fitsProfile(profile, mig.profile)
							: mig.instances.some((name) => name.gpu === index && name.number === number);
					const uuid = uuidOf(index, number);
					return isWanted ? [{key: partKey(index, {mig: {uuid}}), gpu: index, uuid}] : [];
				}),
			);
}

const keyOf = ({index, lease}: Holding): string => partKey(index, lease);

const idOf = (holding: Holding): string => `${keyOf(holding)} ${holding.lease.leaseId}`;

const isFirm = ({lease}: Holding): boolean => lease.partialQueueId === undefined;

const usedOf = ({gpu: index, uuid}: Part, {squats}: Box): number => squats.get(uuid ?? String(index)) ?? 0;

/** Returns the leases that conflict with a part. */
const holdingsOf = (snapshot: Snapshot, {gpu: index, uuid}: Part): readonly Holding[] =>
	holdingsOn(snapshot.gpus[index]).filter(
		({lease: {mig}}) => uuid === undefined || mig === undefined || mig.uuid === uuid,
	);

type Outage = 'for good' | 'for now' | undefined;

/** The rules by which each step is judged, applied to the actual state. */
function judgeOf(snapshot: Snapshot, box: Box, isAwake: (id: string) => boolean) {
	const outageOf = (part: Part, {need}: Wanted): Outage => {
		const condition = box.conditions[part.gpu];
		if (snapshot.drains.has(part.gpu) || condition === 'broken') {
			return 'for good';
		}

		if (condition === 'pending') {
			return 'for now';
		}

		const isInSum = need?.shareMiB !== undefined && snapshot.gpus[part.gpu]!.kind === 'shared';
		return usedOf(part, box) > thresholdMiB && !isInSum && holdingsOf(snapshot, part).every((one) => !isFirm(one))
			? 'for now'
			: undefined;
	};

	const isServable = (wanted: Wanted, ignored?: Outage): boolean =>
		partsFor(wanted).filter((part) => [undefined, ignored].includes(outageOf(part, wanted))).length >= wanted.count;
	const claims = ({id, entry}: EntryRecord): boolean => isAwake(id) && isServable(wantedOf(entry));
	/** Whether other requests can take the GPUs that the entry holds. */
	const gives = ({id, entry}: EntryRecord): boolean => !isAwake(id) || !isServable(wantedOf(entry), 'for now');
	const claimedBy = (entries: readonly EntryRecord[]): ReadonlySet<string> =>
		new Set(
			entries.filter((record) => claims(record)).flatMap(({entry}) => partsFor(wantedOf(entry)).map(({key}) => key)),
		);

	/** How many parts are available to a request that no earlier entry claims. `behind` are the entries whose held GPUs it can take. */
	const obtainable = (wanted: Wanted, before: readonly EntryRecord[], behind: readonly EntryRecord[]) => {
		const claimed = claimedBy(before);
		const takeable = new Set([...behind, ...before.filter((record) => gives(record))].map(({id}) => id));
		const shareMiB = wanted.need?.shareMiB;
		return partsFor(wanted).filter((part) => {
			const record = snapshot.gpus[part.gpu]!;
			const firm = holdingsOf(snapshot, part).filter(({lease}) => !takeable.has(lease.partialQueueId ?? ''));
			if (claimed.has(part.key) || outageOf(part, wanted) !== undefined) {
				return false;
			}

			if (shareMiB === undefined || record.kind !== 'shared') {
				return firm.length === 0 && usedOf(part, box) <= thresholdMiB;
			}

			const asked = firm.reduce((sum, {lease}) => sum + lease.memoryMiB!, 0);
			return firm.length < box.mostShares && capacityMiB - 3 - usedOf(part, box) - asked >= shareMiB;
		});
	};

	return {outageOf, isServable, claims, claimedBy, obtainable};
}

type Judge = ReturnType<typeof judgeOf>;

const freshIn = (before: Snapshot, after: Snapshot): readonly Holding[] => {
	const known = new Set(holdingsIn(before.gpus).map((holding) => `${idOf(holding)} ${holding.lease.partialQueueId}`));
	return holdingsIn(after.gpus).filter((holding) => !known.has(`${idOf(holding)} ${holding.lease.partialQueueId}`));
};

/** Checks that nothing is granted twice and that the shares of each GPU fit in its memory. */
function checkHoldings(snapshot: Snapshot): void {
	for (const record of snapshot.gpus) {
		const holdings = holdingsOn(record);
		const ids = holdings.map((holding) => idOf(holding));
		expect(new Set(ids).size).toBe(ids.length);
		const instances = holdings.flatMap(({lease}) => lease.mig?.uuid ?? []);
		const asked = holdings.flatMap(({lease}) => lease.memoryMiB ?? []);
		expect(new Set(instances).size).toBe(instances.length);
		expect(
			[instances.length, asked.length, holdings.length - instances.length - asked.length],
			ids.join(','),
		).toContain(holdings.length);
		expect(holdings.length - instances.length - asked.length).toBeLessThanOrEqual(1);
		expect(asked.reduce((sum, memory) => sum + memory, 0)).toBeLessThanOrEqual(capacityMiB);
		expect(instances.length > 0 && !isSplit(record.index)).toBe(false);
	}

	// Each GPU held by a waiting request belongs to an entry in the queue.
	const waiting = new Set(entriesOf(snapshot).map(({id}) => id));
	for (const {lease} of holdingsIn(snapshot.gpus)) {
		expect(lease.partialQueueId === undefined || waiting.has(lease.partialQueueId), lease.leaseId).toBe(true);
		// The Go program would end a held lease at its expiry.
		expect(lease.partialQueueId === undefined ? undefined : lease.expiryTime, lease.leaseId).toBe(undefined);
	}
}

/** Checks that every granted part works, is unused, and meets the request. */
function checkFresh(fresh: readonly Holding[], snapshot: Snapshot, box: Box): void {
	for (const holding of fresh) {
		const {index, lease} = holding;
		const part = {key: keyOf(holding), gpu: index, ...(lease.mig && {uuid: lease.mig.uuid})};
		expect(snapshot.drains.has(index), `${part.key} is drained`).toBe(false);
		expect(box.conditions[index], part.key).toBe('fine');
		const others = holdingsOn(snapshot.gpus[index]).filter(({lease: {leaseId}}) => leaseId !== lease.leaseId);
		if (lease.memoryMiB === undefined) {
			expect(usedOf(part, box), `${part.key} is used`).toBeLessThanOrEqual(thresholdMiB);
			expect(lease.mig === undefined && others.length > 0, `${part.key} is had by others`).toBe(false);
		} else if (isFirm(holding)) {
			// A request can take GPUs that later entries hold.
			const asked = others
				.filter((other) => isFirm(other))
				.reduce((sum, other) => sum + other.lease.memoryMiB!, lease.memoryMiB);
			expect(asked + usedOf(part, box) + 3, `${part.key} has no room`).toBeLessThanOrEqual(capacityMiB);
		}
	}
}

/** Checks that no entry was overtaken, except for GPUs that later entries already held. */
function checkNobodyIsOvertaken(
	{before, after, fresh}: {readonly before: Snapshot; readonly after: Snapshot; readonly fresh: readonly Holding[]},
	judges: readonly Judge[],
): void {
	const earlier = entriesOf(before).map(({id}) => id);
	const held = new Set(holdingsIn(before.gpus).map((holding) => idOf(holding)));
	for (const record of entriesOf(after)) {
		if (judges.some((judge) => !judge.claims(record)) || !earlier.includes(record.id)) {
			continue;
		}

		const ahead = new Set(earlier.slice(0, earlier.indexOf(record.id) + 1).flatMap((id) => [id, `lease-${id}`]));
		const wanted = new Set(partsFor(wantedOf(record.entry)).map(({key}) => key));
		const taken = fresh.filter(
			(holding) =>
				wanted.has(keyOf(holding)) &&
				!held.has(idOf(holding)) &&
				!ahead.has(holding.lease.partialQueueId ?? holding.lease.leaseId!),
		);
		expect(
			taken.map((holding) => idOf(holding)),
			`${record.id} is overtaken`,
		).toEqual([]);
	}
}

/** Checks that every entry that can be served makes progress. */
function checkProgress(snapshot: Snapshot, judge: Judge): void {
	const entries = entriesOf(snapshot);
	for (const [place, record] of entries.entries()) {
		if (!judge.claims(record)) {
			continue;
		}

		const wanted = wantedOf(record.entry);
		const parts = judge.obtainable(wanted, entries.slice(0, place), entries.slice(place));
		expect(parts.length, `${record.id} could have ${parts.map(({key}) => key).join(' ')}`).toBeLessThan(wanted.count);
	}
}

/** Checks that replaying the audit log produces exactly the current leases. */
async function checkAudit(world: TestWorld, snapshot: Snapshot): Promise<void> {
	const held = new Set<string>();
	for (const {kind, leaseId, gpus, instances} of await world.store.audit()) {
		const parts = instances?.map(({gpu: index, ...mig}) => partKey(index, {mig})) ?? gpus.map(String);
		for (const part of leaseId === undefined ? [] : parts) {
			if (kind === 'granted' || kind === 'held') {
				held.add(`${part} ${leaseId}`);
			} else if (['released', 'expired', 'ended'].includes(kind)) {
				expect(held.delete(`${part} ${leaseId}`), `${part} ${leaseId} ${kind}`).toBe(true);
			}
		}
	}

	expect([...held].toSorted()).toEqual(
		holdingsIn(snapshot.gpus)
			.map((holding) => idOf(holding))
			.toSorted(),
	);
}

/** The result of a step and the state after it, which are equal on every store. */
export type Outcome = {
	readonly answer: string;
	readonly holdings: readonly string[];
	readonly queue: readonly string[];
};

/** Initial leases on every part of a full machine. */
const everything: readonly Wanted[] = [
	{count: 1, ids: [2]},
	...[60_000, 10_000].map((shareMiB) => ({count: 1, ids: [3], need: {shareMiB}})),
	...partsFor({count: 1, need: {mig: {profile: '1g.10gb'}}}).map(({gpu: index, uuid}) => ({
		count: 1,
		need: {mig: {instances: [{gpu: index, number: Number(uuid!.at(-1))}]}},
	})),
];

/** Plays a history and judges every step. */
export async function play(world: TestWorld, {isFull, steps}: History): Promise<readonly Outcome[]> {
	const box: Box = {squats: new Map(), conditions: Array.from({length: gpuCount}, () => 'fine'), mostShares: 4};
	const pids = new Map<string, number>();
	const isAwake = (id: string): boolean => world.processes.get(pids.get(id) ?? 0) !== 'stopped';
	const judgeNow = (snapshot: Snapshot): Judge => judgeOf(snapshot, box, isAwake);
	world.see(() => observationOf(Array.from({length: gpuCount}, (_, index) => readingOf(index, box))));
	await changePolicy(world, root, [
		{key: 'share', value: 'on'},
		{key: 'strategy', value: 'cool'},
	]);

	for (const [index, wanted] of isFull ? everything.entries() : []) {
		expect(await acquireNow(world, requestOf('first', wanted), `first-${index}`)).toMatchObject({kind: 'granted'});
	}

	const ask = async (wanted: Wanted, id: string): Promise<string> => {
		const before = await readCurrent(world);
		const judge = judgeNow(before);
		const entries = entriesOf(before);
		const request = requestOf(id, wanted);
		let answer: Awaited<ReturnType<typeof acquireNow>>;
		try {
			answer = await acquireNow(world, request, id);
		} catch (error) {
			expect(error).toMatchObject({code: 'impossible'});
			expect(partsFor(wanted).length).toBeLessThan(wanted.count);
			return 'impossible';
		}

		const sure = judge.obtainable(wanted, entries, []);
		expect(answer.kind === 'refused' && sure.length >= wanted.count, `${id} could have ${sure.length}`).toBe(false);
		const got = holdingsIn((await readCurrent(world)).gpus).filter(({lease}) => lease.leaseId === id);
		expect(got).toHaveLength(answer.kind === 'granted' ? wanted.count : 0);
		const claimed = judge.claimedBy(entries);
		expect(got.filter((holding) => claimed.has(keyOf(holding)))).toEqual([]);
		return answer.kind;
	};

	const giveBack = async (
		step: Extract<Step, {do: 'give back' | 'undo'}>,
		firm: readonly Holding[],
	): Promise<string> => {
		const holding = firm[step.position % Math.max(1, firm.length)];
		if (holding === undefined) {
			return 'nothing';
		}

		const {released} = await release(world, root, {by: 'lease', leaseId: holding.lease.leaseId!});
		if (step.do === 'give back') {
			return `released ${released.map((one) => idOf(one)).join(',')}`;
		}

		const before = await readCurrent(world);
		let undone: number;
		try {
			({
				undone: {length: undone},
			} = await undoRelease(world, root, undoableOf(released)));
		} catch (error) {
			if (error instanceof CanhazgpuError) {
				return error.code;
			}

			throw error;
		}

		// An undo restores everything or nothing.
		const restored = (one: Holding): string => `${keyOf(one)} ${one.lease.user} ${one.lease.memoryMiB}`;
		const back = freshIn(before, await readCurrent(world)).map((one) => restored(one));
		expect(back.toSorted()).toEqual(undone === 0 ? [] : released.map((one) => restored(one)).toSorted());
		return `undone ${undone}`;
	};

	const changeWaiter = async (
		step: Extract<Step, {do: 'leave' | 'die' | 'stop' | 'wake' | 'extend'}>,
		entries: readonly EntryRecord[],
	): Promise<string> => {
		const entry = entries[step.position % Math.max(1, entries.length)];
		if (entry === undefined) {
			return 'nobody';
		}

		if (step.do === 'leave') {
			return (await leaveQueue(world, root, entry.id)).kind;
		}

		const liveness = {die: 'dead', stop: 'stopped', wake: 'alive'} as const;
		world.processes.set(pids.get(entry.id)!, liveness[step.do as 'die']);
		return step.do;
	};

	const act = async (step: Step, index: number): Promise<string> => {
		const snapshot = await readCurrent(world);
		const firm = holdingsIn(snapshot.gpus).filter((holding) => isFirm(holding));
		const entries = entriesOf(snapshot);
		switch (step.do) {
			case 'join': {
				const id = `entry-${index}`;
				const pid = 100 + index;
				const own = {...world, host: {...world.host, self: {pid}}};
				pids.set(id, pid);
				try {
					const request = requestOf(`user${index}`, step.wanted);
					await joinQueue(own, {id, request, waitSeconds: undefined, observation: await world.gpus.observe()});
					return 'joined';
				} catch (error) {
					expect(error).toMatchObject({code: 'impossible'});
					return 'impossible';
				}
			}

			case 'newcomer': {
				return ask(step.wanted, `newcomer-${index}`);
			}

			case 'give back':
			case 'undo': {
				return giveBack(step, firm);
			}

			case 'squat': {
				const layout = layouts[step.gpu];
				const key = layout === undefined ? String(step.gpu) : uuidOf(step.gpu, step.number % layout.length);
				box.squats.set(key, layout === undefined ? step.memoryMiB : Math.min(step.memoryMiB, 9000));
				return 'seen';
			}

			case 'condition': {
				box.conditions[step.gpu] = step.condition;
				return 'seen';
			}

			case 'drain': {
				await drain(world, root, [step.gpu], 'fan');
				return 'drained';
			}

			case 'undrain': {
				await undrain(world, root, [step.gpu]);
				return 'undrained';
			}

			case 'most': {
				box.mostShares = step.mostShares;
				await changePolicy(world, root, [{key: 'share.max', value: String(step.mostShares)}]);
				return 'set';
			}

			case 'pass': {
				world.pass(step.seconds);
				await beatAll(world, isAwake);
				return 'passed';
			}

			case 'extend': {
				const holding = firm[step.position % Math.max(1, firm.length)];
				if (holding === undefined) {
					return 'nothing';
				}

				const {extended} = await extend(world, root, {by: 'lease', leaseId: holding.lease.leaseId!}, {by: 60});
				return `extended ${extended.length}`;
			}

			case 'leave':
			case 'die':
			case 'stop':
			case 'wake': {
				return changeWaiter(step, entries);
			}
		}
	};

	const outcomes: Outcome[] = [];
	for (const [index, step] of steps.entries()) {
		const answer = await act(step, index);
		const rested = await readCurrent(world);
		checkHoldings(rested);
		await settle(world, {isAwake, canBecomeImpossible: true});
		const after = await readCurrent(world);
		checkHoldings(after);
		const fresh = freshIn(rested, after);
		checkFresh(fresh, after, box);
		// A request that is blocked takes no GPUs from later entries.
		for (const {lease} of fresh) {
			const holder = entriesOf(after).find(({id}) => id === lease.partialQueueId);
			const isServable = [rested, after].some((snapshot) => holder === undefined || judgeNow(snapshot).claims(holder));
			expect(isServable, `${lease.partialQueueId} holds in vain`).toBe(true);
		}

		checkNobodyIsOvertaken({before: rested, after, fresh}, [judgeNow(rested), judgeNow(after)]);
		checkProgress(after, judgeNow(after));
		await checkAudit(world, after);
		for (const {id, entry} of entriesOf(rested)) {
			const isThere = entriesOf(after).some((record) => record.id === id);
			const isServed = holdingsIn(after.gpus).some(({lease}) => lease.leaseId === `lease-${id}`);
			// A waiting request fails when a complete scan shows that it is impossible.
			expect(isThere || isServed || partsFor(wantedOf(entry)).length < wantedOf(entry).count, `${id} left`).toBe(true);
		}

		const lost = holdingsIn(rested.gpus).filter((one) => isFirm(one) && freshIn(after, rested).includes(one));
		expect(lost.map((one) => idOf(one))).toEqual([]);
		outcomes.push({
			answer,
			holdings: holdingsIn(after.gpus).map((one) => `${idOf(one)} ${one.lease.partialQueueId ?? ''}`),
			queue: entriesOf(after).map(
				({id, entry}) =>
					`${id} ${entry.allocatedGpus.join(',')} ${JSON.stringify(entry.unavailable?.map(({gpu: on, mig, kind}) => [on, mig?.uuid, kind]))}`,
			),
		});
	}

	// In the end, every entry has been served or has left.
	box.squats.clear();
	box.conditions.fill('fine');
	for (const pid of pids.values()) {
		if (world.processes.get(pid) === 'stopped') {
			world.processes.set(pid, 'alive');
		}
	}

	await undrain(world, root, [0, 1, 2, 3]);
	for (let round = 0; entriesOf(await readCurrent(world)).length > 0; round++) {
		expect(round, 'all are served in the end').toBeLessThan(steps.length + 2);
		await release(world, root, {by: 'gpus', ids: [0, 1, 2, 3]});
		await settle(world, {isAwake, canBecomeImpossible: true});
	}

	return outcomes;
}
