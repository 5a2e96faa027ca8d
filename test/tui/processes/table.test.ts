/** The table of all processes: order, filter, tags, tree and selection. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Action} from '../../../source/tui/state/actions.js';
import {asTree, processTable, selectedProcess} from '../../../source/tui/state/processes/rows.js';
import {
	inOrder,
	withNextSecond,
	sortedByNext,
	type SortBy,
	type ValuesOf,
} from '../../../source/tui/state/table/order.js';
import {modeOf} from '../../../source/tui/state/modes.js';
import type {State} from '../../../source/tui/state/state.js';
import {pageRowsOf} from '../../../source/tui/layout.js';
import {after, frameOf, stateOf, type Step} from '../_harness.js';
import {busy, createBox, gpuReading, type Box} from '../_world.js';
import {anyState} from '../state/_any-state.js';
import {selectedGpu} from '../../../source/tui/state/gpus/rows.js';
import {createCrowd} from './_crowd.js';

const size = {columns: 120, rows: 32};

const crowd = async (...steps: readonly Step[]): Promise<State> =>
	stateOf(await createCrowd(), size, {}, ['focus-processes', ...steps]);

/** A scan one second after the first scan of {@link stateOf}. Its age is fixed and independent of this process. */
const laterScan = async ({world}: Box): Promise<Action> => ({
	kind: 'scan-arrived',
	observation: {...(await world.gpus.observe()), takenAtMs: 2000},
	nowMs: 2000,
});

const pids = (state: State): readonly number[] => processTable.shown(state).map(({process}) => process.pid);

type Row = {readonly id: number; readonly a?: number; readonly b?: string};

test('process rows are sorted by the chosen column, with unknown values last, whatever their previous order', () => {
	const rows = fc.uniqueArray(
		fc.record({
			id: fc.nat(1000),
			a: fc.option(fc.nat(3), {nil: undefined}),
			b: fc.option(fc.constantFrom('x', 'y'), {nil: undefined}),
		}),
		{selector: ({id}) => id, maxLength: 30},
	);
	const sort: fc.Arbitrary<SortBy> = fc.record({
		by: fc.constantFrom('a', 'b'),
		isInverted: fc.boolean(),
		second: fc.option(fc.record({by: fc.constantFrom('a', 'b'), isInverted: fc.boolean()}), {nil: undefined}),
	});
	const valueOf: ValuesOf<Row> = {a: ({a}) => a, b: ({b}) => b};
	const order = (some: readonly Row[], by: SortBy): readonly Row[] =>
		inOrder(some, by, valueOf, (one, other) => one.id - other.id);
	fc.assert(
		fc.property(rows, sort, (some, by) => {
			const ordered = order(some, by);
			expect(order(some.toReversed(), by)).toEqual(ordered);
			for (const [index, next] of ordered.slice(1).entries()) {
				const row = ordered[index]!;
				const [value, following] = [valueOf[by.by]!(row), valueOf[by.by]!(next)];
				expect(value !== undefined || following === undefined).toBe(true);
				if (value !== undefined && following !== undefined) {
					expect(by.isInverted ? value >= following : value <= following).toBe(true);
				}

				if (value === following && by.second === undefined) {
					expect(row.id).toBeLessThan(next.id);
				}
			}
		}),
	);
});

test('withNextSecond cycles the second sort column through all other columns, and then to none', () => {
	const keys = ['a', 'b', 'c'] as const;
	let sort: SortBy = {by: 'b', isInverted: false};
	const seen = [];
	for (let press = 0; press < 3; press++) {
		sort = withNextSecond(keys, sort, 1);
		seen.push(sort.second?.by);
	}

	expect(seen).toEqual(['a', 'c', undefined]);
	const both = withNextSecond(keys, sort, -1);
	expect(both.second?.by).toBe('c');
	expect(sortedByNext(keys, both, 1)).toEqual({by: 'c', isInverted: false, second: undefined});
});

test('the process tree contains each process once, below its parent', () => {
	const processes = fc.array(
		fc.record({
			process: fc.record({pid: fc.nat(12), parentPid: fc.option(fc.nat(12), {nil: undefined})}),
			gpu: fc.nat(2),
		}),
		{maxLength: 25},
	);
	fc.assert(
		fc.property(processes, (rows) => {
			const placed = asTree(rows);
			expect(new Set(placed.map(({row}) => row))).toEqual(new Set(rows));
			expect(placed).toHaveLength(rows.length);
			for (const [index, {row, depth}] of placed.entries()) {
				const parent = placed.slice(0, index).findLast((other) => other.depth === depth - 1);
				expect(depth === 0 || parent?.row.process.pid === row.process.parentPid).toBe(true);
			}
		}),
	);
	// A long chain must not overflow the stack.
	const chain = Array.from({length: 50_000}, (_, pid) => ({process: {pid, parentPid: pid - 1}, gpu: 0}));
	expect(asTree(chain).at(-1)!.depth).toBe(49_999);
});

