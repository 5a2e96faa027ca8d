import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {chooseGpus, type CandidateGroup, bestOf, linkCost} from '../../../../source/core/rules/allocation/choose.js';
import {strategyNames, type StrategyName} from '../../../../source/core/model/need.js';
import type {GpuLink, GpuLinks, GpuReading, GpuRecord, Snapshot} from '../../../../source/core/model/types.js';
import {randomFrom} from '../../../_helpers/world.js';
import {mixedBox, pairedLinks} from '../../../_helpers/mixed-box.js';

/** A random state of the machine with different GPUs. */
type State = {
	readonly snapshot: Snapshot;
	readonly readings: readonly GpuReading[];
	readonly links: GpuLinks;
};

const indexes = mixedBox.map(({index}) => index);

const linkNames: readonly GpuLink[] = ['NV12', 'NV4', 'PIX', 'PXB', 'PHB', 'NODE', 'SYS'];

const snapshotOf = (gpus: readonly GpuRecord[], lastUsed: ReadonlyMap<number, number>) =>
	({gpus, lastUsed}) as unknown as Snapshot;

function randomState(random: () => number): State {
	const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
	const gpus = indexes.map((index): GpuRecord => ({
		kind: 'free',
		index,
		raw: '',
		lastReleased: pick([undefined, 10, 20, 30]),
	}));
	const lastUsed = new Map(indexes.filter(() => random() < 0.3).map((index) => [index, pick([1, 2, 3])]));
	const readings = mixedBox.map((reading) => ({
		...reading,
		temperatureCelsius: pick([undefined, 30, 31, 45, 80]),
		numaNode: random() < 0.1 ? undefined : Math.floor(reading.index / 4),
		pciRoot: random() < 0.1 ? undefined : `pci${Math.floor(reading.index / 2)}`,
	}));
	// The GPUs are linked in pairs, or at random.
	const isPaired = random() < 0.5;
	const any = indexes.map((one) =>
		indexes.map((other) => (one === other ? undefined : pick([...linkNames, undefined]))),
	);
	const links = isPaired
		? pairedLinks
		: any.map((row, one) => row.map((_, other) => any[Math.min(one, other)]![Math.max(one, other)]));
	return {snapshot: snapshotOf(gpus, lastUsed), readings, links};
}

/** Returns all sets of this size in no particular order. */
const setsOf = (items: readonly number[], count: number): ReadonlyArray<readonly number[]> =>
	count === 0
		? [[]]
		: items.flatMap((item, index) => setsOf(items.slice(index + 1), count - 1).map((rest) => [item, ...rest]));

const releasedOf = (record: GpuRecord | undefined): number | undefined =>
	record?.kind === 'free' ? record.lastReleased : undefined;

