import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
	decodeHour,
	encodeMinute,
	hourOf,
	loadIn,
	loadName,
	minuteOf,
	namesIn,
	withScan,
	type MinuteUnderWay,
} from '../../../../source/core/rules/pool/load-minutes.js';
import {idleReading, observationOf, startTime} from '../../../_helpers/world.js';

const share = fc.option(fc.double({min: 0, max: 100, noNaN: true}), {nil: undefined});
const scans = fc.array(
	fc.record({
		seconds: fc.integer({min: 0, max: 90}),
		hasFailed: fc.boolean(),
		gpus: fc.uniqueArray(
			fc.record({index: fc.integer({min: 0, max: 70}), utilizationPercent: share, memoryUsedMiB: share}),
			{selector: ({index}) => index, maxLength: 4},
		),
	}),
	{maxLength: 60},
);

const nearly = (value: number | undefined) => (value === undefined ? undefined : Math.round(value * 100));

test('decodeHour returns the recorded mean load of each minute', () => {
	fc.assert(
		fc.property(scans, (rounds) => {
			let time = startTime;
			let underWay: MinuteUnderWay | undefined;
			const minutes: MinuteUnderWay[] = [];
			const values = new Map<string, number[]>();
			for (const {seconds, hasFailed, gpus} of rounds) {
				time += seconds;
				const readings = gpus.map((gpu) => ({...idleReading(gpu.index), memoryTotalMiB: 100, ...gpu}));
				const next = withScan(
					underWay,
					observationOf(hasFailed ? [] : readings, hasFailed ? {failure: {message: 'x'}} : {}),
					time,
				);
				underWay = next.underWay;
				minutes.push(...(next.over === undefined ? [] : [next.over]));
				for (const reading of hasFailed ? [] : readings) {
					for (const [kind, value] of [
						['utilization', reading.utilizationPercent],
						['memory', reading.memoryUsedMiB],
					] as const) {
						const key = `${minuteOf(time)} ${loadName(reading)} ${kind}`;
						values.set(key, [...(values.get(key) ?? []), ...(value === undefined ? [] : [value])]);
					}
				}
			}

			minutes.push(...(underWay === undefined ? [] : [underWay]));
			const lines = minutes.map((minute) => encodeMinute(minute));
			const decoded = [...new Set(minutes.map(({minute}) => hourOf(minute)))].flatMap((hour) =>
				decodeHour(hour, lines.join('\n'), minuteOf(time)),
			);
			// A minute without a reading of any GPU has no line.
			expect(decoded.map(({minute}) => minute)).toEqual(
				minutes.filter(({sums}) => sums.size > 0).map(({minute}) => minute),
			);
			const found = new Map(
				decoded.flatMap((line) =>
					namesIn(line).flatMap((name) => {
						const load = loadIn(line, name);
						return (['utilization', 'memory'] as const).map((kind) => [`${line.minute} ${name} ${kind}`, load?.[kind]]);
					}),
				) as Array<[string, number | undefined]>,
			);
			expect(new Set(found.keys())).toEqual(new Set(values.keys()));
			for (const [key, all] of values) {
				const mean = all.length === 0 ? undefined : all.reduce((sum, value) => sum + value, 0) / all.length / 100;
				const [inStore, expected] = [nearly(found.get(key)), nearly(mean)];
				expect(inStore === undefined).toBe(expected === undefined);
				expect(Math.abs((inStore ?? 0) - (expected ?? 0))).toBeLessThanOrEqual(1);
			}
		}),
		{numRuns: 60},
	);
});

const hour = hourOf(minuteOf(startTime));
const minute = hour * 60 + 5;
const good = `${minute} 30 0000001k2s`;

test.each([
	['a number above 100 %', `${minute} 30 0000002t--`, [{utilization: undefined, memory: undefined}]],
	['known values', good, [{utilization: 0.56, memory: 1}]],
	['unknown values', `${minute} 30 000000----`, [{utilization: undefined, memory: undefined}]],
	['no cells', `${minute} 30 `, []],
	['an incomplete cell', `${minute} 30 0000001k2s00`, []],
	['no scans', `${minute} 0 0000001k2s`, []],
	['an impossible number of scans', `${minute} 999 0000001k2s`, []],
	['another hour', `${minute + 60} 30 0000001k2s`, []],
	['a future time', `${minute + 2} 30 0000001k2s`, []],
	['an invalid minute', '1e9 30 0000001k2s', []],
	['control characters', `${minute} 30 \u{1B}[31m01k2s`, []],
	['JSON', '{"minute":1}', []],
	['more GPUs than a machine can have', `${minute} 30 ${'0000001k2s'.repeat(1025)}`, []],
])('decodeHour reads a line with %s', (_, line, loads) => {
	const read = decodeHour(hour, `garbage\n${line}\n\u{0}`, minute + 1);
	expect(read.map((each) => loadIn(each, '000000'))).toEqual(loads);
});

test('decodeHour reads at most eight lines for one minute', () => {
	expect(decodeHour(hour, `${good}\n`.repeat(1000), minute)).toHaveLength(8);
});

test('decodeHour accepts any text', () => {
	fc.assert(
		fc.property(fc.string({maxLength: 100}), (text) => {
			expect(decodeHour(hour, `${text}\n${good}\n${text}`, minute).length).toBeGreaterThanOrEqual(1);
		}),
		{numRuns: 200},
	);
});

test('loadName depends on the UUID of a GPU and not on its index', () => {
	expect(loadName({index: 3, uuid: 'GPU-a'})).toBe(loadName({index: 7, uuid: 'GPU-a'}));
	const names = Array.from({length: 64}, (_, index) => loadName({index, uuid: `GPU-5c7fbd2a-${index}`}));
	expect(new Set([...names, ...Array.from({length: 64}, (_, index) => loadName({index}))]).size).toBe(128);
	expect(names.every((name) => /^[0-9a-z]{6}$/v.test(name))).toBe(true);
});
