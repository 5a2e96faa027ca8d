import {expect, test} from 'vitest';
import type {State} from '../../../source/tui/state/state.js';
import {columnsFor, columnsWidth} from '../../../source/tui/panels/gpus/columns.js';
import {bar, barSpans} from '../../../source/tui/widgets/bar.js';
import {headerLine} from '../../../source/tui/panels/header.js';
import {commonMemory, gibibytes, inventory, processText, shortModel} from '../../../source/format/readings.js';
import {edge} from '../../../source/tui/widgets/panel-frames.js';
import {glyphsOf} from '../../../source/tui/widgets/drawing.js';
import {lineText, merged, span, type Line, type Tone} from '../../../source/tui/widgets/styled-text.js';
import {roomOf} from '../../../source/tui/regions.js';
import {linearLines} from '../../../source/tui/screen-reader.js';
import {panelOf} from '../../../source/tui/panels/contents.js';
import {after, frameOf, stateOf} from '../_harness.js';
import {busy, createBox, createScene, gpuReading, lease, run, sceneTime, waiter} from '../_world.js';

const names = (width: number): string =>
	columnsFor(width)
		.map(({name, barWidth}) => (barWidth === undefined ? name : `${name}+`))
		.join(' ');

test('narrowing drops columns in the order of their worth', () => {
	expect([198, 118, 100, 90, 80, 76, 66, 58].map((width) => names(width))).toMatchInlineSnapshot(`
		[
		  "gpu state owner kind held ends utilization+ memory+ temperature power history note process",
		  "gpu state owner kind held ends utilization+ memory+ temperature power history process",
		  "gpu state owner kind held ends utilization+ memory+ temperature process",
		  "gpu state owner held ends utilization+ memory+ temperature process",
		  "gpu state owner ends utilization+ memory temperature process",
		  "gpu state owner ends utilization memory temperature process",
		  "gpu state owner ends utilization memory temperature",
		  "gpu state owner ends utilization memory temperature",
		]
	`);
});

test('the columns fill every width that has room for them', () => {
	for (let width = 60; width <= 220; width++) {
		expect(columnsWidth(columnsFor(width))).toBe(width);
	}
});

test('a bar lies on a track where there are colours of its own, else its rest is dotted', () => {
	const drawing = {isAscii: false, hasColor: true, hasGradients: true} as const;
	expect(barSpans('load', 0.5, 4, drawing)).toEqual([{text: '██  ', tone: 'load-5-bar'}]);
	const dotted = [
		{text: '██', tone: 'load-5'},
		{text: '░░', tone: 'dim'},
	];
	for (const other of [{hasColor: false}, {hasGradients: false}, {scheme: 'terminal'}] as const) {
		expect(barSpans('load', 0.5, 4, {...drawing, ...other})).toEqual(dotted);
	}

	// The blank behind a track is not part of it, and an empty track is no blank.
	const line = [span('0'), ...barSpans('memory', 0, 3, drawing), span(' '), span('x', 'dim')];
	expect(merged(line).map(({text, tone}) => [text, tone])).toEqual([
		['0', 'plain'],
		[' '.repeat(3), 'memory-0-bar'],
		[' ', 'plain'],
		['x', 'dim'],
	]);
	expect(barSpans('memory', NaN, 2, drawing)[0]!.tone).toBe('memory-0-bar');
});

test('where the sides of panels above meet an edge, it is joined, and each part has the tone of its panel', () => {
	const glyphs = glyphsOf({settings: {isAscii: false}});
	const joint = {at: 9, left: 'focus', right: 'frame'} as const;
	const corners = ['leftJoint', 'rightJoint'] as const;
	const line = edge(14, glyphs, {title: [span('5:E')], corners, joint});
	expect(lineText(line)).toBe('├─ 5:E ──┴───┤');
	expect(merged(line).map(({text, tone}) => [text, tone])).toEqual([
		['├─ ', 'focus'],
		['5:E ', 'plain'],
		['──', 'focus'],
		['┴───┤', 'frame'],
	]);
	// A title stands above all.
	expect(lineText(edge(18, glyphs, {title: [span('5:Events')], joint}))).toBe('╭─ 5:Events ─────╮');
	expect(lineText(edge(14, glyphsOf({settings: {isAscii: true}}), {joint}))).toBe('+--------+---+');
});

