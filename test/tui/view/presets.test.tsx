/** Presets and columns: what they show, as whole screens, and what they remember. */
import {expect, test} from 'vitest';
import fc from 'fast-check';
import {gpuColumnNames, presetNames, type PresetName} from '../../../source/format/monitor-settings.js';
import {fittingColumns, GpuTable} from '../../../source/tui/panels/gpus/gpus-panel.js';
import {totalWidth} from '../../../source/format/text/columns.js';
import {listedColumns} from '../../../source/tui/state/view/state.js';
import {selectedGpu, visibleRows} from '../../../source/tui/state/gpus/rows.js';
import {tableRowsOf} from '../../../source/tui/layout.js';
import type {Size, State} from '../../../source/tui/state/state.js';
import {after, frameOf, stateOf, textOf, type Step} from '../_harness.js';
import {eventsArrived} from '../_scene.js';
import {createBox, createScene, run} from '../_world.js';
import {createCrowd} from '../processes/_crowd.js';
import {createLarge} from './_large.js';

const sizes = ['60x15', '80x24', '120x32', '200x50'] as const;

const sizeOf = (name: string): Size => {
	const [columns = 0, rows = 0] = name.split('x').map(Number);
	return {columns, rows};
};

/** The keys that select a preset. */
const stepsTo = (preset: PresetName): readonly Step[] =>
	Array.from({length: presetNames.indexOf(preset)}, () => 'next-preset' as const);

const quiet: Step = {kind: 'ticked', nowMs: 9000};

for (const name of sizes) {
	test(`top draws each layout preset at ${name}`, async () => {
		const size = sizeOf(name);
		const large = await stateOf(await createLarge(), size, {}, [eventsArrived, ...stepsTo('dense'), quiet]);
		await expect(`\n${frameOf(large)}\n`).toMatchFileSnapshot(`../frames/${name}/dense.txt`);
		const crowd = await stateOf(await createCrowd(), size, {}, [eventsArrived, ...stepsTo('processes'), quiet]);
		await expect(`\n${frameOf(crowd)}\n`).toMatchFileSnapshot(`../frames/${name}/preset-processes.txt`);
		const waiting = await stateOf(await createScene(), size, {}, [eventsArrived, ...stepsTo('queue'), quiet]);
		await expect(`\n${frameOf(waiting)}\n`).toMatchFileSnapshot(`../frames/${name}/preset-queue.txt`);
	});
}

test('the dense preset shows 64 GPUs on one screen of 200x50', async () => {
	const state = await stateOf(await createLarge(), {columns: 200, rows: 50}, {}, stepsTo('dense'));
	const text = frameOf(state);
	expect(tableRowsOf(state)).toBeGreaterThanOrEqual(64);
	for (let index = 0; index < 64; index++) {
		expect(text).toMatch(new RegExp(`[ >][ *]${index} +(?:Mine|Reserved|Free|Idle)`, 'v'));
	}
});

test('the selection in the dense preset stays in view after any keys', async () => {
	const state = await stateOf(await createLarge(), {columns: 120, rows: 32}, {}, stepsTo('dense'));
	const moves = fc.array(
		fc.constantFrom<Step>('line-down', 'page-down', 'page-up', 'last-line', 'focus-right-column', 'focus-left-column'),
		{maxLength: 10},
	);
	fc.assert(
		fc.property(moves, (steps) => {
			const moved = after(state, ...steps);
			const position = visibleRows(moved).findIndex(({index}) => index === selectedGpu(moved));
			expect(position).toBeGreaterThanOrEqual(moved.gpus.firstRow);
			expect(position).toBeLessThan(moved.gpus.firstRow + tableRowsOf(moved));
			expect(frameOf(moved)).toMatch(new RegExp(`> ${selectedGpu(moved)} `, 'v'));
		}),
		{numRuns: 10},
	);
	const right = after(state, 'focus-right-column');
	expect(selectedGpu(right)).toBe(visibleRows(state)[tableRowsOf(state) / 2]?.index);
	expect(selectedGpu(after(right, 'focus-left-column'))).toBe(0);
});

test('the dense preset draws a bracket around the GPUs of one reservation', async () => {
	const leases = {
		0: run('carol', {leaseId: 'even'}),
		1: run('bob', {leaseId: 'odd'}),
		2: run('carol', {leaseId: 'even'}),
		3: run('bob', {leaseId: undefined}),
		4: run('carol', {leaseId: 'even', note: 'last'}),
	};
	const state = await stateOf(await createBox(6, {leases}), {columns: 200, rows: 50}, {}, stepsTo('dense'));
	const rows = visibleRows(state);
	expect(rows.map(({index}) => index)).toEqual([1, 3, 0, 2, 4, 5]);
	const body = textOf(state, <GpuTable width={197} height={10} />)
		.split('\n')
		.slice(1)
		.filter((line) => line !== '');
	expect(body.map((line) => /[ │╭╰](?:bob|carol|-)/v.exec(line)?.[0])).toEqual([
		' bob',
		' bob',
		'╭carol',
		'│carol',
		'╰carol',
		' -',
	]);
	expect(selectedGpu(after(state, 'line-down'))).toBe(2);
});

