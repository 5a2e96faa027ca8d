/**
Decides what a request can get of one GPU: all of it, or a share. A share's memory stays reserved even if its job uses
less. A job that uses more than its share, and processes without a share, reduce the room for others. If the use is
unknown, there is no room.
*/
import {holdingsOn, type Holding} from '../leases/holdings.js';
import type {GpuReading, GpuRecord, Lease} from '../../model/types.js';
import {isWhole} from '../mig/instances.js';
import {usageOfShares} from '../usage/share-usage.js';

type ShareBlock =
	| {
			readonly kind: 'no-room';
			readonly freeMiB: number;
			readonly capacityMiB: number;
			readonly shares: readonly Lease[];
	  }
	| {readonly kind: 'most-shares'; readonly shares: readonly Lease[]}
	| {readonly kind: 'unknown-memory'};

export type ShareLimits = {
	readonly memoryMiB: number;
	readonly mostShares: number;
};

type ShareRoom = {
	readonly kind: 'room';
	/** Memory for all shares of the GPU together. Undefined if the GPU was neither scanned nor shared yet. */
	readonly capacityMiB: number | undefined;
	readonly leftMiB: number;
};

/** Returns the memory for all shares of a GPU together: the total without the memory reserved by the driver. */
export const capacityOf = ({memoryTotalMiB, memoryReservedMiB = 0}: GpuReading): number | undefined =>
	memoryTotalMiB === undefined ? undefined : memoryTotalMiB - memoryReservedMiB;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const askedOf = (shares: readonly Lease[]): number => sumOf(shares.map(({memoryMiB = 0}) => memoryMiB));

/**
Returns the memory that is not available: for each share, the reserved or the used memory, whichever is more, plus
all other used memory. Undefined if the use is unknown.
*/
export function committedMiB(
	shares: readonly Lease[],
	{memoryUsedMiB, processes}: Pick<GpuReading, 'memoryUsedMiB' | 'processes'>,
): number | undefined {
	if (memoryUsedMiB === undefined) {
		return undefined;
	}

	// A process whose memory is unknown adds nothing to its share, so its memory is part of `ofNoShare`.
	const measured = usageOfShares(shares, processes).shares.map(({processes: own}) =>
		sumOf(own.map((process) => process.memoryUsedMiB ?? 0)),
	);
	const ofNoShare = Math.max(0, memoryUsedMiB - sumOf(measured));
	return ofNoShare + sumOf(shares.map(({memoryMiB = 0}, index) => Math.max(memoryMiB, measured[index]!)));
}

/** Returns whether another share fits on a GPU on which `shares` stay. If the GPU was not scanned (`unseen`), only the reserved memory is considered. */
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

	// The capacity stored when the first share was granted stays the limit, even if the tool reports more now.
	const capacityMiB = Math.min(seen, recorded ?? Infinity);
	const freeMiB = Math.max(0, capacityMiB - committed);
	return freeMiB >= memoryMiB
		? {kind: 'room', capacityMiB, leftMiB: freeMiB - memoryMiB}
		: {kind: 'no-room', freeMiB, capacityMiB, shares};
}

export type GpuCandidate = {
	readonly kind: 'candidate';
	readonly record: GpuRecord;
	/** GPUs or shares that this grant takes from waiting requests. */
	readonly takes: readonly Holding[];
	readonly capacityMiB?: number | undefined;
	readonly leftMiB?: number;
};

export type GpuBlock =
	| ShareBlock
	| {readonly kind: 'leased'; readonly lease: Lease}
	/** The GPU is split by MIG, so only its instances can be granted. `isUnknown` means that the MIG mode is unknown. */
	| {readonly kind: 'split'; readonly isUnknown: boolean}
	| {readonly kind: 'shared'; readonly shares: readonly Lease[]}
	| {readonly kind: 'garbage'; readonly problem: string};

type CandidateOptions = {
	readonly share: ShareLimits | undefined;
	readonly canTake: (lease: Lease) => boolean;
	/** `unseen` if there was no scan. Undefined if the scan does not show the GPU. */
	readonly reading: GpuReading | 'unseen' | undefined;
};

/** Returns whether a share fits on a GPU. If necessary, the new share replaces shares that waiting requests hold, the last request's share first. */
function candidateForShare(
	record: GpuRecord,
	share: ShareLimits,
	{canTake, reading}: CandidateOptions,
): GpuCandidate | GpuBlock {
	// A lease of the whole GPU leaves no room for a share, so the grant must take this lease.
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

/** Returns what a request can get of a GPU, or why it can get nothing. Checks neither health nor use. */
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

/** Returns the shared GPUs that have room without taking anything from others, the fullest first. */
export const rankShares = (candidates: readonly GpuCandidate[]): readonly GpuRecord[] =>
	candidates
		.filter(({record, takes}) => record.kind === 'shared' && takes.length === 0)
		.toSorted((a, b) =>
			a.leftMiB === b.leftMiB ? a.record.index - b.record.index : (a.leftMiB ?? 0) - (b.leftMiB ?? 0),
		)
		.map(({record}) => record);