test('a bar shows a trace of anything above nothing, and is full only when all is used', () => {
	expect(bar(0, 10, true)).toEqual({filled: '[', rest: '........]'});
	expect(bar(0.01, 10, true).filled).toBe('[#');
	expect(bar(4 / 81_559, 12, false)).toEqual({filled: '', rest: '░'.repeat(12)});
	expect(bar(0.99, 10, true).rest).toBe('.]');
	expect(bar(1, 4, false)).toEqual({filled: '████', rest: ''});
	// In eighths: what differs by two per cent of ten cells looks different.
	expect(bar(0.01, 10, false)).toEqual({filled: '▏', rest: '░'.repeat(9)});
	expect([0.07, 0.09, 0.12].map((share) => bar(share, 10, false).filled)).toEqual(['▊', '▉', '█▎']);
	expect(bar(0.999, 10, false)).toEqual({filled: '█████████▉', rest: ''});
});

test('readings in few characters', () => {
	expect([0, 45, 410, 9728, 61_645, 81_559].map((amount) => gibibytes(amount))).toEqual([
		'0G',
		'0G',
		'0.4G',
		'9.5G',
		'60G',
		'80G',
	]);
	expect(
		['NVIDIA H100 80GB HBM3', 'NVIDIA GeForce RTX 4090', 'AMD Instinct MI300X', 'NVIDIA'].map((name) =>
			shortModel(name),
		),
	).toEqual(['H100', 'RTX-4090', 'MI300X', 'NVIDIA']);
	expect(inventory(2, [gpuReading(0), gpuReading(1, {name: 'NVIDIA A100'})])).toEqual({model: '2 GPUs'});
	// A GPU that reports nothing of itself takes nothing from the others.
	const broken = {index: 1, failure: 'GPU is lost', processes: undefined, unknown: {}};
	expect(inventory(2, [gpuReading(0), broken])).toEqual({model: '2xH100', memory: '80G'});
	expect(commonMemory([gpuReading(0), broken])).toBe(81_559);
	expect(processText({pid: 7})).toBe('PID 7');
	expect(processText({pid: 7, commandLine: '/usr/bin/python3 /home/a/train.py'})).toBe('python3 /home/a/train.py');
});

/** The lines of the table: its head, and a row for each GPU. */
const tableLines = (state: State): readonly Line[] => panelOf('table', state, roomOf(state, 'table')).lines;

const toneOf = (state: State, text: string): Tone | undefined =>
	tableLines(state)
		.flat()
		.find((piece) => piece.text.includes(text))?.tone;

test('what the store said goes dim when it is lost, what the tool said when scans fail', async () => {
	const box = await createBox(2, {
		leases: {1: lease('bob')},
		readings: [gpuReading(0), busy(1, 'bob', 'train', {gibibytes: 10, percent: 50})],
	});
	const size = {columns: 120, rows: 32};
	const live = await stateOf(box, size);
	expect([toneOf(live, 'Reserved'), toneOf(live, '█')]).toEqual(['others', 'load-5']);
	const lost = await stateOf(box, size, {}, [{kind: 'store-lost', reason: 'gone', nowMs: 2000, sinceMs: 2000}]);
	expect([toneOf(lost, 'Reserved')]).toEqual(['dim']);
	const failure: State = {...live, scanFailure: {message: 'no driver', sinceMs: 2000}};
	expect([toneOf(failure, 'Reserved'), toneOf(failure, '█')]).toEqual(['others', 'dim']);
});

test('simulated GPUs and private pools are labelled at every width', async () => {
	const box = await createScene();
	box.isSimulated = true;
	for (let columns = 60; columns <= 200; columns++) {
		const header = lineText(headerLine(await stateOf(box, {columns, rows: 24}, {poolLabel: 'PRIVATE pool'})));
		expect(header).toContain('SIMULATED');
		expect(header).toContain('PRIVATE pool');
		expect(header).toContain('[LIVE]');
	}
});

