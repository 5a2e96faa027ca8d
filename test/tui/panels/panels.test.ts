/** Which panels are shown, which has the focus, and how far each scrolls. */
import {expect, test} from 'vitest';
import {selectedEntry} from '../../../source/tui/state/queue/rows.js';
import {modeOf} from '../../../source/tui/state/modes.js';
import type {Size} from '../../../source/tui/state/state.js';
import {isLight, stylesOf, themeOf, type Theme} from '../../../source/tui/theme.js';
import {loadTone} from '../../../source/tui/themes/tones.js';
import {layoutOf, pageRowsOf} from '../../../source/tui/layout.js';
import {after, frameOf, shownRows, stateOf} from '../_harness.js';
import {eventsArrived} from '../_scene.js';
import {createBox, createScene, waiter} from '../_world.js';

const size = {columns: 120, rows: 32};

test('on a screen with few lines, the events are hidden before the queue and the detail panel', async () => {
	const shared = async (more: Size, gpus = 8): Promise<string> => {
		const {gpus: table = 1, detail = 0, queue = 0, events = 0} = shownRows(await stateOf(await createBox(gpus), more));
		return `${more.columns}x${more.rows}: table ${table - 1}, detail ${detail}, queue ${queue}, events ${events}`;
	};

	expect(
		await Promise.all([
			...[60, 40, 32, 29, 27, 22, 20, 16].map(async (rows) => shared({columns: 120, rows})),
			...[60, 32, 24, 20, 16, 15].map(async (rows) => shared({columns: 80, rows})),
			shared({columns: 120, rows: 32}, 64),
			shared({columns: 120, rows: 60}, 128),
			shared({columns: 80, rows: 24}, 64),
		]),
	).toMatchInlineSnapshot(`
		[
		  "120x60: table 8, detail 26, queue 26, events 15",
		  "120x40: table 8, detail 17, queue 17, events 4",
		  "120x32: table 8, detail 10, queue 10, events 3",
		  "120x29: table 8, detail 12, queue 5, events 5",
		  "120x27: table 8, detail 10, queue 5, events 3",
		  "120x22: table 8, detail 5, queue 5, events 0",
		  "120x20: table 8, detail 4, queue 0, events 0",
		  "120x16: table 8, detail 0, queue 0, events 0",
		  "80x60: table 8, detail 22, queue 0, events 21",
		  "80x32: table 8, detail 10, queue 0, events 5",
		  "80x24: table 8, detail 5, queue 0, events 2",
		  "80x20: table 8, detail 4, queue 0, events 0",
		  "80x16: table 8, detail 0, queue 0, events 0",
		  "80x15: table 8, detail 0, queue 0, events 0",
		  "120x32: table 19, detail 4, queue 4, events 0",
		  "120x60: table 37, detail 10, queue 10, events 2",
		  "80x24: table 17, detail 0, queue 0, events 0",
		]
	`);
});

test('the GPU table keeps room for up to 16 GPUs at any size of the screen', async () => {
	for (const gpus of [1, 8, 64]) {
		const state = await stateOf(await createBox(gpus), size);
		for (let rows = 15; rows <= 90; rows++) {
			for (const columns of [60, 99, 100, 200]) {
				const {gpus: table = 1} = shownRows({...state, size: {columns, rows}});
				const {tableColumns} = layoutOf({...state, size: {columns, rows}});
				expect((table - 1) * tableColumns, `${gpus} GPUs at ${columns}x${rows}`).toBeGreaterThanOrEqual(
					Math.min(gpus, 16, rows - 8),
				);
			}
		}
	}
});

test('a screen of 100 columns shows the queue and every GPU that a screen of 99 columns shows', async () => {
	const missing: string[] = [];
	for (let gpus = 1; gpus <= 16; gpus++) {
		const state = await stateOf(await createBox(gpus, {waiting: [waiter('erin'), waiter('frank')]}), size);
		for (let rows = 15; rows <= 40; rows++) {
			const [narrow, wide] = [99, 100].map((columns) => shownRows({...state, size: {columns, rows}}));
			const {gpus: narrowTable = 1, queue: narrowQueue = 0} = narrow!;
			const {gpus: table = 1, queue = 0} = wide!;
			if ((narrowQueue > 0 && queue === 0) || table - 1 < Math.min(gpus, narrowTable - 1)) {
				missing.push(`${gpus} GPUs and ${rows} rows`);
			}
		}
	}

	expect(missing).toEqual([]);
});

