/** The graphs of all GPUs on wide screens, beside the queue and the events. */
import {expect, test} from 'vitest';
import {layoutOf, shownRangeOf} from '../../../source/tui/layout.js';
import {loadsLines} from '../../../source/tui/panels/loads.js';
import {pointingAt} from '../../../source/tui/mouse/pointing.js';
import {regionsOf} from '../../../source/tui/regions.js';
import type {Size, State} from '../../../source/tui/state/state.js';
import {rowWith} from '../../../source/tui/state/table/rows.js';
import {after, frameOf, stateOf, type Step} from '../_harness.js';
import {eventsArrived, nightOf, pastOf} from '../_scene.js';
import {busy, createBox, createScene, lease, run} from '../_world.js';
import {createLarge} from '../view/_large.js';

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

test('a memory of unknown size is not said to be full', async () => {
	const reading = busy(0, 'alice', 'python train.py', {gibibytes: 10, percent: 50});
	const box = await createBox(2, {readings: [{...reading, memoryTotalMiB: undefined}]});
	const state = await stateOf(box, {columns: 200, rows: 50});
	const numbers = loadsLines(state, {width: 77}).flat();
	expect(numbers.find(({text}) => text.trim() === '10G')?.tone).toBe('plain');
});

const columnOf = (row: string, words: string): number => row.indexOf(words);

test.each([
	[2, '160x45 200x50 240x60'],
	[4, '160x45 200x50 240x60'],
	[8, '160x45 200x50 240x60'],
	[12, '200x50 240x60'],
	[16, '240x60'],
	[64, ''],
] as const)('%i GPUs have their graphs where there is room: %s', async (gpuCount, expected) => {
	const shown: string[] = [];
	for (const size of sizes) {
		const state = await boxState(gpuCount, size);
		const {loads, eventRows} = layoutOf(state);
		// What happened stays in view.
		expect(eventRows).toBeGreaterThanOrEqual(8);
		const lines = frameOf(state).split('\n');
		expect(lines).toHaveLength(size.rows);
		expect(lines.filter((line) => line.includes('─ Loads  last 5m ─'))).toHaveLength(loads === undefined ? 0 : 1);
		if (loads === undefined) {
			continue;
		}

		shown.push(`${size.columns}x${size.rows}`);
		const heads = lines.filter((line) => / \d+ (?:alice|bob|carol) +\d+% +\d+G/v.test(line));
		expect(heads).toHaveLength(Math.ceil(gpuCount / loads.columns));
	}

	expect(shown.join(' ')).toBe(expected);
});

test('a GPU alone has its last day beside the minutes in its detail, on whatever wide screen', async () => {
	const box = await createBox(1, {
		leases: {0: run('alice')},
		readings: [busy(0, 'alice', 'train', {gibibytes: 9, percent: 70})],
	});
	for (const size of sizes) {
		const state = await stateOf(box, size, {}, [eventsArrived, nightOf(box)], pastOf(box));
		expect(layoutOf(state).eventRows).toBeGreaterThanOrEqual(8);
		expect(shownRangeOf(state)).toBe(1440);
		await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot(`../frames/${size.columns}x${size.rows}/one-gpu.txt`);
	}

	// Where there is no room for it, nothing is read for it.
	expect(shownRangeOf(await stateOf(box, {columns: 120, rows: 32}))).toBe(5);
});

test('the graphs of all GPUs at 240x60', async () => {
	const box = await createScene();
	const state = await stateOf(box, {columns: 240, rows: 60}, {}, [eventsArrived], pastOf(box));
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('../frames/240x60/plain.txt');
});

test('they go as far back as the graphs of the detail', async () => {
	const box = await createScene();
	const size = {columns: 240, rows: 60};
	const back: readonly Step[] = ['look-back', 'look-back', 'look-back'];
	const state = await stateOf(box, size, {}, [eventsArrived, ...back, nightOf(box)], pastOf(box));
	expect(frameOf(state)).toContain('─ Loads  last 24h ─');
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('../frames/240x60/night.txt');
	const failed = after(state, {kind: 'past-arrived', past: {kind: 'failed', reason: 'no answer'}});
	expect(frameOf(failed)).toContain('─ Loads  last 24h unknown ─');
});

test('a click on the graphs of a GPU selects it, also where its reservation is one row', async () => {
	for (const size of sizes) {
		const state = await boxState(8, size);
		const lines = frameOf(state).split('\n');
		const row = lines.findIndex((line) => / 5 carol +85% +15G/v.test(line));
		const column = columnOf(lines[row]!, 'carol');
		for (const [right, down] of [
			[0, 0],
			[-3, 1],
			[5, 2],
		] as const) {
			const [pointing] = pointingAt(state, {kind: 'click', column: column + right, row: row + down});
			expect(pointing).toBeDefined();
			const next = 'action' in pointing! ? after(state, pointing.action) : state;
			expect(next.selectedGpu).toBe(5);
		}
	}

	const folded = await stateOf(await createLarge(), {columns: 200, rows: 50});
	expect(layoutOf(folded).loads).toBeUndefined();
	expect(rowWith(folded, 3)?.index).toBe(0);
});

test('a click beside all graphs selects nothing', async () => {
	const state = await boxState(3, {columns: 200, rows: 50});
	const {loads} = layoutOf(state);
	const queue = regionsOf(state).find(({panel}) => panel === 'queue')!;
	const title = queue.top + queue.rows + 1;
	for (let row = title; row <= title + loads!.rows; row++) {
		for (const column of [0, 1, queue.left + queue.width - 1]) {
			const [pointing] = pointingAt(state, {kind: 'click', column, row});
			expect(pointing === undefined || column > 1).toBe(true);
		}
	}
});
