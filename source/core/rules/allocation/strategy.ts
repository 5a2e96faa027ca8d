/**
Which GPUs of those that are free a request gets. Every strategy is a score of a set of GPUs: a list of numbers, compared from the first on,
the lowest best. Pure, and total: the same GPUs give the same choice.
*/
import type {StrategyName} from '../../model/need.js';
import type {GpuLink, GpuLinks} from '../../model/types.js';

/** What a strategy goes by. Times are seconds on the store's clock; what is unknown is undefined. */
export type Candidate = {
	readonly index: number;
	/** When anybody last gave it back. Undefined: never used. */
	readonly lastReleased: number | undefined;
	/** When the asking user last gave it back. Undefined: not among the recent records. */
	readonly lastUsedByRequester: number | undefined;
	readonly temperatureCelsius?: number | undefined;
	readonly numaNode?: number | undefined;
	readonly pciRoot?: string | undefined;
};

/** All GPUs that are free, and how GPUs are linked. */
export type Box = {readonly free: readonly Candidate[]; readonly links: GpuLinks | undefined};

/** GPUs that are had already and stay, those that are free, and how many of these are to be chosen. */
export type Choice = {readonly kept: readonly Candidate[]; readonly free: readonly Candidate[]; readonly count: number};

type Chosen = {readonly kept: readonly Candidate[]; readonly chosen: readonly Candidate[]};

/** What orders GPUs, the first number first: the lowest comes first. What is unknown comes at one end. */
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
const linkCosts = {XGMI: 100, PIX: 200, PXB: 300, PHB: 400, NODE: 500, SYS: 600} as const;
const unknownLinkCost = 700;

/** The lower the better: many NVLinks before few, these and XGMI before any PCIe, and an unknown link last. */
export function linkCost(link: GpuLink | undefined): number {
	if (link === undefined) {
		return unknownLinkCost;
	}

	switch (link) {
		case 'XGMI':
		case 'PIX':
		case 'PXB':
		case 'PHB':
		case 'NODE':
		case 'SYS': {
			return linkCosts[link];
		}

		default: {
			return 100 - Math.min(99, Number(link.slice(2)));
		}
	}
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

/** How many domains a set of GPUs is in. A domain that is unknown is another one, or the same, whichever is worse. */
function domainCount(domains: ReadonlyArray<number | string | undefined>, isUnknownShared: boolean): number {
	const known = domains.filter((domain) => domain !== undefined);
	const unknown = domains.length - known.length;
	return new Set(known).size + (isUnknownShared ? Math.min(1, unknown) : unknown);
}

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

/** What counts before the order of the GPUs. Undefined: the order alone counts. */
const scoresOfSets: Readonly<Record<StrategyName, ((chosen: Chosen, box: Box) => readonly number[]) | undefined>> = {
	mru: undefined,
	lru: undefined,
	cool: undefined,
	pack(set, box) {
		const gpus = [...set.kept, ...set.chosen];
		return [
			domainCount(
				gpus.map(({numaNode}) => numaNode),
				false,
			),
			domainCount(
				gpus.map(({pciRoot}) => pciRoot),
				false,
			),
			leftBeside(set, box),
		];
	},
	spread(set, box) {
		const gpus = [...set.kept, ...set.chosen];
		return [
			-domainCount(
				gpus.map(({numaNode}) => numaNode),
				true,
			),
			-domainCount(
				gpus.map(({pciRoot}) => pciRoot),
				true,
			),
			-leftBeside(set, box),
		];
	},
	topology: ({kept, chosen}, {links}) => linkScore([...kept, ...chosen], links),
};

/** Whether the strategy goes by how the GPUs are linked. */
export const dependsOnLinks = (strategy: StrategyName | undefined): boolean => strategy === 'topology';

/** The lowest is the best. */
export function compareScores(one: readonly number[], other: readonly number[]): number {
	for (const [index, value] of one.entries()) {
		const theirs = other[index] ?? -Infinity;
		// Infinities are equal, although their difference is no number.
		if (value !== theirs) {
			return value < theirs ? -1 : 1;
		}
	}

	return one.length - other.length;
}

function inOrder(strategy: StrategyName, gpus: readonly Candidate[]): readonly Candidate[] {
	const order = orders[strategy];
	return gpus
		.map((gpu) => ({gpu, score: order(gpu)}))
		.toSorted((a, b) => compareScores(a.score, b.score))
		.map(({gpu}) => gpu);
}

/**
The score of a choice: what the strategy says of the set, then the ranks of its GPUs among all that are free.

@param box - The same for all choices that are compared.
*/
export function scoreOf(strategy: StrategyName, chosen: Chosen, box: Box): readonly number[] {
	const ranked = inOrder(strategy, box.free);
	return [
		...(scoresOfSets[strategy]?.(chosen, box) ?? []),
		...chosen.chosen.map((gpu) => ranked.indexOf(gpu)).toSorted((a, b) => a - b),
	];
}

/** With more free GPUs than these, their sets are too many to score each. */
const mostForAllSets = 16;

/**
@yields All sets of so many of these, those of the first ones first.
*/
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

/** Of several that are equally good the first. Undefined: there is none. */
function bestSet(sets: Sets, scoreOfSet: Score): readonly Candidate[] | undefined {
	let best: {readonly set: readonly Candidate[]; readonly score: readonly number[]} | undefined;
	for (const set of sets) {
		const score = scoreOfSet(set);
		if (best === undefined || compareScores(score, best.score) < 0) {
			best = {set, score};
		}
	}

	return best?.set;
}

/** One set that begins with each GPU, grown by what is best beside it. */
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
The best set of so many of the free GPUs: of all sets where up to 16 are free, and of those that grow step by step beyond.

@returns In the order of the strategy. All of them, where there are not more.
*/
export function bestOf(strategy: StrategyName, {kept, free, count}: Choice, box: Box): readonly Candidate[] {
	const ordered = inOrder(strategy, free);
	const setScore = scoresOfSets[strategy];
	if (setScore === undefined || ordered.length <= count || count === 0) {
		return ordered.slice(0, count);
	}

	const scoreOfSet: Score = (chosen) => setScore({kept, chosen}, box);
	// In the strategy's order, so that of several that are equally good the first is the best.
	const sets = ordered.length <= mostForAllSets ? setsOf(ordered, count) : grownSets(ordered, count, scoreOfSet);
	return bestSet(sets, scoreOfSet) ?? [];
}
