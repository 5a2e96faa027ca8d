/** Finds parked reservations, which hold memory without load on any GPU for hours. They are shown and reported to their owner, but not returned to the pool. */
import type {LeaseParked, Observation, Snapshot} from '../../model/types.js';
import type {Candidate} from './candidates.js';
import type {Pause, Sight} from './sight.js';
import {isUnbroken, seenAgain, spanFrom} from './spans.js';

/** A reservation is stored as parked after this time without load, so that the pauses of a job cause no writes. */
const settleSeconds = 600;

/** Whether all GPUs of a reservation are known to have no load, and at least one holds memory. Unknown readings count as load. */
export function isWithoutLoad(
	{holdings}: Candidate,
	{failure, gpus}: Observation,
	memoryThresholdMiB: number,
): boolean {
	const readings = holdings.map(({index}) => gpus.find((gpu) => gpu.index === index));
	return (
		failure === undefined &&
		readings.every(
			(reading) =>
				reading !== undefined &&
				reading.failure === undefined &&
				reading.utilizationPercent === 0 &&
				reading.memoryUsedMiB !== undefined,
		) &&
		readings.some((reading) => reading!.memoryUsedMiB! > memoryThresholdMiB)
	);
}

/** Returns the parked time common to all leases of the reservation: from the latest start to the earliest end. Undefined if a lease has none. */
function storedFor({holdings}: Candidate): LeaseParked | undefined {
	const spans = holdings.map(({lease}) => lease.parked).filter((parked) => parked !== undefined);
	const [first] = spans;
	if (first === undefined || spans.length < holdings.length) {
		return undefined;
	}

	return spans.every(({since}) => since === first.since)
		? {...first, seen: Math.min(...spans.map(({seen}) => seen))}
		: {since: Math.max(...spans.map(({since}) => since)), seen: Math.min(...spans.map(({seen}) => seen))};
}

/** Whether another program has seen load and removed the time without load that this program had stored. */
const isEndedByOthers = ({since, seen}: Pause, candidate: Candidate): boolean =>
	seen - since >= settleSeconds && storedFor(candidate) === undefined;

/** Returns the pauses after one more observation. Load, an unknown reading or a long gap ends a pause. */
export const nextPauses = (
	pauses: ReadonlyMap<string, Pause>,
	candidates: readonly Candidate[],
	observation: Observation,
	{seenAt, memoryThresholdMiB, canAdvance}: Pick<Sight, 'seenAt' | 'memoryThresholdMiB' | 'canAdvance'>,
	snapshot: Pick<Snapshot, 'revision'>,
): ReadonlyMap<string, Pause> =>
	new Map(
		candidates.flatMap((candidate): ReadonlyArray<readonly [string, Pause]> => {
			const id = candidate.lease.leaseId!;
			const pause = pauses.get(id);
			if (!isWithoutLoad(candidate, observation, memoryThresholdMiB)) {
				return [];
			}

			if (!canAdvance) {
				return pause === undefined ? [] : [[id, pause]];
			}

			const isContinued =
				pause !== undefined && isUnbroken(pause, seenAt, snapshot) && !isEndedByOthers(pause, candidate);
			return [[id, {since: isContinued ? pause.since : seenAt, seen: seenAt}]];
		}),
	);

/**
Returns the parked time to store for a reservation after an observation. `isPaused` is true if the reservation has
no load and its owner does not keep it.
*/
export function parkedAfter(
	candidate: Candidate,
	isPaused: boolean,
	{snapshot, sight}: {readonly snapshot: Snapshot; readonly sight: Sight},
): LeaseParked | undefined {
	const {seenAt, canAdvance, pauses} = sight;
	const stored = storedFor(candidate);
	if (!isPaused) {
		return undefined;
	}

	if (!canAdvance) {
		return stored;
	}

	if (stored !== undefined && isUnbroken(stored, seenAt, snapshot)) {
		return seenAgain(stored, seenAt);
	}

	const pause = pauses?.get(candidate.lease.leaseId!);
	const since = Math.max(pause?.since ?? Infinity, candidate.lease.startTime);
	return seenAt - since >= settleSeconds ? spanFrom(since, seenAt) : undefined;
}

export const isSameParked = (one: LeaseParked | undefined, other: LeaseParked | undefined): boolean =>
	one?.since === other?.since && one?.seen === other?.seen && one?.toldOf === other?.toldOf;
