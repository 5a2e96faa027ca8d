/**
Which GPUs no one new can have for the time being, however long they wait, and what that means for those who wait: an entry that cannot be
served without them claims nothing, and others may take what such an entry holds.
*/
import {cleanRuleOf, type CleanRule} from '../usage/cleanliness.js';
import {usageBlockOf} from '../usage/usage-block.js';
import {holdingsOn} from '../leases/holdings.js';
import {gpusOf} from '../allocation/need.js';
import {isWhole} from '../mig/instances.js';
import type {
	GpuGroup,
	GpuRecord,
	NotedOutage,
	Observation,
	QueueEntry,
	QueueRecord,
	Snapshot,
} from '../../model/types.js';
import {groupsOf, sizeFor, wantedCountOf} from './eligible.js';

/** Use without a reservation may be over soon: only after it was seen for so long may others take what an entry that waits for the GPU holds. */
export const usedPatienceSeconds = 5 * 60;

/** Characters of the words that an entry keeps of each GPU: everybody reads them with each read of the queue. */
const longestDetail = 200;

export type Outage = {
	/** `used`: without a reservation. `unknown`: it is unknown whether it is used. */
	readonly kind: 'drained' | 'unreadable' | NotedOutage['kind'];
	/** The reason of an administrator or of the tool, or the accounts that use it. */
	readonly detail?: string;
	/** From when on those who wait have seen it so, on the store's clock. Undefined where none of them has written that down. */
	readonly since?: number;
};

/** By GPU. */
export type OutOfService = ReadonlyMap<number, Outage>;

type Records = Pick<Snapshot, 'gpus' | 'drains'>;

const isTransient = ({kind}: Outage): boolean => kind === 'used' || kind === 'unknown';

const isBroken = ({kind}: Outage): boolean => kind === 'broken' || isTransient({kind});

/** What the records alone say: GPUs that were drained, and those whose record cannot be read. */
export const outagesByRecord = ({gpus, drains}: Records): OutOfService =>
	new Map(
		gpus.flatMap((record): ReadonlyArray<readonly [number, Outage]> => {
			const drain = drains.get(record.index);
			return drain === undefined
				? record.kind === 'garbage'
					? [[record.index, {kind: 'unreadable', detail: record.problem}]]
					: []
				: [[record.index, {kind: 'drained', detail: drain.reason, since: drain.since}]];
		}),
	);

/** What those who wait have written down of each GPU: of several, who saw it first. */
function notesOf(queue: readonly QueueRecord[]): ReadonlyMap<number, NotedOutage> {
	const notes = new Map<number, NotedOutage>();
	for (const record of queue) {
		for (const note of (record.kind === 'entry' ? record.entry.unavailable : undefined) ?? []) {
			const known = notes.get(note.gpu);
			if (known === undefined || note.since < known.since) {
				notes.set(note.gpu, note);
			}
		}
	}

	return notes;
}

/** What the records say, and what those in this part of the queue have written down: for those who do not scan the GPUs themselves. */
export const outagesNoted = (records: Records, queue: readonly QueueRecord[]): OutOfService =>
	new Map([...notesOf(queue), ...outagesByRecord(records)]);

