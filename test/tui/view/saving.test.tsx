import {afterEach, expect, test} from 'vitest';
import {CanhazgpuError} from '../../../source/errors.js';
import type {KeptView} from '../../../source/tui/ports.js';
import {isFolded} from '../../../source/tui/layout.js';
import {startingWith} from '../../../source/tui/state/view/reduce.js';
import {endSession, keys, startMonitor, stateOf, type Session} from '../_harness.js';
import {createScene} from '../_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

test('the key S saves the layout preset and the columns, from a panel and from the list of columns', async () => {
	const kept: KeptView[] = [];
	session = startMonitor(await createScene(), {
		ports: {
			async saveView(view) {
				kept.push(view);
				if (kept.length === 3) {
					throw new CanhazgpuError('config', 'the disk is full', {hint: 'Make room.'});
				}

				return {file: '~/.canhazgpu.yaml', isChanged: kept.length === 1};
			},
		},
	});
	await session.shows(/> 0 +Mine/v);
	await session.press('P');
	await session.shows('Preset dense: as many GPUs as fit. S saves it');
	await session.press('S');
	await session.shows('OK Saved in ~/.canhazgpu.yaml: preset dense, usual columns');
	await session.press('C', keys.down, ' ', 'S');
	await session.shows('~/.canhazgpu.yaml needs no change: it already contains these values');
	await session.shows('[ ] STATE');
	await session.press('S');
	await session.shows('ERR the disk is full. Make room.');
	expect(kept.map(({preset, columns}) => [preset, columns?.includes('state')])).toEqual([
		['dense', undefined],
		['dense', false],
		['dense', false],
	]);
});

test('the key S saves whether each reservation has one row, and removes the setting if it is the default', async () => {
	const kept: KeptView[] = [];
	session = startMonitor(await createScene(), {
		ports: {
			async saveView(view) {
				kept.push(view);
				return {file: '~/.canhazgpu.yaml', isChanged: true};
			},
		},
	});
	await session.shows(/> 0 +Mine/v);
	await session.press('g');
	await session.shows('One row for each reservation; g unfolds them, S saves it');
	await session.press('S');
	await session.shows('OK Saved in ~/.canhazgpu.yaml: preset default, usual columns, folded');
	await session.press('g', 'S');
	await session.shows(/OK Saved in ~\/\.canhazgpu\.yaml: preset default, usual columns(?!,)/v);
	expect(kept.map((view) => view.isFolded)).toEqual([true, undefined]);
});

test('top starts with one row for each reservation if that was saved', async () => {
	const state = await stateOf(await createScene(), {columns: 120, rows: 32});
	for (const isKept of [true, false]) {
		expect(isFolded(startingWith(state, {isFolded: isKept}))).toBe(isKept);
	}

	expect(isFolded(startingWith(state, {}))).toBe(false);
	const small = await stateOf(await createScene(), {columns: 60, rows: 15});
	expect(isFolded(startingWith(small, {isFolded: false}))).toBe(false);
});

test('top starts with the saved layout preset and columns', async () => {
	const state = await stateOf(await createScene(), {columns: 80, rows: 24});
	const begun = startingWith(state, {preset: 'processes', columns: ['gpu', 'owner']});
	expect([begun.view.preset, begun.view.columns, begun.panels.focus]).toEqual([
		'processes',
		['gpu', 'owner'],
		'processes',
	]);
	expect(startingWith(state, {}).view).toEqual({
		preset: 'default',
		columns: undefined,
		isFolded: undefined,
		remembered: {},
	});
});
