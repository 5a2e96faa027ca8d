import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {requirePossible} from '../../../../source/core/rules/allocation/impossible.js';
import {
	eligibilityOf,
	eligibleAfterScan,
	gpusOf,
	isModel,
	meets,
} from '../../../../source/core/rules/allocation/need.js';
import type {Wanted} from '../../../../source/core/rules/request/request.js';
import type {GpuLinks, GpuReading, Need} from '../../../../source/core/model/types.js';
import type {CanhazgpuError} from '../../../../source/errors.js';
import {observationOf} from '../../../_helpers/world.js';
import {mixedBox, pairedLinks} from '../../../_helpers/mixed-box.js';

const groups = (wanted: Wanted, gpus: readonly GpuReading[] = mixedBox, links: GpuLinks | undefined = pairedLinks) =>
	eligibilityOf(wanted, observationOf(gpus), 8, links);

const without = (index: number, ...fields: ReadonlyArray<keyof GpuReading>): readonly GpuReading[] =>
	mixedBox.map((reading) =>
		reading.index === index
			? (Object.fromEntries(
					Object.entries(reading).filter(([name]) => !fields.includes(name as keyof GpuReading)),
				) as GpuReading)
			: reading,
	);

function refusalOf(wanted: Wanted, gpus = mixedBox, links: GpuLinks | undefined = pairedLinks): string {
	const observation = observationOf(gpus);
	const eligibility = eligibilityOf(wanted, observation, 8, links);
	try {
		requirePossible(wanted, {eligibility, observation, gpuCount: 8, links});
	} catch (error) {
		const {message, hint, exitCode} = error as CanhazgpuError;
		return `${exitCode}: ${message} | ${hint}`;
	}

	return 'possible';
}

test.each([
	['NVIDIA H100 80GB HBM3', 'h100', true],
	['NVIDIA A100-SXM4-80GB', 'A100', true],
	['NVIDIA A100-SXM4-80GB', 'a100-80gb', true],
	['NVIDIA A100-SXM4-80GB', 'a10', false],
	['NVIDIA L40S', 'l40', false],
	['NVIDIA GeForce RTX 4090', 'rtx 4090', true],
	['NVIDIA GeForce RTX 4090', '4090 rtx', false],
	['NVIDIA L40S', '-', false],
])('isModel for the GPU "%s" and the requested model "%s" is %s', (name, wanted, answer) => {
	expect(isModel(name, wanted)).toBe(answer);
});

describe('eligibility on a machine with different GPU models', () => {
	test('allows any GPU for a single-GPU request, and requires one model for a request for several GPUs', () => {
		expect(groups({count: 1}).groups).toBeUndefined();
		expect(groups({count: 2}).groups).toEqual([
			[0, 1, 2, 3],
			[4, 5, 6, 7],
		]);
		expect(groups({count: 2, need: {sameModel: false}}).groups).toBeUndefined();
		expect(groups({count: 2, ids: [3, 4]}).groups).toBeUndefined();
	});

	test('keeps only the GPUs that meet the requirements', () => {
		expect(groups({count: 1, need: {minMemoryMiB: 60_000}}).groups).toEqual([[0, 1, 2, 3]]);
		expect(groups({count: 1, need: {models: ['h100', 'l40s']}}).groups).toEqual([[4, 5, 6, 7]]);
		expect(groups({count: 1, need: {minCompute: '8.5'}}).groups).toEqual([[4, 5, 6, 7]]);
		expect(groups({count: 1, need: {minCompute: '8.0'}}).groups).toEqual([[0, 1, 2, 3, 4, 5, 6, 7]]);
		expect(groups({count: 2, need: {nvlink: true}}).groups).toEqual([
			[0, 1],
			[2, 3],
			[4, 5],
			[6, 7],
		]);
		expect(groups({count: 2, ids: [2, 3], need: {nvlink: true, minMemoryMiB: 60_000}}).groups).toEqual([[2, 3]]);
	});

	test('compares compute capabilities as numbers: 10.0 is more than 9.0', () => {
		expect(meets({minCompute: '9.0'}, {...mixedBox[0]!, computeCapability: '10.0'})).toBe(true);
		expect(meets({minCompute: '9'}, {...mixedBox[0]!, computeCapability: '8.9'})).toBe(false);
		expect(meets({minCompute: '9.0'}, {...mixedBox[0]!, computeCapability: 'new'})).toBe('compute capability');
	});

	test("rejects an impossible request with a list of the pool's GPUs", () => {
		const there = 'The pool has 4 A100-SXM4-80GB of 80 GiB (8.0), 4 L40S of 45 GiB (8.9).';
		expect(refusalOf({count: 1, need: {models: ['h100']}})).toBe(`2: No GPU of model h100 in this pool | ${there}`);
		expect(refusalOf({count: 1, need: {minMemoryMiB: 133_515}})).toBe(
			`2: No GPU with 140G or more in this pool | ${there}`,
		);
		expect(refusalOf({count: 5})).toBe(
			`2: Cannot reserve 5 GPUs of one model: this pool has at most 4 | ${there} Different models are allowed with --mixed.`,
		);
		expect(refusalOf({count: 5, need: {sameModel: false}})).toBe('possible');
		expect(refusalOf({count: 3, need: {nvlink: true, models: ['a100']}})).toBe(
			`2: Cannot reserve 3 GPUs of model a100, of one model, linked by NVLink: this pool has at most 2 | ${there}`,
		);
		expect(refusalOf({count: 2, ids: [3, 4], need: {models: ['a100']}})).toBe(
			`2: GPU 4 is not a GPU of model a100 | ${there}`,
		);
		expect(refusalOf({count: 2, ids: [3, 4], need: {sameModel: true}})).toBe(
			`2: GPUs 3, 4 are not GPUs of one model | ${there}`,
		);
	});

	test('counts an unknown property as unmet, but does not call the request impossible', () => {
		const blind = without(3, 'name', 'memoryTotalMiB', 'computeCapability');
		expect(groups({count: 1, need: {minMemoryMiB: 60_000}}, blind)).toMatchObject({
			groups: [[0, 1, 2]],
			unknown: new Map([[3, 'memory']]),
			isCertain: false,
		});
		expect(groups({count: 4, need: {models: ['a100']}}, blind)).toMatchObject({groups: [], isPossible: true});
		expect(groups({count: 4, need: {sameModel: true}}, blind).groups).toEqual([[4, 5, 6, 7]]);
		expect(eligibilityOf({count: 2, need: {nvlink: true}}, observationOf(mixedBox), 8)).toMatchObject({
			groups: [],
			isPossible: true,
		});
		// If no model was requested, a GPU of unknown model can be combined with any others.
		expect(groups({count: 4}, blind).groups).toEqual([
			[0, 1, 2, 3],
			[3, 4, 5, 6, 7],
		]);
		const failed = eligibilityOf(
			{count: 1, need: {models: ['h100']}},
			observationOf([], {failure: {message: 'no tool'}}),
			8,
		);
		expect(failed).toMatchObject({groups: [], isPossible: true});
		expect(failed.unknown.size).toBe(8);
	});
});

