/** Chooses GPUs by a strategy, which scores each set of available GPUs with a list of numbers. The set with the lowest score is chosen. */
import type {GpuGroup, GpuLinks, GpuReading, GpuRecord, Snapshot, GpuLink} from '../../model/types.js';
import type {StrategyName} from '../../model/need.js';
import {compareNumbers} from './compare-numbers.js';
import {rankShares, type GpuCandidate} from './gpu-candidate.js';
import {readingsByIndex} from './need.js';

/** Facts that strategies use. Times are store times. Undefined values are unknown. */
type Candidate = {
	readonly index: number;
	readonly lastReleased: number | undefined;
	/** When the requesting user last released the GPU. Undefined if the user has not used it recently. */
	readonly lastUsedByRequester: number | undefined;
	readonly temperatureCelsius?: number | undefined;
	readonly numaNode?: number | undefined;
	readonly pciRoot?: string | undefined;
};

type Box = {readonly free: readonly Candidate[]; readonly links: GpuLinks | undefined};

/** The GPUs that the request already holds and keeps, the free GPUs, and how many of the free GPUs to choose. */
type Choice = {readonly kept: readonly Candidate[]; readonly free: readonly Candidate[]; readonly count: number};

type Chosen = {readonly kept: readonly Candidate[]; readonly chosen: readonly Candidate[]};

type Order = (gpu: Candidate) => readonly number[];

const leastRecentFirst: Order = ({lastReleased = -Infinity, index}) => [lastReleased, index];

const mostRecentUserFirst: Order = ({lastUsedByRequester = -Infinity, lastReleased = -Infinity, index}) => [
	-lastUsedByRequester,
	lastReleased,
	index,
];

const coolestFirst: Order = (gpu) => [gpu.temperatureCelsius ?? Infinity, ...mostRecentUserFirst(gpu)];

/** Cost of each link. The costs are whole numbers, because the rounded sum of fractions depends on their order. */
const linkCosts: Readonly<Record<string, number>> = {XGMI: 100, PIX: 200, PXB: 300, PHB: 400, NODE: 500, SYS: 600};
const unknownLinkCost = 700;

/** Returns the cost of a link. Many NVLinks cost least, followed by few NVLinks, XGMI, PCIe and unknown links. */
export function linkCost(link: GpuLink | undefined): number {
	return link === undefined ? unknownLinkCost : (linkCosts[link] ?? 100 - Math.min(99, Number(link.slice(2))));
}

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

/**
Counts the NUMA nodes and PCI roots of a set. GPUs with an unknown node or root count as one together if
`isUnknownShared` is set, and otherwise as one each.
*/
const domainCounts = ({kept, chosen}: Chosen, isUnknownShared: boolean): readonly number[] =>
	(['numaNode', 'pciRoot'] as const).map((domain) => {
		const domains = [...kept, ...chosen].map((gpu) => gpu[domain]);
		const known = domains.filter((one) => one !== undefined);
		const unknown = domains.length - known.length;
		return new Set(known).size + (isUnknownShared ? Math.min(1, unknown) : unknown);
	});

/** Counts the GPUs that stay free on the NUMA nodes of the chosen GPUs. */
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

/** How each strategy scores a set. For equal scores, the strategy's order of the GPUs decides. Undefined for a strategy that has only an order. */
const scoresOfSets: Readonly<Record<StrategyName, ((chosen: Chosen, box: Box) => readonly number[]) | undefined>> = {
	mru: undefined,
	lru: undefined,
	cool: undefined,
	pack: (set, box) => [...domainCounts(set, false), leftBeside(set, box)],
	spread: (set, box) => [...domainCounts(set, true), leftBeside(set, box)].map((count) => -count),
	topology: ({kept, chosen}, {links}) => linkScore([...kept, ...chosen], links),
};

export const dependsOnLinks = (strategy: StrategyName | undefined): boolean => strategy === 'topology';

function inOrder(strategy: StrategyName, gpus: readonly Candidate[]): readonly Candidate[] {
	const order = orders[strategy];
	return gpus
		.map((gpu) => ({gpu, score: order(gpu)}))
		.toSorted((a, b) => compareNumbers(a.score, b.score))
		.map(({gpu}) => gpu);
}

/** Returns the strategy's score of a set, then the positions of its GPUs in the strategy's order. Only scores of the same `box` are comparable. */
function scoreOf(strategy: StrategyName, chosen: Chosen, box: Box): readonly number[] {
	const ranked = inOrder(strategy, box.free);
	return [
		...(scoresOfSets[strategy]?.(chosen, box) ?? []),
		...chosen.chosen.map((gpu) => ranked.indexOf(gpu)).toSorted((a, b) => a - b),
	];
}

/** With more free GPUs than this, scoring every set would take too long. */
const mostForAllSets = 16;

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

/** Returns the best `count` free GPUs, or all if there are fewer. With more than 16 free GPUs, approximates the best set, one GPU at a time. */
export function bestOf(strategy: StrategyName, {kept, free, count}: Choice, box: Box): readonly Candidate[] {
	const ordered = inOrder(strategy, free);
	const setScore = scoresOfSets[strategy];
	if (setScore === undefined || ordered.length <= count || count === 0) {
		return ordered.slice(0, count);
	}

	const scoreOfSet: Score = (chosen) => setScore({kept, chosen}, box);
	const sets = ordered.length <= mostForAllSets ? setsOf(ordered, count) : grownSets(ordered, count, scoreOfSet);
	return bestSet(sets, scoreOfSet) ?? [];
}

export type Preference = {
	readonly strategy?: StrategyName;
	readonly readings?: readonly GpuReading[];
	readonly links?: GpuLinks;
};

export type CandidateGroup = {
	readonly kept: readonly number[];
	/** For a request for shares, the shared GPUs with room. They are chosen before any free GPU, in this order. */
	readonly shared?: readonly number[];
	readonly free: readonly number[];
	/** GPUs that waiting requests hold. They are chosen after all free GPUs, in this order. */
	readonly heldByOthers: readonly number[];
	readonly count: number;
};

/** Returns the available GPUs of each group. GPUs in `held` are kept if they are in the group. */
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

/** Chooses the group that takes the fewest GPUs from other requests. The strategy decides between equal groups. Undefined if none has enough GPUs. */
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
