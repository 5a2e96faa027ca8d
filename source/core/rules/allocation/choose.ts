/**
Chooses among the available GPUs, for newcomers and waiters. Each strategy scores sets of GPUs with a list of numbers, compared in order,
lowest first. Pure and deterministic.
*/
import type {GpuGroup, GpuLinks, GpuReading, GpuRecord, Snapshot, GpuLink} from '../../model/types.js';
import type {StrategyName} from '../../model/need.js';
import {compareNumbers} from './compare-numbers.js';
import {rankShares, type GpuCandidate} from './gpu-candidate.js';
import {readingsByIndex} from './need.js';

/** Facts that strategies use. Times are seconds on the store's clock. Undefined values are unknown. */
type Candidate = {
	readonly index: number;
	/** When anybody last gave it back. Undefined: never used. */
	readonly lastReleased: number | undefined;
	/** When the asking user last gave it back. Undefined: not among the recent records. */
	readonly lastUsedByRequester: number | undefined;
	readonly temperatureCelsius?: number | undefined;
	readonly numaNode?: number | undefined;
	readonly pciRoot?: string | undefined;
};

/** All free GPUs and the links between GPUs. */
type Box = {readonly free: readonly Candidate[]; readonly links: GpuLinks | undefined};

/** GPUs that are had already and stay, those that are free, and how many of these are to be chosen. */
type Choice = {readonly kept: readonly Candidate[]; readonly free: readonly Candidate[]; readonly count: number};

type Chosen = {readonly kept: readonly Candidate[]; readonly chosen: readonly Candidate[]};

/** Orders GPUs by a list of numbers, lowest first. Unknown values sort to one end. */
type Order = (gpu: Candidate) => readonly number[];

/** The GPU released longest ago first, never used before all others; then the lowest index. */
const leastRecentFirst: Order = ({lastReleased = -Infinity, index}) => [lastReleased, index];

/** The GPUs that this user used last come first: their caches and habits are there. */
const mostRecentUserFirst: Order = ({lastUsedByRequester = -Infinity, lastReleased = -Infinity, index}) => [
	-lastUsedByRequester,
	lastReleased,
	index,
];

const coolestFirst: Order = (gpu) => [gpu.temperatureCelsius ?? Infinity, ...mostRecentUserFirst(gpu)];

/** Whole numbers: the sum of fractions would depend on their order. */
const linkCosts: Readonly<Record<string, number>> = {XGMI: 100, PIX: 200, PXB: 300, PHB: 400, NODE: 500, SYS: 600};
const unknownLinkCost = 700;

/** The lower the better: many NVLinks before few, these and XGMI before any PCIe, and an unknown link last. */
export function linkCost(link: GpuLink | undefined): number {
	return link === undefined ? unknownLinkCost : (linkCosts[link] ?? 100 - Math.min(99, Number(link.slice(2))));
}

/** @returns The worst link of a set of GPUs, and the sum of all. None has the cost 0. */
function linkScore(set: readonly Candidate[], links: GpuLinks | undefined): readonly [worst: number, sum: number] {
	let worst = 0;
	let sum = 0;
	for (const [position, {index}] of set.entries()) {
		for (const other of set.slice(position + 1)) {
			const cost = linkCost(links?.[index]?.[other.index]);
			worst = Math.max(worst, cost);
			sum += cost;
		}
	}

	return [worst, sum];
}

/** Counts the NUMA nodes and PCI roots of a set of GPUs. An unknown one counts as shared or separate, whichever is worse. */
const domainCounts = ({kept, chosen}: Chosen, isUnknownShared: boolean): readonly number[] =>
	(['numaNode', 'pciRoot'] as const).map((domain) => {
		const domains = [...kept, ...chosen].map((gpu) => gpu[domain]);
		const known = domains.filter((one) => one !== undefined);
		const unknown = domains.length - known.length;
		return new Set(known).size + (isUnknownShared ? Math.min(1, unknown) : unknown);
	});

/** Free GPUs that a choice leaves in the NUMA nodes that it is in. */
function leftBeside({kept, chosen}: Chosen, {free}: Box): number {
	const nodes = new Set([...kept, ...chosen].map(({numaNode}) => numaNode).filter((node) => node !== undefined));
	return free.filter((gpu) => gpu.numaNode !== undefined && nodes.has(gpu.numaNode) && !chosen.includes(gpu)).length;
}

const orders: Readonly<Record<StrategyName, Order>> = {
	mru: mostRecentUserFirst,
	lru: leastRecentFirst,
	cool: coolestFirst,
	pack: mostRecentUserFirst,
	spread: mostRecentUserFirst,
	topology: mostRecentUserFirst,
};

/** Scores that precede the order of the GPUs. Undefined if only the order counts. */
const scoresOfSets: Readonly<Record<StrategyName, ((chosen: Chosen, box: Box) => readonly number[]) | undefined>> = {
	mru: undefined,
	lru: undefined,
	cool: undefined,
	pack: (set, box) => [...domainCounts(set, false), leftBeside(set, box)],
	spread: (set, box) => [...domainCounts(set, true), leftBeside(set, box)].map((count) => -count),
	topology: ({kept, chosen}, {links}) => linkScore([...kept, ...chosen], links),
};

/** Whether the strategy uses the links between GPUs. */
export const dependsOnLinks = (strategy: StrategyName | undefined): boolean => strategy === 'topology';

