import {expect, onTestFinished, test} from 'vitest';
import {DetailGraphs} from '../../../../source/tui/panels/detail/graphs.js';
import {rowsOf} from '../../../../source/tui/state/state.js';
import {createStateStore} from '../../../../source/tui/state/store.js';
import {drawn, mounted} from '../../_drawn.js';
import {settle} from '../../_settle.js';
import {after, stateOf, type Step} from '../../_harness.js';
import {nightOf, pastOf} from '../../_scene.js';
import {createScene} from '../../_world.js';

const box = await createScene();
const state = await stateOf(box, {columns: 120, rows: 30}, {}, [], pastOf(box));
const day: readonly Step[] = ['look-back', 'look-back', 'look-back'];

const graphs = (steps: readonly Step[], {rows, width}: {rows: number; width: number}, drawing = {}): string => {
	const shown = after(state, ...steps);
	return drawn(<DetailGraphs row={rowsOf(shown)[0]!} rows={rows} width={width} />, {state: shown, ...drawing});
};

test('DetailGraphs shows one graph in a narrow panel and two in a wide one', () => {
	expect(graphs([], {rows: 5, width: 40})).toMatchInlineSnapshot(`
		" util 100%│                         ⢀⣀
		          │                    ⣀⣠⣴⣶⣿⣿⣿
		          │                 ⢰⣾⣿⣿⣿⣿⣿⣿⣿⣿
		        0%│⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣠⣤⡆    ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿
		           -5m                     now"
	`);
	expect(graphs([], {rows: 5, width: 70})).toMatchInlineSnapshot(`
		" util 100%│                    ⢀⣀     mem 80G│
		          │                ⣀⣠⣴⣾⣿⣿            │                 ⣀⣠⣴⣶⣿
		          │              ⣶⣿⣿⣿⣿⣿⣿⣿            │              ⣤⣶⣿⣿⣿⣿⣿⣿
		        0%│⣀⣀⣀⣀⣀⣀⣀⣀⣠⣴    ⣿⣿⣿⣿⣿⣿⣿⣿          0G│⣀⣀⣀⣀⣀⣀⣀⣀⣠⣤    ⣿⣿⣿⣿⣿⣿⣿⣿
		           -5m                now             -5m                now"
	`);
});

test('DetailGraphs of a day shows the clock times and who held the GPU', () => {
	expect(graphs([...day, nightOf(box)], {rows: 5, width: 60})).toMatchInlineSnapshot(`
		" util 100%│        ⣶⣶⣤⣤⣤⣤⣤⣤⣀⣀⣀⣀
		          │       ⢀⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿     ⣿⣿⣿⣿⣷⣶⣶⣶⣶⣶⣶⣤
		        0%│⣀⣀⣀⣀⣀⣀⣀⣸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿     ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣆⣀⣀⣀⣀⣀⣀⣀⣀⣰
		           ───────carol───────────────────────── ──    ───
		           -24h            00:00      06:00            now"
	`);
});

test('DetailGraphs of a day are one above the other in a high panel', () => {
	expect(graphs([...day, nightOf(box)], {rows: 12, width: 80})).toMatchInlineSnapshot(`
		" util 100%│           ⣤⣤⣤⣤⣤⣤⣀⣀⣀⣀⣀⣀⣀
		          │          ⢀⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿       ⢰⣶⣶⣤⣤⣤⣤⣤⣤⣤⣀⣀⣀⣀⣀⣀⡀              ⢀
		          │          ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿       ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇             ⢸
		        0%│⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣼⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿       ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣼
		           模型-team──carol─────────────────────────────────────  ──      ────
		           -24h   18:00            00:00           06:00            12:00  now
		   mem 80G│
		          │
		          │           ⣶⣶⣶⣶⣶⣶⣶⣶⣶⣦⣤⣤⣤⣤⣤⣤⣤       ⢀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀                  ⢸
		        0G│⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿       ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣧⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣸
		           模型-team──carol─────────────────────────────────────  ──      ────
		           -24h   18:00            00:00           06:00            12:00  now"
	`);
});

test('DetailGraphs draws with ASCII characters', () => {
	expect(graphs([], {rows: 4, width: 40}, {isAscii: true})).toMatchInlineSnapshot(`
		" util 100%|                        ___
		          |                 ____######
		        0%|........____     ##########
		           -5m                     now"
	`);
});

test.each([
	['is loading', day, ' loading older values'],
	[
		'cannot be read',
		[...day, {kind: 'past-arrived', past: {kind: 'failed', reason: 'the store is away'}}],
		' the store is away',
	],
] as const)('DetailGraphs of a time range that %s', (_, steps, expected) => {
	expect(graphs(steps, {rows: 5, width: 70})).toBe(expected);
});

test('DetailGraphs is empty without room', () => {
	expect(graphs([], {rows: 1, width: 70})).toBe('');
	expect(graphs([], {rows: 5, width: 8})).toBe('');
});

test('the clock times below a graph without values move with the time', async () => {
	const past = {kind: 'read', past: {from: 0, to: 0, minutes: [], usage: []}} as const;
	const begun = after(state, ...day, {kind: 'past-arrived', past});
	const element = <DetailGraphs row={{...rowsOf(begun)[0]!, reading: undefined}} rows={5} width={60} />;
	const store = createStateStore(begun);
	const {lastFrame, unmount} = mounted(element, store);
	onTestFinished(unmount);
	const before = lastFrame();
	store.dispatch({kind: 'ticked', nowMs: begun.nowMs + 5 * 3_600_000});
	await settle();
	expect(lastFrame()).not.toBe(before);
	expect(lastFrame()).toBe(drawn(element, {state: store.getState(), columns: 120}));
});