/** A simple model of the help text, in which each rule keeps the best of the sets that the previous rules kept. */
function bestByWords(strategy: StrategyName, groups: ReadonlyArray<readonly number[]>, count: number, state: State) {
	const {snapshot, readings, links} = state;
	const free = [...new Set(groups.flat())];
	const keep = <Item>(items: readonly Item[], cost: (item: Item) => number): readonly Item[] => {
		const costs = items.map((item) => cost(item));
		const least = Math.min(...costs);
		return items.filter((_, position) => costs[position] === least);
	};

	const used = (index: number) => -(snapshot.lastUsed.get(index) ?? -1);
	const released = (index: number) => releasedOf(snapshot.gpus[index]) ?? -1;
	const celsius = (index: number) => readings[index]!.temperatureCelsius ?? 1000;
	const rules = {
		mru: [used, released],
		lru: [released],
		cool: [celsius, used, released],
		pack: [used, released],
		spread: [used, released],
		topology: [used, released],
	}[strategy];
	const ranked = free.toSorted((a, b) => {
		const rule = rules.find((cost) => cost(a) !== cost(b));
		return rule === undefined ? a - b : rule(a) - rule(b);
	});
	const ofOne = <Value>(set: readonly number[], value: (index: number) => Value | undefined) => {
		const values = set.map((index) => value(index));
		return {
			known: new Set(values.filter((one) => one !== undefined)),
			unknown: values.filter((one) => one === undefined).length,
		};
	};

	const nodes = (set: readonly number[]) => ofOne(set, (index) => readings[index]!.numaNode);
	const roots = (set: readonly number[]) => ofOne(set, (index) => readings[index]!.pciRoot);
	const left = (set: readonly number[]) =>
		free.filter((index) => !set.includes(index) && nodes(set).known.has(readings[index]!.numaNode ?? -1)).length;
	const costs = (set: readonly number[]) =>
		set.flatMap((one, position) => set.slice(position + 1).map((other) => linkCost(links[one]![other])));
	const strict = ({known, unknown}: {readonly known: ReadonlySet<unknown>; readonly unknown: number}) =>
		known.size + unknown;
	const loose = ({known, unknown}: {readonly known: ReadonlySet<unknown>; readonly unknown: number}) =>
		known.size + (unknown > 0 ? 1 : 0);
	const rulesOfSets: ReadonlyArray<(set: readonly number[]) => number> = {
		mru: [],
		lru: [],
		cool: [],
		pack: [(set: readonly number[]) => strict(nodes(set)), (set: readonly number[]) => strict(roots(set)), left],
		spread: [
			(set: readonly number[]) => -loose(nodes(set)),
			(set: readonly number[]) => -loose(roots(set)),
			(set: readonly number[]) => -left(set),
		],
		topology: [
			(set: readonly number[]) => Math.max(0, ...costs(set)),
			(set: readonly number[]) => costs(set).reduce((sum, cost) => sum + cost, 0),
		],
	}[strategy];
	let sets = groups.flatMap((group) => setsOf(group, count));
	for (const rule of rulesOfSets) {
		sets = [...keep(sets, rule)];
	}

	for (let rank = 0; rank < count; rank++) {
		sets = [...keep(sets, (set) => set.map((index) => ranked.indexOf(index)).toSorted((a, b) => a - b)[rank]!)];
	}

	return sets[0]!.toSorted((a, b) => a - b);
}

const offerOf = (free: readonly number[], count: number): CandidateGroup => ({kept: [], free, heldByOthers: [], count});

const groupings: ReadonlyArray<ReadonlyArray<readonly number[]>> = [
	[indexes],
	[
		[0, 1, 2, 3],
		[4, 5, 6, 7],
	],
	[
		[0, 1],
		[2, 3],
		[4, 5],
		[6, 7],
	],
];

/** The number of cases for each strategy. */
const states = 10_000;

describe.each(strategyNames)('the strategy %s on a machine with different GPUs', (strategy) => {
	test('chooses the documented GPUs, for any order of the GPUs', () => {
		const random = randomFrom(strategyNames.indexOf(strategy) + 1);
		for (let index = 0; index < states; index++) {
			const state = randomState(random);
			const grouping = groupings[index % groupings.length]!;
			const free = grouping.map((group) => group.filter(() => random() < 0.75)).filter(({length}) => length > 0);
			const longest = Math.max(0, ...free.map(({length}) => length));
			if (longest === 0) {
				continue;
			}

			const count = 1 + Math.floor(random() * Math.min(4, longest));
			const choice = chooseGpus(
				state.snapshot,
				free.map((group) => offerOf(group, count)),
				{strategy, ...state},
			);
			const expected = bestByWords(strategy, free, count, state);
			expect(
				choice?.taken.toSorted((a, b) => a - b),
				`state ${index}`,
			).toEqual(expected);
			const turned = chooseGpus(
				state.snapshot,
				free.toReversed().map((group) => offerOf(group.toReversed(), count)),
				{strategy, ...state},
			);
			expect(
				turned?.taken.toSorted((a, b) => a - b),
				`state ${index}, turned`,
			).toEqual(expected);
		}
	});
});