function inOrder(strategy: StrategyName, gpus: readonly Candidate[]): readonly Candidate[] {
	const order = orders[strategy];
	return gpus
		.map((gpu) => ({gpu, score: order(gpu)}))
		.toSorted((a, b) => compareNumbers(a.score, b.score))
		.map(({gpu}) => gpu);
}

/**
The score of a choice: what the strategy says of the set, then the ranks of its GPUs among all that are free.

@param box - The same for all choices that are compared.
*/
function scoreOf(strategy: StrategyName, chosen: Chosen, box: Box): readonly number[] {
	const ranked = inOrder(strategy, box.free);
	return [
		...(scoresOfSets[strategy]?.(chosen, box) ?? []),
		...chosen.chosen.map((gpu) => ranked.indexOf(gpu)).toSorted((a, b) => a - b),
	];
}

/** With more free GPUs than this, scoring every set would take too long. */
const mostForAllSets = 16;

/** @yields All sets of this size, in the order of the items. */
function* setsOf<Item>(items: readonly Item[], count: number, from = 0): Generator<readonly Item[]> {
	if (count === 0) {
		yield [];
		return;
	}

	for (let index = from; index <= items.length - count; index++) {
		for (const rest of setsOf(items, count - 1, index + 1)) {
			yield [items[index]!, ...rest];
		}
	}
}

type Sets = Iterable<readonly Candidate[]>;

type Score = (set: readonly Candidate[]) => readonly number[];

/** Returns the best set, or the first of several equally good ones. Undefined if there are no sets. */
function bestSet(sets: Sets, scoreOfSet: Score): readonly Candidate[] | undefined {
	let best: {readonly set: readonly Candidate[]; readonly score: readonly number[]} | undefined;
	for (const set of sets) {
		const score = scoreOfSet(set);
		if (best === undefined || compareNumbers(score, best.score) < 0) {
			best = {set, score};
		}
	}

	return best?.set;
}

/** Starts a set with each GPU, and repeatedly adds the best next GPU. */
const grownSets = (free: readonly Candidate[], count: number, scoreOfSet: Score): Sets =>
	free.map((first) => {
		let set: readonly Candidate[] = [first];
		for (let size = 1; size < count; size++) {
			const smaller = set;
			const grown = free.filter((gpu) => !smaller.includes(gpu)).map((gpu) => [...smaller, gpu]);
			set = bestSet(grown, scoreOfSet) ?? smaller;
		}

		return set;
	});

/**
Returns the best set of free GPUs: among all sets for up to 16 free GPUs, otherwise among sets grown step by step.

@returns In the order of the strategy. All GPUs if there are not more.
*/
export function bestOf(strategy: StrategyName, {kept, free, count}: Choice, box: Box): readonly Candidate[] {
	const ordered = inOrder(strategy, free);
	const setScore = scoresOfSets[strategy];
	if (setScore === undefined || ordered.length <= count || count === 0) {
		return ordered.slice(0, count);
	}

	const scoreOfSet: Score = (chosen) => setScore({kept, chosen}, box);
	// The order of the strategy decides between equally good sets.
	const sets = ordered.length <= mostForAllSets ? setsOf(ordered, count) : grownSets(ordered, count, scoreOfSet);
	return bestSet(sets, scoreOfSet) ?? [];
}

/** Facts about GPUs beyond the records, as far as the strategy uses them. */
export type Preference = {
	readonly strategy?: StrategyName;
	readonly readings?: readonly GpuReading[];
	/** Undefined: no link is known. */
	readonly links?: GpuLinks;
};

/** Available GPUs of one group. */
export type CandidateGroup = {
	/** GPUs that are held already and stay. */
	readonly kept: readonly number[];
	/** For shares: GPUs that are already shared and have room. They come before all free GPUs, in this order. */
	readonly shared?: readonly number[];
	readonly free: readonly number[];
	/** GPUs that waiting requests hold. They come after all free GPUs, in this order. */
	readonly heldByOthers: readonly number[];
	/** Number of missing GPUs. */
	readonly count: number;
};

/** Returns the available GPUs of each group. Held GPUs stay as far as they are wanted. */
export function candidateGroupsOf(
	groups: readonly GpuGroup[],
	candidates: readonly GpuCandidate[],
	{count, held = []}: {readonly count: number; readonly held?: readonly number[]},
) {
	const shared = rankShares(candidates);
	const free = candidates.map(({record}) => record).filter(({kind}) => kind === 'free');
	const heldByOthers = candidates.filter(({takes}) => takes.length > 0).map(({record}) => record);
	return groups.map((group) => {
		const members = new Set(group);
		const among = (gpus: readonly GpuRecord[]) => gpus.map(({index}) => index).filter((index) => members.has(index));
		const kept = held.filter((index) => members.has(index)).slice(0, count);
		return {
			kept,
			shared: among(shared),
			free: among(free),
			heldByOthers: among(heldByOthers),
			count: count - kept.length,
		};
	});
}

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
				order: [needed, missing, ...score],
				taken: [...fromShared, ...chosen.map(({index}) => index), ...heldByOthers.slice(0, needed)],
			},
		];
	});
	const [best] = complete.toSorted((a, b) => compareNumbers(a.order, b.order));
	return best;
}