test('Tab moves the focus through the panels in a circle', async () => {
	let state = await stateOf(await createScene(), size);
	const modes = [modeOf(state)];
	for (let press = 0; press < 6; press++) {
		state = after(state, 'focus-next-panel');
		modes.push(modeOf(state));
	}

	expect(modes).toEqual(['gpus', 'detail', 'queue', 'report', 'events', 'processes', 'gpus']);
	expect(modeOf(after(state, 'focus-previous-panel'))).toBe('processes');
	expect(after(state, 'focus-queue', 'zoom', 'leave-panel').panels).toMatchObject({focus: 'gpus', isZoomed: false});
	// A panel that already fills the screen is not zoomed, because the zoom would hide the other panels later.
	for (const key of ['zoom', 'unzoom'] as const) {
		const reported = after(state, 'focus-report', key);
		expect(reported.flash?.text).toBe('This panel always has the whole screen here: Esc goes back to the GPUs');
		expect(reported.panels.isZoomed).toBe(false);
	}

	expect(after(state, 'unzoom').flash?.text).toBe('No panel fills the screen: press + to zoom one');
	expect(after(state, 'zoom', 'unzoom').flash).toBeUndefined();
	// Esc removes the filter first and then the zoom.
	const filtered = after(state, 'zoom', 'filter-mine', 'clear-marks');
	expect(filtered.panels.isZoomed).toBe(true);
	expect(after(filtered, 'clear-marks').panels.isZoomed).toBe(false);
});

test('a panel that does not fit next to the others is shown alone when focused', async () => {
	const state = await stateOf(await createScene(), {columns: 80, rows: 24});
	expect(layoutOf(state).alone).toBeUndefined();
	expect(layoutOf(after(state, 'focus-events')).alone).toBe('events');
	expect(layoutOf(after(state, 'focus-report')).alone).toBe('report');
	expect(layoutOf(after(state, 'focus-queue')).alone).toBeUndefined();
	expect(layoutOf(after(state, 'focus-queue', 'zoom')).alone).toBe('queue');
	expect(layoutOf(after(state, 'zoom')).alone).toBe('gpus');
	expect(shownRows(after(state, 'zoom'))).toEqual({gpus: 18});
});

test('the selection in the queue stays on its entry when an earlier entry leaves', async () => {
	const people = ['ann', 'ben', 'cid', 'dan'];
	const box = await createBox(2, {waiting: people.map((name) => waiter(name, {requestedIds: [0, 1]}))});
	const state = after(await stateOf(box, size), 'focus-queue', 'line-down', 'line-down');
	expect(selectedEntry(state)?.id).toBe('entry-cid');
	await box.write({kind: 'leave', id: 'entry-ann'});
	const {snapshot} = await stateOf(box, size);
	const moved = after(state, {kind: 'snapshot-arrived', snapshot: snapshot!, nowMs: 2000});
	expect([selectedEntry(moved)?.id, moved.queue.selected.place]).toEqual(['entry-cid', 1]);
	expect(selectedEntry(after(moved, 'last-line'))?.id).toBe('entry-dan');
	expect(selectedEntry(after(moved, 'first-line', 'line-up'))?.id).toBe('entry-ben');
});

test('panels can be scrolled to their last line', async () => {
	const entries = Array.from({length: 40}, (_, index) => ({
		id: String(index),
		time: index,
		kind: 'notice' as const,
		gpus: [],
		note: `number ${index}`,
	}));
	const state = after(await stateOf(await createScene(), size), {kind: 'events-arrived', entries}, 'focus-events');
	const shown = pageRowsOf(state, 'events');
	expect(after(state, 'line-up').panels.scroll.events).toBe(0);
	const beyond = after(state, 'last-line', 'line-down');
	const limit = {
		kind: 'scroll-limited',
		panel: 'events',
		beyond: beyond.panels.scroll.events,
		first: 40 - shown,
	} as const;
	expect(frameOf(after(beyond, limit))).toBe(frameOf(beyond));
	expect(after(beyond, 'first-line').panels.scroll.events).toBe(0);
	expect(after(state, 'page-down', 'line-down').panels.scroll.events).toBe(shown + 1);
	// The lines in view stay when an event arrives, but at the top the newest is shown.
	const next = [...entries, ...entries.slice(0, 2).map((one) => ({...one, id: `next ${one.id}`, time: 100}))];
	const read = after(state, 'line-down', {kind: 'events-arrived', entries: next});
	expect(read.panels.scroll.events).toBe(3);
	expect(after(state, {kind: 'events-arrived', entries: next}).panels.scroll.events).toBe(0);
	// Next to other panels, the newest are shown.
	expect(after(read, 'leave-panel').panels.scroll.events).toBe(0);
	expect(after(read, 'focus-queue').panels.scroll.events).toBe(0);
	expect(after(read, 'focus-events').panels.scroll.events).toBe(3);
	expect(frameOf(after(state, 'last-line'))).toMatch(/number 0\b/v);
});

test('the events panel shows the last of several simultaneous events on top', async () => {
	const entries = [1, 2].map((id) => ({
		id: String(id),
		time: 100,
		kind: 'notice' as const,
		gpus: [],
		reason: `event ${id}`,
	}));
	const state = after(await stateOf(await createScene(), size), {kind: 'events-arrived', entries}, 'focus-events');
	expect(frameOf(state)).toMatch(/ event 2 .*\n.* event 1 /v);
});

