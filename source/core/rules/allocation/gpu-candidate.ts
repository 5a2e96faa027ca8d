/**
Decides what a request can get of one GPU: all of it, or a share. The memory of a share is reserved even while its job loads slowly. Use
beyond that, and use by other processes, reduces the remaining memory. Unknown readings leave no room.
*/
import {holdingsOn, type Holding} from '../leases/holdings.js';
import type {GpuReading, GpuRecord, Lease} from '../../model/types.js';
import {isWhole} from '../mig/instances.js';
import {usageOfShares} from '../usage/share-usage.js';

/** Why a GPU has no room for a share. */
type ShareBlock =
	/** Remaining memory in MiB, and the number of shares. */
	| {
			readonly kind: 'no-room';
			readonly freeMiB: number;
			readonly capacityMiB: number;
			readonly shares: readonly Lease[];
	  }
	/** The maximum number of shares is reached. */
	| {readonly kind: 'most-shares'; readonly shares: readonly Lease[]}
	/** The GPU's memory, or its memory in use, is unknown. */
	| {readonly kind: 'unknown-memory'};

/** The requested share, and the limits of the pool. */
export type ShareLimits = {
	readonly memoryMiB: number;
	/** Maximum number of shares of one GPU. */
	readonly mostShares: number;
};

type ShareRoom = {
	readonly kind: 'room';
	/** Memory for all shares of the GPU. Undefined if the GPU was neither scanned nor shared yet. */
	readonly capacityMiB: number | undefined;
	/** Memory left after the new share. */
	readonly leftMiB: number;
};

/** Returns the memory for all shares of a GPU: its total without the driver's reserve. Undefined if unknown. */
export const capacityOf = ({memoryTotalMiB, memoryReservedMiB = 0}: GpuReading): number | undefined =>
	memoryTotalMiB === undefined ? undefined : memoryTotalMiB - memoryReservedMiB;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const askedOf = (shares: readonly Lease[]): number => sumOf(shares.map(({memoryMiB = 0}) => memoryMiB));

/**
Returns the committed memory of a GPU in MiB: for each share the larger of its request and its use, and all memory in use outside of shares.
Undefined if the use is unknown.
*/
export function committedMiB(
	shares: readonly Lease[],
	{memoryUsedMiB, processes}: Pick<GpuReading, 'memoryUsedMiB' | 'processes'>,
): number | undefined {
	if (memoryUsedMiB === undefined) {
		return undefined;
	}

	// A process whose memory is unknown counts among the memory of no share.
	const measured = usageOfShares(shares, processes).shares.map(({processes: own}) =>
		sumOf(own.map((process) => process.memoryUsedMiB ?? 0)),
	);
	const ofNoShare = Math.max(0, memoryUsedMiB - sumOf(measured));
	return ofNoShare + sumOf(shares.map(({memoryMiB = 0}, index) => Math.max(memoryMiB, measured[index]!)));
}

/**
Whether a share fits beside these.

@param record - Of the GPU.
@param shares - Those that stay.
@param reading - What the tool saw of it. `unseen`: no one scanned it; then the records alone tell.
*/
export function roomFor(
	record: GpuRecord,
	shares: readonly Lease[],
	{memoryMiB, mostShares}: ShareLimits,
	reading: GpuReading | 'unseen' | undefined,
): ShareRoom | ShareBlock {
	if (shares.length >= mostShares) {
		return {kind: 'most-shares', shares};
	}

	const recorded = record.kind === 'shared' ? record.capacityMiB : undefined;
	if (reading === 'unseen') {
		const freeMiB = (recorded ?? Infinity) - askedOf(shares);
		return freeMiB >= memoryMiB
			? {kind: 'room', capacityMiB: recorded, leftMiB: freeMiB - memoryMiB}
			: {kind: 'no-room', freeMiB, capacityMiB: recorded!, shares};
	}

	const seen = reading && capacityOf(reading);
	const committed = reading && committedMiB(shares, reading);
	if (seen === undefined || committed === undefined) {
		return {kind: 'unknown-memory'};
	}

	// The capacity stored at the first grant stays the limit, even if the tool reports more now.
	const capacityMiB = Math.min(seen, recorded ?? Infinity);
	const freeMiB = Math.max(0, capacityMiB - committed);
	return freeMiB >= memoryMiB
		? {kind: 'room', capacityMiB, leftMiB: freeMiB - memoryMiB}
		: {kind: 'no-room', freeMiB, capacityMiB, shares};
}