/** What a scan says of one GPU. One that somebody holds is in use with a reservation; who waits for more GPUs uses none yet. */
function outageSeen(
	record: GpuRecord,
	observation: Observation,
	{memoryThresholdMiB, clean}: {readonly memoryThresholdMiB: number; readonly clean: CleanRule | undefined},
): Outage | undefined {
	const {index} = record;
	const isUnused = holdingsOn(record).every(({lease}) => lease.partialQueueId !== undefined);
	const block = usageBlockOf(index, observation, memoryThresholdMiB, clean);
	const reading = observation.gpus.find((gpu) => gpu.index === index);
	// Whether an instance is used tells nothing of the others.
	if (isWhole(reading) === false && (block?.kind === 'unreserved' || block?.kind === 'unknown-use')) {
		return undefined;
	}

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

/**
What the records and a scan say. A scan that failed as a whole says nothing: then no GPU is out of service, and none is handed out.

@param snapshot - As it was read; who waits may have written down since when a GPU is used.
@param observation - No newer than the snapshot.
@param memoryThresholdMiB - Up to this much is taken for the driver's own.
*/
export function outagesSeen(
	snapshot: Records & Pick<Snapshot, 'queue' | 'policy' | 'baselines'>,
	observation: Observation,
	memoryThresholdMiB: number,
): OutOfService {
	const notes = notesOf(snapshot.queue);
	const limits = {memoryThresholdMiB, clean: cleanRuleOf(snapshot)};
	const seen = snapshot.gpus.flatMap((record): ReadonlyArray<readonly [number, Outage]> => {
		const outage = outageSeen(record, observation, limits);
		const note = notes.get(record.index);
		const isSame = outage !== undefined && note !== undefined && isTransient(outage) === isTransient(note);
		return outage === undefined ? [] : [[record.index, {...outage, since: isSame ? note.since : undefined}]];
	});
	return new Map([...seen, ...outagesByRecord(snapshot)]);
}

/** Whether an entry cannot have a GPU, even one that it holds already: nothing is granted that could not be handed out now. */
export const isOutFor =
	({force, need}: QueueEntry, gpus: readonly GpuRecord[], out: OutOfService) =>
	(index: number): boolean => {
		const outage = out.get(index);
		// Of a GPU that is shared already, memory in use is part of the sum.
		const isInSum = need?.shareMiB !== undefined && gpus[index]?.kind === 'shared';
		return outage !== undefined && !(force === true && isBroken(outage)) && !(isInSum && isTransient(outage));
	};

/** The groups of an entry that have as many GPUs in service as it wants. */
export function servableGroups(
	entry: QueueEntry,
	gpus: readonly GpuRecord[],
	out: OutOfService,
	groups = groupsOf(entry, gpus.length),
): readonly GpuGroup[] {
	if (out.size === 0) {
		return groups;
	}

	const isOut = isOutFor(entry, gpus, out);
	return groups.filter(
		(group) =>
			sizeFor(
				entry,
				group.filter((index) => !isOut(index)),
				gpus.length,
			) >= wantedCountOf(entry),
	);
}

/** GPUs out of service without which the entry cannot be served; none when it can. */
export function outOfServiceFor(entry: QueueEntry, gpus: readonly GpuRecord[], out: OutOfService): readonly number[] {
	if (out.size === 0 || servableGroups(entry, gpus, out).length > 0) {
		return [];
	}

	const isOut = isOutFor(entry, gpus, out);
	return gpusOf(groupsOf(entry, gpus.length)).filter((index) => isOut(index));
}

/** False while it waits for what is out of service. It keeps its position, and claims nothing that others could use meanwhile. */
export const isServable = (entry: QueueEntry, gpus: readonly GpuRecord[], out: OutOfService): boolean =>
	outOfServiceFor(entry, gpus, out).length === 0;

/** False while others may take what it holds: it cannot be served, and not because of a use that may be over soon. */
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
What an entry writes down for others after a scan: the GPUs that it cannot be served without, each with the time since when that is so.

@returns Undefined when it can be served.
*/
export function noteFor(
	entry: QueueEntry,
	{gpus, now}: Pick<Snapshot, 'gpus' | 'now'>,
	out: OutOfService,
): readonly NotedOutage[] | undefined {
	const notes = outOfServiceFor(entry, gpus, out).flatMap((gpu): readonly NotedOutage[] => {
		const {kind, detail, since = now} = out.get(gpu)!;
		return kind === 'drained' || kind === 'unreadable'
			? []
			: [{gpu, kind, detail: detail?.slice(0, longestDetail), since: Math.floor(since)}];
	});
	return notes.length === 0 ? undefined : notes;
}

/** Whether both say the same of the same GPUs; the tool's words may change with every scan. */
export const isSameNote = (one: QueueEntry['unavailable'], other: QueueEntry['unavailable']): boolean => {
	const facts = (note: QueueEntry['unavailable'] = []): string =>
		JSON.stringify(note.map(({gpu, kind}) => [gpu, kind]));
	return facts(one) === facts(other);
};
