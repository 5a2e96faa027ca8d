/** What of one GPU a request could have: all of it, or a share beside others. */
import {holdingsOn, type Holding} from '../leases/holdings.js';
import type {GpuReading, GpuRecord, Lease} from '../../model/types.js';
import {isWhole} from '../mig/instances.js';
import {roomFor, type ShareBlock, type ShareLimits} from './share-fit.js';

export type GpuCandidate = {
	readonly kind: 'candidate';
	readonly record: GpuRecord;
	/** What others hold of it meanwhile, and lose with the grant. */
	readonly takes: readonly Holding[];
	/** For a share it counts what all shares of the GPU may have together, and what is left of that. */
	readonly capacityMiB?: number | undefined;
	readonly leftMiB?: number;
};

export type GpuBlock =
	| ShareBlock
	/** One has it alone. */
	| {readonly kind: 'leased'; readonly lease: Lease}
	/** MIG has split it, so that its instances alone are handed out; or that is unknown. */
	| {readonly kind: 'split'; readonly isUnknown: boolean}
	/** Others have shares of it, and it is wanted alone. */
	| {readonly kind: 'shared'; readonly shares: readonly Lease[]}
	| {readonly kind: 'garbage'; readonly problem: string};

export type CandidateOptions = {
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

/** What of a GPU could be had, or why it cannot, by what others have of it. Whether it works and is used is no part of this. */
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
