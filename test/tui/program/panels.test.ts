/** Panels of the built monitor on a terminal: actions apply to the selected GPU despite filters, sorting and resizing. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {isShown, keys, rowOf, startTop, statusOf, watchFrames} from './_program.js';

let box: Box;

beforeAll(async () => {
	box = await createEmbeddedBox(6);
});

afterAll(() => {
	box.remove();
});

test('the key x releases the selected GPU although rows move while the dialog is open and a filter is set', async () => {
	await box.run('reserve --gpu-ids 1 --duration 3h --note first');
	await box.run('reserve --gpu-ids 4 --duration 1h --note second');
	const top = startTop(box);
	const faults = watchFrames(top);
	await top.waitFor(isShown(6));
	top.write('/second');
	await top.waitFor(/Filter second.*1 of 6 GPUs/v);
	top.write(keys.enter);
	await top.waitFor(/filter second/v);
	await top.waitFor('2:Detail GPU 4');
	// Both rows are shown again, in an order that the changing loads keep changing.
	top.write(keys.escape);
	await top.waitFor(isShown(6));
	top.write('>>>>>');
	await top.waitFor(/sort UTILv/v);
	await box.run('extend --gpu-ids 1 --duration 30m');
	top.write('x');
	await top.waitFor(/Release GPU 4 now\?/v);
	await box.run('reserve --gpu-ids 0 --duration 1h');
	top.write('y');
	await top.waitFor('OK released GPU 4');
	expect((await statusOf(box)).map((row) => row['status'])).toEqual([
		'IN_USE',
		'IN_USE',
		'AVAILABLE',
		'AVAILABLE',
		'AVAILABLE',
		'AVAILABLE',
	]);
	expect(faults.overflows()).toEqual([]);
	await box.run('release --gpu-ids 0,1');
});

test('every panel of top fits the screen at every size', async () => {
	const top = startTop(box, {size: {columns: 120, rows: 32}});
	await top.waitFor(isShown(6));
	top.write('r');
	await top.waitFor('$ canhazgpu reserve');
	for (const [columns, rows] of [
		[80, 24],
		[60, 15],
		[59, 10],
		[200, 50],
		[100, 20],
	] as const) {
		top.resize({columns, rows});

		await top.waitFor(columns < 60 ? 'need 60x15' : '$ canhazgpu reserve');
	}

	top.write(`3${keys.tab}30m`);
	await top.waitFor('--gpus 3 --duration 30m');
	top.write(keys.escape);
	await top.waitFor(isShown(6));
	top.resize({columns: 80, rows: 24});
	await top.waitFor('── 2:Detail');
	const faults = watchFrames(top);
	for (const [key, words] of [
		['5', '5:Events'],
		['4', '4:Report by user'],
		['>', '4:Report by GPU'],
		['3', '3:Queue'],
		['2', '2:Detail GPU'],
		['+', 'Esc Back'],
		[keys.escape, 'r Reserve'],
	] as const) {
		top.write(key);

		await top.waitFor(words);
	}

	expect(rowOf(await top.waitFor(isShown(6)), 0)).toMatch(/ 0 +Free/v);
	expect(faults.overflows()).toEqual([]);
});