export type GpuCandidate = {
	readonly kind: 'candidate';
	readonly record: GpuRecord;
	/** Partial holdings that others lose with the grant. */
	readonly takes: readonly Holding[];
	/** Capacity for all shares of the GPU, and the rest. */
	readonly capacityMiB?: number | undefined;
	readonly leftMiB?: number;
};

export type GpuBlock =
	| ShareBlock
	/** A lease has the GPU alone. */
	| {readonly kind: 'leased'; readonly lease: Lease}
	/** MIG has split it, so that its instances alone are handed out; or that is unknown. */
	| {readonly kind: 'split'; readonly isUnknown: boolean}
	/** Others have shares of it, and it is wanted alone. */
	| {readonly kind: 'shared'; readonly shares: readonly Lease[]}
	| {readonly kind: 'garbage'; readonly problem: string};

type CandidateOptions = {
	/** Undefined: the GPU is wanted alone. */
	readonly share: ShareLimits | undefined;
	/** Whether what this lease holds may be taken, because its holder waits. */
	readonly canTake: (lease: Lease) => boolean;
	/** `unseen`: no one scanned the GPU. */
	readonly reading: GpuReading | 'unseen' | undefined;
};

/** A share beside those that stay; of those that may be taken, the last are taken first, and none without need. */
function candidateForShare(
	record: GpuRecord,
	share: ShareLimits,
	{canTake, reading}: CandidateOptions,
): GpuCandidate | GpuBlock {
	// A lease that has the GPU alone leaves nothing beside it.
	const takes: Holding[] = record.kind === 'leased' ? [...holdingsOn(record)] : [];
	let staying = record.kind === 'leased' ? [] : holdingsOn(record);
	for (;;) {
		const room = roomFor(
			record,
			staying.map(({lease}) => lease),
			share,
			reading,
		);
		if (room.kind === 'room') {
			return {...room, kind: 'candidate', record, takes};
		}

		const last = staying.findLast(({lease}) => canTake(lease));
		if (last === undefined) {
			return room;
		}

		takes.push(last);
		staying = staying.filter((holding) => holding !== last);
	}
}

/** Returns what is available of a GPU, or why nothing is, considering only what others hold. Health and use are checked elsewhere. */
export function candidateOf(record: GpuRecord, options: CandidateOptions): GpuCandidate | GpuBlock {
	if (record.kind === 'garbage') {
		return {kind: 'garbage', problem: record.problem};
	}

	const {share, canTake, reading} = options;
	const isWholeNow = reading === 'unseen' ? true : isWhole(reading);
	if (isWholeNow !== true) {
		return {kind: 'split', isUnknown: isWholeNow === undefined};
	}

	if (record.kind === 'free' && share === undefined) {
		return {kind: 'candidate', record, takes: []};
	}

	const holdings = holdingsOn(record);
	const firm = holdings.map(({lease}) => lease).filter((lease) => !canTake(lease));
	if (record.kind === 'leased' && firm.length > 0) {
		return {kind: 'leased', lease: firm[0]!};
	}

	if (share !== undefined && firm.every(({mig}) => mig === undefined)) {
		return candidateForShare(record, share, options);
	}

	return firm.length > 0 ? {kind: 'shared', shares: firm} : {kind: 'candidate', record, takes: holdings};
}

/** GPUs that are shared already and have room without anybody losing anything, the one first that is left with the least. */
export const rankShares = (candidates: readonly GpuCandidate[]): readonly GpuRecord[] =>
	candidates
		.filter(({record, takes}) => record.kind === 'shared' && takes.length === 0)
		.toSorted((a, b) =>
			a.leftMiB === b.leftMiB ? a.record.index - b.record.index : (a.leftMiB ?? 0) - (b.leftMiB ?? 0),
		)
		.map(({record}) => record);
