/** One observation of a reservation, and how much its observer can see. */
import type {Observation, Snapshot} from '../../model/types.js';
import {isUnusedForCertain, mayHideProcess} from '../usage/idle.js';
import type {Candidate, Observer} from './candidates.js';

/** How long an observer has seen a reservation without load. Times are on the store's clock. */
export type Pause = {readonly since: number; readonly seen: number};

export type Sight = Observer & {
	/** Store time of the observation. */
	readonly seenAt: number;
	readonly memoryThresholdMiB: number;
	/**
	False for an old observation, and for one that another process made. Such an observation can end idle times, but
	neither start nor continue them.
	*/
	readonly canAdvance: boolean;
	readonly pidNamespace?: string | undefined;
	/** The GPUs whose processes this observer could see before. */
	readonly seenGpus?: ReadonlySet<number> | undefined;
	readonly pauses?: ReadonlyMap<string, Pause> | undefined;
};

type Reading = Observation['gpus'][number];

/** Whether the GPU looks idle, except that some of its processes may be hidden from the observer. */
const hidesProcesses = (reading: Reading | undefined, {memoryThresholdMiB, pidNamespace}: Sight): boolean =>
	reading !== undefined &&
	isUnusedForCertain({...reading, processes: []}, memoryThresholdMiB) === true &&
	(reading.processes === undefined || mayHideProcess(reading, pidNamespace));

export const gpusSeenIn = ({gpus}: Observation, pidNamespace: string | undefined): readonly number[] =>
	gpus
		.filter((reading) => reading.processes !== undefined && !mayHideProcess(reading, pidNamespace))
		.map(({index}) => index);

/** `hidden`: everything is idle, but the observer has never seen the processes of a GPU. */
type Verdict = 'idle' | 'used' | 'unknown' | 'hidden';

export function judge({holdings}: Candidate, {drains}: Snapshot, observation: Observation, sight: Sight): Verdict {
	const verdicts = new Set(
		holdings.map(({index}): Verdict => {
			const reading = observation.gpus.find((gpu) => gpu.index === index);
			if (observation.failure !== undefined || drains.has(index)) {
				return 'unknown';
			}

			const isUnused = isUnusedForCertain(reading, sight.memoryThresholdMiB);
			if (isUnused === false) {
				return 'used';
			}

			return hidesProcesses(reading, sight)
				? sight.seenGpus?.has(index) === true
					? 'unknown'
					: 'hidden'
				: isUnused === true
					? 'idle'
					: 'unknown';
		}),
	);
	return (['used', 'unknown', 'hidden'] as const).find((verdict) => verdicts.has(verdict)) ?? 'idle';
}
