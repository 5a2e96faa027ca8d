import {expect, test} from 'vitest';
import {LoadsPanel} from '../../../source/tui/panels/loads.js';
import {layoutOf, shownRangeOf} from '../../../source/tui/layout.js';
import type {Size, State} from '../../../source/tui/state/state.js';
import {drawn} from '../_drawn.js';
import {after, endSession, frameOf, shownRows, startMonitor, stateOf, type Step} from '../_harness.js';
import {eventsArrived, nightOf, pastOf} from '../_scene.js';
import {busy, createBox, createScene, gpuReading, lease, run} from '../_world.js';
import {selectedGpu} from '../../../source/tui/state/gpus/rows.js';

const sizes = [
	{columns: 160, rows: 45},
	{columns: 200, rows: 50},
	{columns: 240, rows: 60},
] as const;

const people = ['alice', 'bob', 'carol'] as const;

async function boxState(gpuCount: number, size: Size, steps: readonly Step[] = []): Promise<State> {
	const users = Array.from({length: gpuCount}, (_, index) => people[index % people.length]!);
	const box = await createBox(gpuCount, {
		leases: Object.fromEntries(
			users.map((user, index) => [index, (index % 2 === 0 ? run : lease)(user, {leaseId: `lease-${index}`})]),
		),
		readings: users.map((user, index) =>
			busy(index, user, 'python train.py', {gibibytes: 10 + index, percent: (index * 17) % 100}),
		),
	});
	return stateOf(box, size, {}, [eventsArrived, ...steps], pastOf(box));
}

test.each([
	[2, '160x45 200x50 240x60'],
	[4, '160x45 200x50 240x60'],
	[8, '160x45 200x50 240x60'],
	[12, '200x50 240x60'],
	[16, '240x60'],
	[64, ''],
] as const)('the load graphs of %i GPUs are drawn only on screens with enough room: %s', async (gpuCount, expected) => {
	const shown: string[] = [];
	for (const size of sizes) {
		const state = await boxState(gpuCount, size);
		const {loads} = layoutOf(state);
		// The events stay visible.
		expect(shownRows(state).events).toBeGreaterThanOrEqual(7);
		const lines = frameOf(state).split('\n');
		expect(lines).toHaveLength(size.rows);
		expect(lines.filter((line) => line.includes('─ Loads last 5m ─'))).toHaveLength(loads === undefined ? 0 : 1);
		if (loads === undefined) {
			continue;
		}

		shown.push(`${size.columns}x${size.rows}`);
		const heads = lines.filter((line) => / \d+ (?:alice|bob|carol) +\d+% +\d+G/v.test(line));
		expect(heads).toHaveLength(Math.ceil(gpuCount / loads.columns));
	}

	expect(shown.join(' ')).toBe(expected);
});

test('the detail panel of a single GPU shows graphs of the last day and of the last minutes on a wide screen', async () => {
	const box = await createBox(1, {
		leases: {0: run('alice')},
		readings: [busy(0, 'alice', 'train', {gibibytes: 9, percent: 70})],
	});
	for (const size of sizes) {
		const state = await stateOf(box, size, {}, [eventsArrived, nightOf(box)], pastOf(box));
		expect(shownRows(state).events).toBeGreaterThanOrEqual(7);
		expect(shownRangeOf(state)).toBe(1440);
		await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot(`../frames/${size.columns}x${size.rows}/one-gpu.txt`);
	}

	// The last day is not read if there is no room for it.
	expect(shownRangeOf(await stateOf(box, {columns: 120, rows: 32}))).toBe(5);
});

test('the load graphs of all GPUs fit into a screen of 240x60', async () => {
	const box = await createScene();
	const state = await stateOf(box, {columns: 240, rows: 60}, {}, [eventsArrived], pastOf(box));
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('../frames/240x60/plain.txt');
});

test('the load graphs of all GPUs cover the same time as the graphs of the detail panel', async () => {
	const box = await createScene();
	const size = {columns: 240, rows: 60};
	const back: readonly Step[] = ['look-back', 'look-back', 'look-back'];
	const state = await stateOf(box, size, {}, [eventsArrived, ...back, nightOf(box)], pastOf(box));
	expect(frameOf(state)).toContain('─ Loads last 24h ─');
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('../frames/240x60/night.txt');
	const failed = after(state, {kind: 'past-arrived', past: {kind: 'failed', reason: 'no answer'}});
	expect(frameOf(failed)).toContain('─ Loads last 24h unknown ─');
});

test('a click on the load graph of a GPU selects the GPU', async () => {
	const size = {columns: 200, rows: 50};
	const users = Array.from({length: 8}, (_, index) => people[index % people.length]!);
	const session = startMonitor(
		await createBox(8, {
			readings: users.map((user, index) => busy(index, user, 'train', {gibibytes: 10 + index, percent: 50})),
		}),
		{size, hasMouse: true, isMouseWanted: true},
	);
	try {
		await session.shows('Loads last 30s');
		const lines = session.screen().split('\n');
		const row = lines.findIndex((line) => / 5 carol\? +50% +15G/v.test(line));
		const column = lines[row]!.indexOf('carol?');
		for (const [right, down] of [
			[0, 0],
			[5, 2],
		] as const) {
			await session.press('0');
			await session.mouse({kind: 'click', column: column + right, row: row + down});
			expect(selectedGpu(session.store.getState())).toBe(5);
		}
	} finally {
		await endSession(session);
	}
});

const loadsPanel = (state: State): string => {
	const {width, rows} = layoutOf(state)
		.blocks.flat()
		.flat()
		.find(({panel}) => panel === 'loads')!;
	return drawn(<LoadsPanel width={width} rows={rows} />, {state});
};

test('LoadsPanel has a tile for each GPU, with its holder, its load and its graphs', async () => {
	const state = await boxState(4, {columns: 160, rows: 45}, ['line-down']);
	expect(loadsPanel(state)).toMatchInlineSnapshot(`
		"╭─ Loads last 5m ──────────────────────────────────────────────╮
		│   0 alice             0%  10G  > 1 bob              17%  11G │
		│                                                              │
		│                                                              │
		│                                                              │
		│                                                              │
		│                                                              │
		│                                                            ⣀ │
		│ ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡀    ⢀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀  ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡀    ⢰⣶⣶⣶⣶⣾⣿⣿⣿⣿⣿ │
		│   2 carol            34%  12G    3 alice            51%  13G │
		│                                                              │
		│                                                              │
		│                                                              │
		│                                                          ⣀⣠⣤ │
		│                           ⢀⣀⣠                      ⢀⣀⣤⣴⣶⣿⣿⣿⣿ │
		│                   ⢀⣀⣠⣤⣴⣶⣾⣿⣿⣿⣿                    ⢰⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿ │
		│ ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣠⡄    ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿  ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣠⣴⡆    ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿ │
		╰──────────────────────────────────────────────────────────────╯"
	`);
});

test('LoadsPanel shows N/A for a GPU that reports nothing, and the state of a broken one', async () => {
	const unknown = {utilizationPercent: undefined, memoryUsedMiB: undefined};
	const readings = [gpuReading(0, {...unknown, failure: 'lost'}), gpuReading(1, unknown)];
	const box = await createBox(2, {readings, leases: {1: lease('b\u{1B}[31mob')}});
	const heads = loadsPanel(await stateOf(box, {columns: 160, rows: 45})).matchAll(/> 0 .*| {2}1 .*/gv);
	expect(heads.map(([head]) => head.replaceAll(/ +/gv, ' ')).toArray()).toEqual(['> 0 Error N/A │', ' 1 bob N/A │']);
});