describe('the strategies', () => {
	const readings = (nodes: readonly number[], temperatures: readonly number[] = []): readonly GpuReading[] =>
		mixedBox.map((reading) => ({
			...reading,
			numaNode: nodes[reading.index] ?? 0,
			temperatureCelsius: temperatures[reading.index],
		}));
	const taken = (
		strategy: StrategyName,
		free: readonly number[],
		count: number,
		seen = readings([0, 0, 0, 0, 1, 1, 1, 1]),
	) =>
		chooseGpus(
			snapshotOf(
				indexes.map((index) => ({kind: 'free', index, raw: ''})),
				new Map([[6, 5]]),
			),
			[offerOf(free, count)],
			{strategy, readings: seen, links: pairedLinks},
		)?.taken;

	test('choose the documented GPUs on a machine with linked pairs of GPUs', () => {
		expect(taken('mru', indexes, 2)).toEqual([6, 0]);
		expect(taken('lru', indexes, 2)).toEqual([0, 1]);
		expect(taken('topology', indexes, 2)).toEqual([6, 7]);
		expect(taken('topology', [0, 2, 3, 6], 2)).toEqual([2, 3]);
		expect(taken('pack', [0, 1, 2, 3, 5, 6], 2)).toEqual([6, 5]);
		expect(taken('pack', [0, 1, 2, 3, 5, 6], 3)).toEqual([0, 1, 2]);
		expect(taken('spread', [0, 1, 2, 3, 5, 6], 1)).toEqual([0]);
		expect(taken('spread', [0, 1, 2, 3, 5, 6], 2)).toEqual([6, 0]);
		expect(taken('cool', indexes, 2, readings([], [50, 40, 30, 60]))).toEqual([2, 1]);
	});

	test('choose free GPUs before GPUs that waiting requests hold, and as few held GPUs as possible', () => {
		const snapshot = snapshotOf(
			indexes.map((index) => ({kind: 'free', index, raw: ''})),
			new Map(),
		);
		const groups: readonly CandidateGroup[] = [
			{kept: [], free: [0], heldByOthers: [1, 2], count: 2},
			{kept: [4], free: [6], heldByOthers: [5], count: 1},
		];
		expect(chooseGpus(snapshot, groups, {})).toMatchObject({group: groups[1], taken: [6]});
		expect(chooseGpus(snapshot, groups.slice(0, 1), {})).toMatchObject({taken: [0, 1]});
		expect(chooseGpus(snapshot, [{...groups[0]!, count: 4}], {})).toBeUndefined();
	});

	test('choose the requested number quickly on a machine with 64 GPUs', () => {
		const many = Array.from({length: 64}, (_, index) => index);
		const free = many.map((index) => ({
			index,
			lastReleased: undefined,
			lastUsedByRequester: undefined,
			numaNode: index % 4,
			pciRoot: `pci${index % 16}`,
		}));
		const links = many.map((one) => many.map((other): GpuLink => (one % 8 === other % 8 ? 'NV4' : 'SYS')));
		for (const strategy of strategyNames) {
			const chosen = bestOf(strategy, {kept: [], free, count: 8}, {free, links});
			expect(new Set(chosen).size).toBe(8);
			if (strategy === 'topology') {
				expect(new Set(chosen.map(({index}) => index % 8)).size).toBe(1);
			}
		}
	});

	test('always choose the requested number of GPUs if that many are free', () => {
		const anyTime = fc.option(fc.integer({min: 0, max: 5}), {nil: undefined});
		const candidates = fc
			.array(
				fc.record({
					lastReleased: anyTime,
					lastUsedByRequester: anyTime,
					temperatureCelsius: anyTime,
					numaNode: anyTime,
					pciRoot: fc.constantFrom('a', 'b', undefined),
				}),
				{maxLength: 12},
			)
			.map((list) => list.map((candidate, index) => ({...candidate, index})));
		fc.assert(
			fc.property(candidates, fc.constantFrom(...strategyNames), fc.nat(12), (free, strategy, count) => {
				const chosen = bestOf(strategy, {kept: [], free, count}, {free, links: undefined});
				expect(new Set(chosen).size).toBe(Math.min(count, free.length));
			}),
		);
	});
});