const anyReading = (index: number): fc.Arbitrary<GpuReading> =>
	fc.constantFrom<readonly GpuReading[]>(...mixedBox.map((reading) => [reading])).chain(([reading]) =>
		fc.record({
			index: fc.constant(index),
			name: fc.constantFrom(reading!.name, undefined),
			memoryTotalMiB: fc.constantFrom(reading!.memoryTotalMiB, undefined),
			computeCapability: fc.constantFrom(reading!.computeCapability, undefined),
			processes: fc.constant([]),
			unknown: fc.constant({}),
		}),
	);
const anyBox = fc.tuple(...Array.from({length: 6}, (_, index) => anyReading(index)));
const anyNeed: fc.Arbitrary<Need> = fc.record(
	{
		minMemoryMiB: fc.constantFrom(40_000, 60_000),
		models: fc.constantFrom(['a100'], ['l40s'], ['a100', 'l40s'], ['h100']),
		minCompute: fc.constantFrom('8.0', '8.9', '9.0'),
		sameModel: fc.boolean(),
		nvlink: fc.boolean(),
	},
	{requiredKeys: []},
);
const anyLinks = fc
	.array(fc.constantFrom('NV4' as const, 'PHB' as const, undefined), {minLength: 36, maxLength: 36})
	.map((flat): GpuLinks =>
		Array.from({length: 6}, (_, one) =>
			Array.from({length: 6}, (__, other) =>
				one === other ? undefined : flat[Math.min(one, other) * 6 + Math.max(one, other)],
			),
		),
	);

/** Returns all sets of this size, starting at this GPU. */
const subsets = (count: number, from = 0): ReadonlyArray<readonly number[]> =>
	count === 0
		? [[]]
		: Array.from({length: Math.max(0, 6 - from)}, (_, offset) => from + offset).flatMap((first) =>
				subsets(count - 1, first + 1).map((rest) => [first, ...rest]),
			);

test('a set of GPUs is eligible if and only if it is known to meet the requirements', () => {
	const words = (reading: GpuReading) => (reading.name ?? '').toLowerCase().split(/[\s\-]/v);
	fc.assert(
		fc.property(anyBox, anyLinks, anyNeed, fc.integer({min: 1, max: 4}), (box, links, need, count) => {
			const {groups: found = [[0, 1, 2, 3, 4, 5]]} = eligibilityOf({count, need}, observationOf(box), 6, links);
			for (const set of subsets(count)) {
				const gpus = set.map((index) => box[index]!);
				const names = new Set(gpus.map(({name}) => name));
				const knownNames = new Set([...names].filter((name) => name !== undefined));
				const fits =
					gpus.every(
						(gpu) =>
							(need.minMemoryMiB === undefined || (gpu.memoryTotalMiB ?? 0) >= need.minMemoryMiB) &&
							(need.models === undefined || need.models.some((model) => words(gpu).includes(model))) &&
							(need.minCompute === undefined || Number(gpu.computeCapability ?? 0) >= Number(need.minCompute)),
					) &&
					(need.sameModel !== true || (names.size === 1 && !names.has(undefined))) &&
					(need.sameModel !== undefined || count === 1 || knownNames.size <= 1) &&
					(need.nvlink !== true ||
						set.every((one) => set.every((other) => one === other || links[one]![other] === 'NV4')));
				expect(found.some((group) => set.every((gpu) => group.includes(gpu)))).toBe(fits);
			}

			expect(found.every((group) => group.length >= count)).toBe(true);
		}),
		{numRuns: 300},
	);
});

test('a queue entry keeps its claim on a GPU when a reading of that GPU fails', () => {
	const need: Need = {minMemoryMiB: 60_000};
	const whole = groups({count: 1, need});
	const blind = groups({count: 1, need}, without(3, 'memoryTotalMiB'));
	const current = [[0, 1, 2, 3]];
	const after = (eligible: typeof current, eligibility: typeof whole) =>
		eligibleAfterScan({eligible}, eligible, eligibility).eligible;
	expect(after(current, blind)).toEqual(current);
	expect(after([[0, 1, 2]], whole)).toEqual(current);
	expect(after([[0, 1, 2, 3, 4]], whole)).toEqual(current);
	expect(gpusOf(after([], blind) ?? [])).toEqual([0, 1, 2]);
});
