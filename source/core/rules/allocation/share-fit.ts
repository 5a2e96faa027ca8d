/**
Whether one more share fits onto a GPU. What a share asked for is kept for it, also while its job loads slowly; what its processes use beyond
that, and what processes of no share use, is gone. What is unknown leaves no room.
*/
import {usageOfShares} from '../usage/share-usage.js';
import type {GpuReading, GpuRecord, Lease} from '../../model/types.js';

/** Why a GPU has no room for a share. */
export type ShareBlock =
	/** What is left of its memory, in MiB, and how many share it. */
	| {
			readonly kind: 'no-room';
			readonly freeMiB: number;
			readonly capacityMiB: number;
			readonly shares: readonly Lease[];
	  }
	/** As many share it as may. */
	| {readonly kind: 'most-shares'; readonly shares: readonly Lease[]}
	/** How much memory it has, or how much of that is used, is unknown. */
	| {readonly kind: 'unknown-memory'};

/** What is asked for, and what the pool allows. */
export type ShareLimits = {
	readonly memoryMiB: number;
	/** How many may share one GPU. */
	readonly mostShares: number;
};

export type ShareRoom = {
	readonly kind: 'room';
	/** What all shares of the GPU may have together. Undefined where the GPU was not scanned and no one shares it yet. */
	readonly capacityMiB: number | undefined;
	/** What is left with the new share. */
	readonly leftMiB: number;
};

/** What all shares of a GPU may have together: its memory without what the driver keeps. Undefined when that is unknown. */
export const capacityOf = ({memoryTotalMiB, memoryReservedMiB = 0}: GpuReading): number | undefined =>
	memoryTotalMiB === undefined ? undefined : memoryTotalMiB - memoryReservedMiB;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const askedOf = (shares: readonly Lease[]): number => sumOf(shares.map(({memoryMiB = 0}) => memoryMiB));

/**
How much of the GPU's memory is spoken for: of each share what it asked for or, if that is more, what its processes use, and all memory in use
that belongs to no share. In MiB; undefined when it is unknown how much is in use.
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

	// What was written down at the first grant stays the limit, even if the tool tells more by now.
	const capacityMiB = Math.min(seen, recorded ?? Infinity);
	const freeMiB = Math.max(0, capacityMiB - committed);
	return freeMiB >= memoryMiB
		? {kind: 'room', capacityMiB, leftMiB: freeMiB - memoryMiB}
		: {kind: 'no-room', freeMiB, capacityMiB, shares};
}
