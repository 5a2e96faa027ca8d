import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
	emptyProcessHistory,
	processSeriesOf,
	recordedProcesses,
	type ProcessHistory,
} from '../../../source/core/live/process-history.js';

const stepMs = 2000;

/** Returns the history of one process after these scans. Each scan has a time and the used share of the processors. */
const historyOf = (scans: ReadonlyArray<readonly [atMs: number, share: number | undefined]>): ProcessHistory => {
	let history = emptyProcessHistory(stepMs);
	for (const [atMs, utilization] of scans) {
		history = recordedProcesses(history, new Map([['a', {utilization, memory: 0.5}]]), atMs);
	}

	return history;
};

test('the load series of a process starts at its first scan and uses bounded memory', () => {
	fc.assert(
		fc.property(
			fc.integer({min: 1, max: 1200}),
			fc.integer({min: 1, max: 200}),
			fc.array(fc.double({min: 0, max: 1, noNaN: true}), {minLength: 1, maxLength: 7}),
			(count, columns, shares) => {
				const history = historyOf(
					Array.from({length: count}, (_, index) => [index * stepMs, shares[index % shares.length]!]),
				);
				const stored = history.series.get('a')!;
				expect(stored.utilization.length).toBeLessThanOrEqual(240);
				const {utilization, memory, spanMs} = processSeriesOf(history, 'a', columns)!;
				expect(spanMs).toBe(Math.max(stored.stepMs, (count - 1) * stepMs));
				expect([utilization.length, memory.length]).toEqual([columns, columns]);
				expect(utilization.every((value) => value !== undefined)).toBe(true);
				expect(memory.every((value) => Math.abs(value! - 0.5) < 1e-6)).toBe(true);
				const [least, most] = [Math.min(...shares), Math.max(...shares)];
				expect(utilization.every((value) => value! >= least - 1e-6 && value! <= most + 1e-6)).toBe(true);
			},
		),
		{numRuns: 30},
	);
});

test('the load series of a process keeps the time of a rise when the resolution of the series drops', () => {
	const history = historyOf(Array.from({length: 1000}, (_, index) => [index * stepMs, index < 500 ? 0 : 1]));
	const {utilization} = processSeriesOf(history, 'a', 100)!;
	expect([utilization[10], utilization[45], utilization[55], utilization[99]]).toEqual([0, 0, 1, 1]);
});

test('the load series of a process bridges one missed scan and leaves longer gaps blank', () => {
	const seen = historyOf([
		[0, 0.2],
		[2000, 0.2],
		[6000, 0.2],
		[40_000, 0.2],
		[42_000, undefined],
	]);
	const {utilization} = processSeriesOf(seen, 'a', 22)!;
	expect(utilization.map((value) => (value === undefined ? '-' : value.toFixed(1))).join(' ')).toBe(
		`0.2 0.2 0.2 0.2 ${'- '.repeat(16)}0.2 -`,
	);
	expect(processSeriesOf(seen, 'b', 10)).toBeUndefined();
});

test('recordedProcesses drops processes that are missing for some minutes, or from before the clock was set back', () => {
	const history = historyOf([[0, 1]]);
	const others = (atMs: number): ProcessHistory => recordedProcesses(history, new Map([['b', {}]]), atMs);
	expect(others(60_000).series.keys().toArray()).toEqual(['a', 'b']);
	expect(others(400_000).series.keys().toArray()).toEqual(['b']);
	expect(others(-400_000).series.keys().toArray()).toEqual(['b']);
	// Recording the same scan again changes nothing.
	expect(
		historyOf([
			[0, 1],
			[0, 0.5],
		]).series.get('a')!.utilization,
	).toEqual(Float32Array.of(1));
});