test('the events panel keeps only the newest 300 events', async () => {
	const state = await stateOf(await createScene(), size);
	const entry = (index: number) => ({id: String(index), time: index, kind: 'notice' as const, gpus: []});
	const entries = Array.from({length: 2000}, (_, index) => entry(index));
	const many = after(state, {kind: 'events-arrived', entries});

	expect(many.events.entries).toHaveLength(300);
	expect(many.events.entries.at(-1)!.id).toBe('1999');
	expect(after(many, {kind: 'events-arrived', entries: [entry(1)]}).events.entries).toHaveLength(1);
	const lost = after(state, {kind: 'events-lost', reason: 'this Redis keeps no audit log'});
	expect(frameOf(lost)).toContain('this Redis keeps no audit log');
	expect(frameOf(after(lost, eventsArrived))).not.toContain('keeps no audit log');
});

test('the events panel lists an error after its message has disappeared', async () => {
	const state = await stateOf(await createScene(), size);
	const failed = after(state, {kind: 'done', dialog: {kind: 'help'}, flash: {level: 'error', text: 'it went wrong'}});
	expect(failed.events.errors).toMatchObject([{text: 'it went wrong'}]);
	expect(after(failed, 'key-pressed').events.errors).toHaveLength(1);
	expect(frameOf(after(failed, 'key-pressed'))).toMatch(/14:32:07 ERR it went wrong/v);
});

/** Contrast with white: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio */
function contrastOnWhite(color: string): number {
	const [red, green, blue] = [1, 3, 5].map((start) => {
		const share = Number.parseInt(color.slice(start, start + 2), 16) / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	});
	return 1.05 / (0.2126 * red! + 0.7152 * green! + 0.0722 * blue! + 0.05);
}

test('every color of the light themes has a contrast of at least 4.5 on white', () => {
	for (const theme of ['light', 'light-gradient'] as const) {
		for (const [tone, {color = '#000000', dimColor = false}] of Object.entries(stylesOf(theme))) {
			expect([tone, contrastOnWhite(color) >= 4.5, dimColor]).toEqual([tone, true, false]);
		}
	}
});

test('a load has one of three colors in a theme with 16 colors, and a gradient color in a larger theme', () => {
	const colorsOf = (theme: Theme, of: 'load' | 'memory') =>
		[0, 0.3, 0.7, 0.9, 1].map((share) => stylesOf(theme)[loadTone(of, share)].color);
	expect(colorsOf('dark', 'load')).toEqual(['green', 'green', 'yellow', 'red', 'red']);
	expect(new Set(colorsOf('dark', 'memory'))).toEqual(new Set(['blueBright']));
	for (const theme of ['dark-gradient', 'light-gradient'] as const) {
		expect(new Set(colorsOf(theme, 'load')).size).toBe(5);
		expect(new Set([...colorsOf(theme, 'load'), ...colorsOf(theme, 'memory')]).size).toBe(10);
	}

	expect(colorsOf('mono', 'load')).toEqual(Array.from({length: 5}));
	const abilities = {hasColor: true, isLight: false, hasGradients: true};
	expect([
		themeOf(abilities),
		themeOf({...abilities, hasGradients: false}),
		themeOf({...abilities, hasColor: false}),
	]).toEqual(['dark-gradient', 'dark', 'mono']);
});

test('isLight follows the setting, or the background color of the terminal if the setting is "auto"', () => {
	expect([isLight('light'), isLight('dark', '0;15'), isLight('auto'), isLight(undefined, '')]).toEqual([
		true,
		false,
		false,
		false,
	]);
	expect(
		['0;15', '0;default;7', '15;0', '12;8', 'default;default', 'x'].map((colors) => isLight('auto', colors)),
	).toEqual([true, true, false, false, false, false]);
});

test('the key 6 lists the processes of all GPUs with the largest first', async () => {
	const state = await stateOf(await createScene(), {columns: 80, rows: 24});
	const alone = frameOf(after(state, 'focus-processes'));
	expect(alone).toContain('6:Processes');
	const order = alone.match(/\b812\d\d|\b81377/gv);
	expect(order).toEqual(['81238', '81239', '81234', '81240', '81377']);
	for (const large of [
		{columns: 200, rows: 50},
		{columns: 300, rows: 80},
	]) {
		const screen = frameOf(await stateOf(await createScene(), large, {}, [eventsArrived]));
		expect(
			['1:GPUs', '2:Detail', '3:Queue', '5:Events', '6:Processes'].filter((name) => !screen.includes(name)),
		).toEqual([]);
		expect(screen).toContain('NOTE');
		expect(screen).toContain('vllm serve Llama-3-70B');
	}
});

test('the key [ shows the period of the graphs, or how to see the graphs if they are hidden', async () => {
	const state = await stateOf(await createScene(), {columns: 120, rows: 32});
	const words = 'Graphs show the last 1h';
	expect(after(state, 'look-back').flash?.text).toBe(words);
	expect(after(state, 'zoom', 'look-back').flash?.text).toBe(`${words}: press 2 and + to see them`);
});