test('the keys of the GPU table work in the process panel, and leave the GPU table unchanged', async () => {
	const state = await crowd();
	expect(modeOf(state)).toBe('processes');
	expect(pids(state)).toEqual([81_234, 90_001, 70_001, 90_100, 81_377, 70_500, 90_200, 3001]);
	const down = after(state, 'line-down', 'line-down', 'toggle-tag');
	expect(selectedProcess(down)?.process.pid).toBe(90_100);
	expect(processTable.tagged(down).map(({process}) => process.pid)).toEqual([70_001]);
	expect([selectedGpu(down), down.gpus]).toEqual([selectedGpu(state), state.gpus]);
	expect(selectedProcess(after(down, 'last-line'))?.process.pid).toBe(3001);
	expect(selectedProcess(after(down, 'last-line', 'first-line'))?.process.pid).toBe(81_234);
	expect(pids(after(state, 'invert-sort')).at(0)).toBe(3001);
	// Sorts by CPU, with unknown values last in either direction.
	expect(pids(after(state, 'sort-next', 'invert-sort')).slice(-3)).toEqual([3001, 70_500, 90_200]);
});

test('the process panel filters by the selected user, by the current user and by words', async () => {
	const state = await crowd('line-down', 'line-down');
	expect(pids(after(state, 'filter-user'))).toEqual([70_001, 90_100]);
	expect(pids(after(state, 'filter-user', 'filter-user'))).toHaveLength(8);
	expect(pids(after(state, 'filter-mine'))).toEqual([81_234, 81_377]);
	const typed = after(state, 'open-filter', {kind: 'typed', text: 'not holder GPU1'});
	expect([modeOf(typed), pids(typed)]).toEqual(['filter', [90_100]]);
	expect(pids(after(typed, 'drop-filter'))).toHaveLength(8);
	const kept = after(typed, 'keep-filter');
	expect([modeOf(kept), selectedProcess(kept)?.process.pid]).toEqual(['processes', 90_100]);
	const none = after(kept, 'open-filter', {kind: 'typed', text: 'zzz'}, 'keep-filter');
	expect(frameOf(none)).toContain('No process matches; Esc clears the filter');
	// Keys for a process say why they do nothing.
	expect([after(none, 'toggle-tag').flash?.text, after(none, 'open-process').flash?.text]).toEqual([
		'No process is shown: Esc clears the filter',
		'No process is shown: Esc clears the filter',
	]);
	// Esc goes back step by step: tags, the filter, the GPUs.
	const tagged = after(kept, 'toggle-tag');
	const steps = [1, 2, 3].map((count) => after(tagged, ...Array.from({length: count}, () => 'clear-marks' as const)));
	expect(steps.map((each) => [processTable.tagged(each).length, pids(each).length, each.panels.focus])).toEqual([
		[0, 1, 'processes'],
		[0, 8, 'processes'],
		[0, 8, 'gpus'],
	]);
	// An unknown user cannot be a filter.
	expect(after(state, 'last-line', 'line-up', 'filter-user').flash?.text).toMatch(/user .* is unknown/v);
});

test('the selection stays in its row after the selected process has ended', async () => {
	const box = await createBox(3, {
		readings: [0, 1, 2].map((index) => busy(index, 'bob', 'x', {gibibytes: 10 - index, percent: 1})),
	});
	const state = await stateOf(box, size, {}, ['focus-processes', 'line-down']);
	const scanned = async (readings: typeof box.readings): Promise<State> => {
		box.readings = readings;
		return after(state, await laterScan(box));
	};

	const moved = await scanned([...box.readings.slice(0, 2), busy(2, 'bob', 'x', {gibibytes: 50, percent: 1})]);
	expect([selectedProcess(moved)?.process.pid, processTable.selectedIndex(moved)]).toEqual([81_235, 2]);
	const ended = await scanned([box.readings[0]!, gpuReading(1), box.readings[2]!]);
	expect([pids(ended), selectedProcess(ended)?.process.pid]).toEqual([[81_236, 81_234], 81_234]);
});

test('the view of an open process shows that the process has ended, and keeps its graphs', async () => {
	const box = await createCrowd();
	const open = await stateOf(box, size, {}, ['focus-processes', 'open-process']);
	expect(frameOf(open)).toContain('SM 84%  memory 60G');
	box.readings = box.readings.map((reading) => ({...reading, processes: []}));
	const ended = after(open, await laterScan(box));
	const text = frameOf(ended);
	expect(text).toContain('This process has ended. These are its last values');
	expect(text).toContain('mem 80G│');
	const other = after(open, 'next-process');
	expect(frameOf(other)).toContain('Process 90001 on GPU 1');
	expect(after(open, 'close-dialog').dialog).toBeUndefined();
});

test('the view of an open process has no graphs for a screen reader', async () => {
	const state = await stateOf(await createCrowd(), size, {isLinear: true}, ['focus-processes', 'open-process']);
	expect(frameOf(state)).toContain('Process 81234 on GPU 0');
	expect(frameOf(state)).not.toMatch(/[│▁▂▃▄▅▆▇█]/v);
});

test('the selected process in the process panel is always visible', () => {
	fc.assert(
		fc.property(anyState, (any) => {
			const large = {columns: Math.max(60, any.size.columns), rows: Math.max(15, any.size.rows)};
			const state = after({...any, dialog: undefined}, {kind: 'resized', size: large}, 'focus-processes');
			// A computer without GPUs shows only those of other hosts.
			fc.pre(state.panels.focus === 'processes');
			const rows = processTable.shown(state);
			const index = rows.findIndex(({key}) => key === selectedProcess(state)?.key);
			expect(index === -1).toBe(rows.length === 0);
			const shown = Math.max(1, pageRowsOf(state, 'processes'));
			expect(state.processes.firstRow).toBeLessThanOrEqual(Math.max(0, index));
			expect(index).toBeLessThan(state.processes.firstRow + shown);
			expect(new Set(rows.map(({key}) => key)).size).toBe(rows.length);
		}),
		{numRuns: 30},
	);
});