test('a screen that stands still does not call itself live, and its values are of then', async () => {
	const live = await stateOf(await createBox(1), {columns: 120, rows: 32});
	const paused: State = {...after(live, 'toggle-pause'), nowMs: live.nowMs + 60_000};
	expect(lineText(headerLine(live))).toContain('[LIVE]');
	expect(lineText(headerLine(paused))).toContain('[PAUSED 1m]');
	expect(lineText(headerLine(paused))).not.toContain('LIVE');
	expect(linearLines(paused)[0]).toMatch(/PAUSED/v);
	expect(linearLines(paused)[0]).not.toMatch(/live/v);

	const lost: State = {...paused, connection: {kind: 'lost', reason: 'gone', sinceMs: live.nowMs + 120_000}};
	const {formatTime} = live.settings;
	expect(lineText(headerLine({...lost, nowMs: live.nowMs + 180_000}))).toContain('[STALE 1m]  [PAUSED 3m]');
	const shownAt = live.snapshot!.now + (live.nowMs - live.snapshotAtMs) / 1000;
	expect(lineText(headerLine(lost))).toContain(`values from ${formatTime(shownAt).slice(0, 5)}`);
});

const rowOf = async (...parameters: Parameters<typeof createBox>): Promise<string> => {
	const state = await stateOf(await createBox(...parameters), {columns: 200, rows: 24});
	return lineText(tableLines(state)[1]!).replaceAll(/[│█░]/gv, '').replaceAll(/\s+/gv, ' ').trim();
};

test('each state of a GPU in words', async () => {
	expect(await rowOf(1, {leases: {0: lease('bob', {startTime: sceneTime - 700})}})).toMatch(
		/^> 0 Idle bob MANUAL 11m 4h00m/v,
	);
	expect(await rowOf(1, {leases: {0: lease('bob')}})).toMatch(/^> 0 Reserved bob/v);
	expect(await rowOf(1, {leases: {0: lease('alice', {user: 'eval'})}})).toMatch(/^> 0 Mine alice \(eval\)/v);
	expect(await rowOf(1, {leases: {0: run('bob', {partialQueueId: 'nobody'})}})).toMatch(/^> 0 Free/v);
	expect(await rowOf(1, {readings: [busy(0, 'dave', 'jupyter-lab', {gibibytes: 4, percent: 1})]})).toMatch(
		/^> 0 Unreserved dave\?.* jupyter-lab$/v,
	);
	expect(
		await rowOf(1, {leases: {0: run('bob')}, readings: [busy(0, 'dave', 'miner', {gibibytes: 4, percent: 1})]}),
	).toMatch(/! dave: miner$/v);
	expect(await rowOf(1, {readings: []})).toMatch(/^> 0 Error .* not seen by the GPU tool$/v);
	const unmeasured = {memoryUsedMiB: undefined, utilizationPercent: undefined, processes: []};
	const sharing = {...unmeasured, unknown: {memoryUsedMiB: '[N/A]'}};
	expect(await rowOf(1, {readings: [gpuReading(0, {...sharing, utilizationPercent: 0})]})).toMatch(
		/^> 0 Free - - - - 0% N\/A/v,
	);
	expect(await rowOf(1, {readings: [gpuReading(0, sharing)]})).toMatch(/^> 0 Error .* neither memory nor load/v);
});

test('without colour nothing but colour is lost', async () => {
	const box = await createScene();
	const size = {columns: 120, rows: 32};
	const [mono, colored] = [await stateOf(box, size, {hasColor: false}), await stateOf(box, size, {hasColor: true})];
	expect(tableLines(mono)).toEqual(tableLines(colored));
	expect(frameOf(mono)).toBe(frameOf(colored));
});

test('the queue says which GPU that is out of service an entry waits for, and why', async () => {
	const unavailable = [
		{gpu: 2, kind: 'broken', detail: 'GPU has fallen\u{1B}[31m off the bus', since: sceneTime - 60},
	] as const;
	const box = await createBox(3, {waiting: [waiter('erin', {requestedCount: 3, unavailable}), waiter('bob')]});
	const text = frameOf(await stateOf(box, {columns: 200, rows: 50}));
	expect(text).toMatch(/1 +erin +3 GPUs +0\/3 +3m +broken/v);
	expect(text).toContain('#1 waits for GPU 2, which is out of service: GPU has fallen');
	expect(text).not.toContain('#2 waits');
	expect(text).not.toContain('\u{1B}');
});

test('[ and ] say where the graphs end, and which key leads on', async () => {
	const state = await stateOf(await createScene(), {columns: 120, rows: 32});
	expect(after(state, 'look-forward').flash?.text).toBe('The graphs show the last 5 minutes: [ looks further back');
	expect(after(state, 'look-back').flash?.text).toBe('The graphs of the detail show the last 1h');
});
