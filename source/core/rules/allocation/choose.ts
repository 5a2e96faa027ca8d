/** Which of the GPUs that could be had are taken: by the strategy, for a newcomer and for one who waits alike. */
import type {GpuLinks, GpuReading, GpuRecord, Snapshot} from '../../model/types.js';
import type {StrategyName} from '../../model/need.js';
import {readingsByIndex} from './need.js';
import {bestOf, compareScores, scoreOf, type Candidate} from './strategy.js';

/** What is known of GPUs beside the records, as far as the strategy goes by it. */
export type Preference = {
	readonly strategy?: StrategyName;
	readonly readings?: readonly GpuReading[];
	/** Undefined: no link is known. */
	readonly links?: GpuLinks;
};

/** GPUs of one group that could be had. */
export type CandidateGroup = {
	/** Those that are had already and stay. */
	readonly kept: readonly number[];
	/** Of a request for a share: those that are shared already and have room, in the order in which they are taken, before all that are free. */
	readonly shared?: readonly number[];
	readonly free: readonly number[];
	/** What others only hold while they wait, in the order in which it is taken: after all that are free. */
	readonly heldByOthers: readonly number[];
	/** How many are missing. */
	readonly count: number;
};

function candidateOf(record: GpuRecord, {lastUsed}: Snapshot, reading: GpuReading | undefined): Candidate {
	const {index} = record;
	return {
		index,
		lastReleased: record.kind === 'free' ? record.lastReleased : undefined,
		lastUsedByRequester: lastUsed.get(index),
		temperatureCelsius: reading?.temperatureCelsius,
		numaNode: reading?.numaNode,
		pciRoot: reading?.pciRoot,
	};
}

/**
Chooses all that is missing of one of the groups: of those that can be completed the one that takes least from others, and of several of
those the best by the strategy.

@returns GPUs to take, and of which group; undefined where none can be completed.
*/
export function chooseGpus(
	snapshot: Snapshot,
	groups: readonly CandidateGroup[],
	{strategy = 'mru', readings = [], links}: Preference,
): {readonly group: CandidateGroup; readonly taken: readonly number[]} | undefined {
	const byIndex = readingsByIndex(readings, snapshot.gpus.length);
	const candidates = snapshot.gpus.map((record, index) => candidateOf(record, snapshot, byIndex[index]));
	const candidatesOf = (gpus: readonly number[]) => gpus.map((index) => candidates[index]!);
	const isFree = groups.length === 1 ? undefined : new Set(groups.flatMap(({free}) => free));
	const allFree =
		isFree === undefined ? candidatesOf(groups[0]!.free) : candidates.filter(({index}) => isFree.has(index));
	const box = {free: allFree, links};
	const complete = groups.flatMap((group) => {
		const {kept, shared = [], free, heldByOthers, count} = group;
		const fromShared = shared.slice(0, count);
		const missing = count - fromShared.length;
		const needed = Math.max(0, missing - free.length);
		if (needed > heldByOthers.length) {
			return [];
		}

		const keptGpus = candidatesOf([...kept, ...fromShared]);
		const chosen = bestOf(strategy, {kept: keptGpus, free: candidatesOf(free), count: missing - needed}, box);
		// A single group, as in a box of one model, is compared with nothing.
		const score = groups.length === 1 ? [] : scoreOf(strategy, {kept: keptGpus, chosen}, box);
		return [
			{
				group,
				needed,
				missing,
				score,
				taken: [...fromShared, ...chosen.map(({index}) => index), ...heldByOthers.slice(0, needed)],
			},
		];
	});
	const [best] = complete.toSorted((a, b) =>
		a.needed === b.needed
			? a.missing === b.missing
				? compareScores(a.score, b.score)
				: a.missing - b.missing
			: a.needed - b.needed,
	);
	return best;
}
