/**
Determines which GPUs and MIG instances are out of service. No GPU is kept for an entry that waits for such a GPU.
If the outage lasts, others may take the GPUs that the entry holds.
*/
import {cleanRuleOf, type CleanRule} from '../usage/cleanliness.js';
import {usageBlockOf, usageBlockOfInstance, type UsageBlock} from '../usage/usage-block.js';
import {holdingsOn} from '../leases/holdings.js';
import {gpusOf} from '../allocation/need.js';
import {instancesOf, isWhole, modeDoubtOf} from '../mig/instances.js';
import type {
	GpuGroup,
	GpuRecord,
	NotedOutage,
	Observation,
	QueueEntry,
	QueueRecord,
	Snapshot,
} from '../../model/types.js';
import {eligibleInstancesOf, groupsOf, wantedCountOf, wantsInstances} from './eligible.js';

/** How long a GPU must be in use without a reservation before others may take GPUs from the entries that wait for this GPU. */
export const usedPatienceSeconds = 5 * 60;

/** Maximum length of an outage's description in an entry. Limited, because every reader of the queue reads all entries. */
const longestDetail = 200;

export type Outage = Pick<NotedOutage, 'gpu' | 'mig' | 'detail'> & {
	readonly kind: 'drained' | 'unreadable' | NotedOutage['kind'];
	/** Store time at which a waiting request first saw the outage. Undefined if no request has noted the outage. */
	readonly since?: number;
};

export type OutOfService = ReadonlyMap<number | string, Outage>;

const keyOf = ({gpu, mig}: Pick<Outage, 'gpu' | 'mig'>): number | string => mig?.uuid ?? gpu;

const byKey = <One extends Outage>(outages: readonly One[]): ReadonlyMap<number | string, One> =>
	new Map(outages.map((outage) => [keyOf(outage), outage]));

type Records = Pick<Snapshot, 'gpus' | 'drains'>;

const isUse = ({kind}: Pick<Outage, 'kind'>): boolean => kind === 'used' || kind === 'unknown';

const isTransient = (outage: Pick<Outage, 'kind'>): boolean => isUse(outage) || outage.kind === 'mode';

const isForceable = (outage: Pick<Outage, 'kind'>): boolean => isUse(outage) || outage.kind === 'broken';

export const outagesByRecord = ({gpus, drains}: Records): OutOfService =>
	byKey(
		gpus.flatMap((record): readonly Outage[] => {
			const {index: gpu} = record;
			const drain = drains.get(gpu);
			return drain === undefined
				? record.kind === 'garbage'
					? [{gpu, kind: 'unreadable', detail: record.problem}]
					: []
				: [{gpu, kind: 'drained', detail: drain.reason, since: drain.since}];
		}),
	);

/** Returns the outages noted by waiting requests. If several requests noted the same outage, the earliest note is returned. */
function notesOf(queue: readonly QueueRecord[]): ReadonlyMap<number | string, NotedOutage> {
	const notes = queue.flatMap((record) => (record.kind === 'entry' ? (record.entry.unavailable ?? []) : []));
	return byKey(notes.toSorted((a, b) => b.since - a.since));
}

/** Returns the outages that GPU records, drains and the notes in this part of the queue show. For callers that do not scan. */
export const outagesNoted = (records: Records, queue: readonly QueueRecord[]): OutOfService =>
	new Map([...notesOf(queue), ...outagesByRecord(records)]);

/** Returns why a GPU is out of service. Use is an outage only with `isUnused`, which means that the GPU is free or held by a waiting request. */
function outageBy(block: UsageBlock | undefined, isUnused: boolean): Pick<Outage, 'kind' | 'detail'> | undefined {
	switch (block?.kind) {
		case 'failed': {
			return {kind: 'broken', detail: block.why};
		}

		case 'unfit': {
			return {kind: 'broken', detail: block.problems.map(({words}) => words).join('; ')};
		}

		case 'unreserved': {
			return isUnused ? {kind: 'used', detail: block.users.join(', ')} : undefined;
		}

		case 'unknown-use': {
			return isUnused ? {kind: 'unknown', detail: block.why} : undefined;
		}

		case 'not-scanned':
		case undefined: {
			return undefined;
		}
	}
}

type Limits = {readonly memoryThresholdMiB: number; readonly clean: CleanRule | undefined};

function outagesOn(
	record: GpuRecord,
	observation: Observation,
	{memoryThresholdMiB, clean}: Limits,
): readonly Outage[] {
	const {index: gpu} = record;
	const reading = observation.gpus.find(({index}) => index === gpu);
	const holdings = holdingsOn(record);
	const isUnused = (among: typeof holdings): boolean => among.every(({lease}) => lease.partialQueueId !== undefined);
	const whole = outageBy(usageBlockOf(gpu, observation, memoryThresholdMiB, clean), isUnused(holdings));
	// On a GPU split by MIG, use is checked below for each instance.
	if (whole !== undefined && (isWhole(reading) !== false || !isTransient(whole))) {
		return [{gpu, ...whole}];
	}

	if (reading === undefined) {
		return [];
	}

	const instances = instancesOf(reading);
	if (instances === undefined) {
		return [{gpu, kind: 'mode', detail: modeDoubtOf(reading) ?? 'its MIG instances are unknown'}];
	}

	return instances.flatMap((instance) => {
		const {uuid, number} = instance;
		const inTheWay = holdings.filter(({lease: {mig}}) => mig === undefined || mig.uuid === uuid);
		const block = usageBlockOfInstance(instance, observation, memoryThresholdMiB, clean);
		const outage = outageBy(block, isUnused(inTheWay));
		return outage === undefined ? [] : [{gpu, mig: {uuid, number}, ...outage}];
	});
}

