/** Graphs of five minutes of readings: bounded, with gaps for missing readings. */
import {expect, test} from 'vitest';
import type {GpuReading} from '../../../source/core/model/types.js';
import {recorded, seriesOf, type UtilizationHistory} from '../../../source/core/live/utilization-history.js';
import {emptyGraphs} from '../../../source/tui/state/state.js';
import {graphRow, type GraphStyle, type Values} from '../../../source/tui/widgets/graph.js';
import {sparkRuns} from '../../../source/tui/widgets/sparkline.js';
import {gpuReading} from '../_world.js';

const tag = gpuReading(0).uuid!;

const keyOf = ({uuid}: GpuReading): string => uuid!;

const {windowMs} = emptyGraphs(2000);

const add = (history: UtilizationHistory, takenAtMs: number, more: Partial<GpuReading>): UtilizationHistory =>
	recorded(history, {gpus: [gpuReading(0, more)]}, {atMs: takenAtMs, keyOf});

/** A reading every two seconds from `fromMs` on. */
const filled = (
	from: number,
	to: number,
	percent: (atMs: number) => number | undefined,
	history = emptyGraphs(2000),
): UtilizationHistory => {
	let filling = history;
	for (let atMs = from; atMs <= to; atMs += 2000) {
		filling = add(filling, atMs, {utilizationPercent: percent(atMs)});
	}

	return filling;
};

const columnsOf = (history: UtilizationHistory, nowMs: number, columns = 10) =>
	seriesOf(history, tag, 'utilization', {columns, nowMs});

test('the graph history keeps five minutes after ten hours of scans', () => {
	const history = filled(0, 10 * 3600 * 1000, () => 50);
	expect(history.samples.length).toBeLessThanOrEqual(151);
	expect(history.samples.at(0)!.atMs).toBeGreaterThan(10 * 3600 * 1000 - windowMs);
	expect(columnsOf(history, 10 * 3600 * 1000)).toEqual(Array.from({length: 10}, () => 0.5));
});

test('the graph history does not grow with the frequency of scans', () => {
	let history = emptyGraphs(2000);
	for (let atMs = 0; atMs < 2 * windowMs; atMs += 250) {
		history = add(history, atMs, {utilizationPercent: 10});
	}

	expect(history.samples.length).toBeLessThanOrEqual(320);
});

test('the graph history ignores a repeated or failed scan', () => {
	const history = add(emptyGraphs(2000), 1000, {});
	expect(add(history, 1000, {})).toBe(history);
	expect(recorded(history, {gpus: [], failure: {message: 'gone'}}, {atMs: 5000, keyOf})).toBe(history);
});

test('the graph history has a gap for time without readings, and never shows an unknown value as 0', () => {
	const before = filled(2000, 120_000, () => 75);
	const withGap = filled(210_000, 300_000, (atMs) => (atMs > 240_000 ? undefined : 0), before);
	expect(columnsOf(withGap, 300_000)).toEqual([
		0.75,
		0.75,
		0.75,
		0.75,
		undefined,
		undefined,
		0,
		0,
		undefined,
		undefined,
	]);
});

test('the graph history fills columns narrower than the scan interval unless a scan was missed', () => {
	const history = filled(2000, 300_000, (atMs) => (atMs > 150_000 && atMs < 160_000 ? undefined : 25));
	const series = columnsOf(history, 300_000, 300);
	expect(series.filter((value) => value === undefined).length).toBeGreaterThan(3);
	expect(series.filter((value) => value === undefined).length).toBeLessThan(12);
	expect(series.slice(0, 140)).toEqual(Array.from({length: 140}, () => 0.25));
});

test('a graph moves by one column only when the time of a column has passed', () => {
	const history = filled(2000, 290_000, (atMs) => (atMs > 200_000 ? 90 : 10));
	expect(columnsOf(history, 271_000)).toEqual(columnsOf(history, 299_000));
	expect(columnsOf(history, 301_000).slice(0, 9)).toEqual(columnsOf(history, 299_000).slice(1));
});

test('the graph history combines scans of the same second into one sample with their mean', () => {
	const scans = [
		[3100, 10],
		[3400, 20],
		[3900, 60],
	] as const;
	let history = emptyGraphs(2000);
	for (const [atMs, utilizationPercent] of scans) {
		history = add(history, atMs, {utilizationPercent});
	}

	expect(history.samples).toHaveLength(1);
	expect(seriesOf(history, tag, 'utilization', {columns: 300, nowMs: 4000}).at(-1)).toBeCloseTo(0.3);
});

test('the graph history continues after the clock was set back an hour', () => {
	const before = filled(3_600_000, 3_660_000, () => 10);
	const after = filled(60_000, 120_000, () => 90, before);
	expect(columnsOf(after, 120_000).at(-1)).toBeCloseTo(0.9);
});

test('the graph history of a GPU is not shown for another GPU', () => {
	const history = filled(2000, 60_000, () => 70);
	expect(seriesOf(history, 'another', 'utilization', {columns: 2, nowMs: 60_000})).toEqual([undefined, undefined]);
});

test('sparkRuns draws a mark for small values and blanks for unknown values', () => {
	const values = [undefined, 0, 0.01, 0.3, 0.6, 0.99, 1];
	const drawn = (shown: Values, isAscii: boolean): string =>
		sparkRuns(shown, isAscii)
			.map(({text}) => text)
			.join('');
	expect(drawn(values, false)).toBe(' ▁▂▃▅██');
	expect(drawn(values, true)).toBe(' .__-##');
	expect(drawn([undefined], true)).toBe(' ');
	expect(drawn([0, 0.01], true)).toBe('._');
	expect(sparkRuns([0.2, 0.9], false).map(({tone}) => tone)).toEqual(['load-2', 'load-9']);
});

test('graphRow draws each value at its height', () => {
	const values = [undefined, 0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1, undefined, 1];
	const draw = (style: GraphStyle): readonly string[] =>
		Array.from({length: 4}, (_, line) => graphRow(values, 3 - line, 4, style).trimEnd());
	expect(draw('blocks')).toEqual(['        ▅█ █', '      ▃███ █', '    ▅█████ █', ' ▁▃███████ █']);
	expect(draw('ascii')).toEqual(['        _# #', '      _### #', '    _##### #', ' ._####### #']);
	// Two values share a cell.
	expect(draw('braille')).toEqual(['    ⣼⢸', '   ⣼⣿⢸', '  ⣼⣿⣿⢸', '⢀⣼⣿⣿⣿⢸']);
});
