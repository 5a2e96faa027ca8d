import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {explainAmdFailure} from '../../../source/gpu/amd/failures.js';
import {readGpus} from '../../../source/gpu/amd/gpus.js';
import {entriesByGpu, readQuantity} from '../../../source/gpu/amd/json.js';
import {attachProcesses, readProcesses} from '../../../source/gpu/amd/processes.js';
import {readCards, readPids} from '../../../source/gpu/amd/rocm-smi.js';
import {parseToolJson} from '../../../source/gpu/tool/json.js';

const number = fc.oneof(
	fc.nat(200_000),
	fc.double({min: 0, max: 1e6, noNaN: true}).map((value) => Number(value.toFixed(2))),
);
const word = fc.constantFrom(
	'N/A',
	'',
	'ERR',
	'[N/A]',
	'No running processes detected',
	'-4',
	'1e9',
	'0x10',
	'1,5',
	'٣',
	'NaN',
);
const reported = fc.oneof(
	number,
	number.map(String),
	number.map((value) => `${value} %`),
	word,
	fc.record({
		value: fc.oneof(number, number.map(String), word),
		unit: fc.constantFrom('%', 'MB', 'MiB', 'GB', 'B', 'W', 'C', 'N/A', ''),
	}),
	fc.constantFrom(null, true, [], {}, -1, 65_535, 4_294_967_295),
);
const section = (...keys: readonly string[]) =>
	fc.oneof(fc.record(Object.fromEntries(keys.map((key) => [key, reported])), {requiredKeys: []}), reported);

const process = fc.oneof(
	fc.record({name: word, pid: reported, mem_usage: reported, memory_usage: section('vram_mem')}, {requiredKeys: []}),
	word,
);
const entry = fc.record(
	{
		gpu: fc.oneof(fc.nat(4), fc.nat(4).map(String), reported),
		usage: section('gfx_activity', 'umc_activity'),
		mem_usage: section('used_vram', 'total_vram'),
		fb_usage: section('vram_used', 'vram_total'),
		power: section('socket_power', 'average_socket_power', 'throttle_status'),
		temperature: section('edge', 'hotspot', 'mem'),
		ecc: section('total_uncorrectable_count'),
		throttle: section('ppt_violation_status'),
		limit: section('socket_power', 'slowdown_edge_temperature'),
		process_list: fc.oneof(fc.array(fc.oneof(process, fc.record({process_info: process})), {maxLength: 4}), reported),
	},
	{requiredKeys: ['gpu']},
);
const answer = fc
	.tuple(
		fc.oneof(fc.array(fc.oneof({arbitrary: entry, weight: 9}, reported), {maxLength: 5}), fc.jsonValue()),
		fc.boolean(),
	)
	.map(([list, isWrapped]) => JSON.stringify(isWrapped ? {gpu_data: list} : list));
const text = fc.oneof(
	{arbitrary: answer, weight: 5},
	fc.string(),
	answer.map((json) => `WARNING: [drm] odd\n${json}\nbye }`),
	fc.tuple(answer, answer).map(([first, second]) => `${first}\n[drm] odd\n${second}\n`),
);

/** Returns every number in the text, converted from every unit and rounded like a reading. */
const numbersIn = (json: string): ReadonlySet<number> =>
	new Set(
		(json.match(/\d+(?:\.\d+)?(?:e[+\-]?\d+)?/gv) ?? [])
			.map(Number)
			.flatMap((value) => [
				value,
				Math.round(value),
				Math.round(value * 100) / 100,
				Math.round(value * 1024),
				Math.round(value / 2 ** 20),
			]),
	);

test('readGpus accepts any output of amd-smi and returns only numbers from it', async () => {
	await fc.assert(
		fc.asyncProperty(text, text, async (metricText, otherText) => {
			const metric = entriesByGpu(parseToolJson(metricText)?.documents) ?? new Map();
			const other = entriesByGpu(parseToolJson(otherText)?.documents) ?? new Map();
			const gpus = readGpus({metric, fixed: other, list: other});
			const numbers = numbersIn(`${metricText} ${otherText}`);
			const indices = gpus.map(({index}) => index);
			expect(indices).toEqual([...new Set(indices)].toSorted((a, b) => a - b));
			for (const {index, failure, unknown, throttleReasons, health, migInstances, ...readings} of gpus) {
				expect(numbers).toContain(index);
				expect(failure).not.toBe('');
				for (const [field, value] of Object.entries(readings)) {
					// The memory of an integrated GPU is a sum of two numbers.
					const isReported = (amount: number): boolean =>
						numbers.has(amount) ||
						(field.startsWith('memory') && numbers.values().some((part) => numbers.has(amount - part)));
					expect(typeof value !== 'number' || isReported(value), `${field} ${JSON.stringify(value)}`).toBe(true);
				}

				for (const field of Object.keys(unknown)) {
					expect(readings).toHaveProperty(field, undefined);
				}
			}

			const attached = await attachProcesses(gpus, readProcesses(metric), async () => new Map());
			for (const {processes} of attached) {
				const pids = (processes ?? []).map(({pid}) => pid);
				expect(new Set(pids).size).toBe(pids.length);
				expect(pids.every((pid) => numbers.has(pid))).toBe(true);
			}
		}),
		{numRuns: 1500},
	);
});

test('readProcesses returns an empty list only for the sentence "No running processes detected"', () => {
	fc.assert(
		fc.property(entry, (one) => {
			const own = readProcesses(new Map([[0, one]])).get(0);
			const list: unknown[] = Array.isArray(one.process_list) ? one.process_list : [one.process_list];
			if (own?.rows.length === 0 && own.hidden === undefined) {
				expect(list.every((item) => JSON.stringify(item)?.includes('No running processes detected'))).toBe(true);
			}
		}),
		{numRuns: 1500},
	);
});

test('readQuantity returns only numbers that the text contains', () => {
	fc.assert(
		fc.property(fc.oneof(reported, fc.jsonValue(), fc.string()), (raw) => {
			const read = readQuantity(raw, 'memory', 'MB');
			const numbers = numbersIn(JSON.stringify(raw));
			expect(read === undefined || read.kind === 'word' || numbers.has(read.value)).toBe(true);
		}),
		{numRuns: 2000},
	);
});

test('readCards accepts any output of rocm-smi', () => {
	fc.assert(
		fc.property(
			fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('card0', 'card1', 'system', 'PID5'), fc.jsonValue())),
			fc.string(),
			(value, words) => {
				const {metric} = readCards(value);
				readGpus({metric, fixed: metric, list: metric});
				readPids(value, words, words, metric.keys().toArray());
				expect(
					explainAmdFailure({stdout: words, stderr: JSON.stringify(value), exitCode: 1}, 'rocm-smi', 1000).message,
				).toMatch(/\.$/v);
			},
		),
	);
});