/** Returns the outages that GPU records, drains and a scan show, or none if the scan failed. The scan must not be newer than the snapshot. */
export function outagesSeen(
	snapshot: Records & Pick<Snapshot, 'queue' | 'policy' | 'baselines'>,
	observation: Observation,
	memoryThresholdMiB: number,
): OutOfService {
	const notes = notesOf(snapshot.queue);
	const limits = {memoryThresholdMiB, clean: cleanRuleOf(snapshot)};
	const seen = snapshot.gpus
		.flatMap((record) => outagesOn(record, observation, limits))
		.map((outage): Outage => {
			const note = notes.get(keyOf(outage));
			const isSame = note !== undefined && isTransient(outage) === isTransient(note);
			return {...outage, since: isSame ? note.since : undefined};
		});
	return new Map([...byKey(seen), ...outagesByRecord(snapshot)]);
}

/** Returns a function that returns why an entry cannot use a GPU or MIG instance, even if the entry already holds it. */
export const outageFor =
	({force, need}: QueueEntry, gpus: readonly GpuRecord[], out: OutOfService) =>
	(gpu: number, uuid?: string): Outage | undefined => {
		const outage = out.get(gpu) ?? (uuid === undefined ? undefined : out.get(uuid));
		// On a shared GPU, memory in use only reduces the room for shares.
		const isInSum = need?.shareMiB !== undefined && gpus[gpu]?.kind === 'shared';
		return outage === undefined || (force === true && isForceable(outage)) || (isInSum && isUse(outage))
			? undefined
			: outage;
	};

const partsOf = (
	entry: QueueEntry,
	group: GpuGroup,
	gpuCount: number,
): ReadonlyArray<{readonly gpu: number; readonly uuid?: string}> =>
	wantsInstances(entry)
		? eligibleInstancesOf(entry, gpuCount).filter(({gpu}) => group.includes(gpu))
		: group.map((gpu) => ({gpu}));

/** Returns the groups of an entry in which enough GPUs or MIG instances are in service. */
export function servableGroups(
	entry: QueueEntry,
	gpus: readonly GpuRecord[],
	out: OutOfService,
	groups = groupsOf(entry, gpus.length),
): readonly GpuGroup[] {
	if (out.size === 0) {
		return groups;
	}

	const outageOf = outageFor(entry, gpus, out);
	return groups.filter(
		(group) =>
			partsOf(entry, group, gpus.length).filter(({gpu, uuid}) => outageOf(gpu, uuid) === undefined).length >=
			wantedCountOf(entry),
	);
}

export function outOfServiceFor(entry: QueueEntry, gpus: readonly GpuRecord[], out: OutOfService): readonly Outage[] {
	if (out.size === 0 || servableGroups(entry, gpus, out).length > 0) {
		return [];
	}

	const outageOf = outageFor(entry, gpus, out);
	const parts = partsOf(entry, gpusOf(groupsOf(entry, gpus.length)), gpus.length);
	return [...new Set(parts.map(({gpu, uuid}) => outageOf(gpu, uuid)).filter((outage) => outage !== undefined))];
}

/** Whether the entry can be served despite outages. If not, the entry keeps its position, but no GPU is kept for it. */
export const isServable = (entry: QueueEntry, gpus: readonly GpuRecord[], out: OutOfService): boolean =>
	outOfServiceFor(entry, gpus, out).length === 0;

/** Whether the entry keeps the GPUs that it holds. Others may take them if a lasting outage keeps the entry from being served. */
export const keepsHoldings = (
	entry: QueueEntry,
	{gpus, now}: Pick<Snapshot, 'gpus' | 'now'>,
	out: OutOfService,
): boolean =>
	isServable(
		entry,
		gpus,
		new Map(
			[...out].filter(
				([, outage]) =>
					!isTransient(outage) || (outage.since !== undefined && now - outage.since >= usedPatienceSeconds),
			),
		),
	);

/**
Returns the note to store in an entry after a scan: the outages that keep the entry from being served, with their
start times. Undefined if there are none.
*/
export function noteFor(
	entry: QueueEntry,
	{gpus, now}: Pick<Snapshot, 'gpus' | 'now'>,
	out: OutOfService,
): readonly NotedOutage[] | undefined {
	const notes = outOfServiceFor(entry, gpus, out).flatMap(
		({kind, detail, since = now, ...part}): readonly NotedOutage[] =>
			kind === 'drained' || kind === 'unreadable'
				? []
				: [{...part, kind, detail: detail?.slice(0, longestDetail), since: Math.floor(since)}],
	);
	return notes.length === 0 ? undefined : notes;
}

/** Whether two notes list the same outages in any order. Ignores the GPU tool's words, which can change with every scan. */
export const isSameNote = (one: QueueEntry['unavailable'], other: QueueEntry['unavailable']): boolean => {
	const facts = (note: QueueEntry['unavailable'] = []): string =>
		JSON.stringify(note.map((outage) => `${keyOf(outage)} ${outage.kind}`).toSorted());
	return facts(one) === facts(other);
};