test('each layout preset remembers its sort order and its filter', async () => {
	const start = await stateOf(await createScene(), {columns: 120, rows: 32});
	const dense = after(start, 'sort-next', 'next-preset', 'filter-mine', 'sort-next');
	expect([dense.view.preset, dense.gpus.sort.by, dense.gpus.filter.isMine]).toEqual(['dense', 'held', true]);
	const back = after(dense, 'next-preset', 'next-preset', 'next-preset');
	expect([back.view.preset, back.gpus.sort.by, back.gpus.filter.isMine, back.panels.focus]).toEqual([
		'default',
		'state',
		false,
		'gpus',
	]);
	const again = after(back, 'next-preset');
	expect([again.gpus.sort.by, again.gpus.filter.isMine]).toEqual(['held', true]);
	expect(after(again, 'next-preset').panels.focus).toBe('processes');
});

const titlesIn = (state: State): readonly string[] =>
	frameOf(state)
		.split('\n')
		.find((line) => /^│? {2}GPU /v.test(line))!
		.split(/[\s│]+/v)
		.filter(Boolean);

test('the table has a model column from 80 columns on if GPU models differ, and never if all models are the same', async () => {
	for (const columns of [60, 80, 120, 200]) {
		const size = {columns, rows: 32};
		expect(titlesIn(await stateOf(await createLarge({isMixed: true}), size))[1]).toBe(
			columns === 60 ? 'STATE' : 'MODEL',
		);
		expect(titlesIn(await stateOf(await createLarge(), size))).not.toContain('MODEL');
	}

	expect(frameOf(await stateOf(await createLarge({isMixed: true}), {columns: 120, rows: 32}))).toMatch(
		/0-6 \(7\) +H100 +Mine/v,
	);
});

test('the list of columns hides, shows and moves the columns of the table', async () => {
	const state = after(await stateOf(await createScene(), {columns: 120, rows: 32}), 'open-columns');
	expect(frameOf(state)).toContain('[x] OWNER');
	// Moves the second, STATE, to the right and hides it. Shows FAN, the fourth from the end.
	const moved = after(state, 'next-column', 'move-column-right');
	expect(titlesIn(after(moved, 'close-dialog')).slice(0, 3)).toEqual(['GPU', 'OWNER', 'STATE']);
	const hidden = after(moved, 'toggle-column');
	expect(titlesIn(after(hidden, 'close-dialog'))).not.toContain('STATE');
	const list = listedColumns(hidden).all;
	const down = Array.from({length: list.indexOf('fan') - list.indexOf('state')}, () => 'next-column' as const);
	const fan = after(hidden, ...down, 'toggle-column', 'close-dialog');
	expect(fan.view.columns?.at(-1)).toBe('fan');
	expect(titlesIn(fan).at(-1)).toBe('FAN');
	// The GPU column stays, and stays first.
	const first = after(state, 'toggle-column', 'move-column-right');
	expect(listedColumns(first).shown[0]).toBe('gpu');
	expect(after(state, 'move-column-right').flash?.text).toBe('The GPU column cannot be hidden');
	expect(after(hidden, 'move-column-left').flash?.text).toBe('A hidden column has no position: Space shows it');
	expect(after(first, 'next-column', 'move-column-left').view.columns).toBeUndefined();
	expect(after(fan, 'open-columns', 'usual-columns').view.columns).toBeUndefined();
});

test('the list of columns has the model column if GPU models differ', async () => {
	const state = after(await stateOf(await createLarge({isMixed: true}), {columns: 120, rows: 32}), 'open-columns');
	expect(frameOf(state)).toContain('[x] MODEL');
	expect(listedColumns(state).shown.slice(0, 3)).toEqual(['gpu', 'model', 'state']);
	const list = listedColumns(state).all;
	const down = Array.from({length: list.indexOf('kind')}, () => 'next-column' as const);
	const hidden = after(state, ...down, 'toggle-column', 'close-dialog');
	expect(titlesIn(hidden).slice(0, 3)).toEqual(['GPU', 'MODEL', 'STATE']);
	expect(titlesIn(hidden)).not.toContain('KIND');
});

test('in a very narrow GPU table, only the most important columns remain', () => {
	// A new column must be added to the list of columns that disappear.
	const names = fittingColumns(20, {chosen: gpuColumnNames}).map(({name}) => name);
	expect(names).toEqual(['gpu', 'state', 'owner', 'utilization', 'memory']);
});

test('the GPU table fits any width with any choice of columns', () => {
	fc.assert(
		fc.property(fc.shuffledSubarray([...gpuColumnNames]), fc.integer({min: 58, max: 220}), (some, width) => {
			const chosen = ['gpu' as const, ...some.filter((name) => name !== 'gpu')];
			const columns = fittingColumns(width, {chosen});
			expect(2 + totalWidth(columns, 1)).toBeLessThanOrEqual(width);
			const names = columns.map(({name}) => name);
			expect(names).toEqual(chosen.filter((name) => names.includes(name)));
			expect(names[0]).toBe('gpu');
		}),
	);
});
