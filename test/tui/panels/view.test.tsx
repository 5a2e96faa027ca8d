import {expect, test} from 'vitest';
import type {State} from '../../../source/tui/state/state.js';
import {fittingColumns, GpuTable} from '../../../source/tui/panels/gpus/gpus-panel.js';
import {Header} from '../../../source/tui/panels/header.js';
import {totalWidth} from '../../../source/format/text/columns.js';
import {commonMemory, gibibytes, inventory, processText, shortModel} from '../../../source/format/readings.js';
import {after, frameOf, stateOf, textOf} from '../_harness.js';
import {busy, createBox, createScene, gpuReading, lease, run, sceneTime, waiter} from '../_world.js';

const names = (width: number): string =>
	fittingColumns(width)
		.map(({name, width: cells}) => ((name === 'utilization' || name === 'memory') && cells >= 13 ? `${name}+` : name))
		.join(' ');

test('a narrow GPU table omits the least important columns first', () => {
	expect([198, 118, 100, 90, 80, 76, 66, 58].map((width) => names(width))).toMatchInlineSnapshot(`
		[
		  "gpu state owner kind held ends utilization+ memory+ temperature power history note process",
		  "gpu state owner kind held ends utilization+ memory+ temperature power history process",
		  "gpu state owner held ends utilization+ memory+ temperature process",
		  "gpu state owner ends utilization+ memory+ temperature process",
		  "gpu state owner ends utilization+ memory temperature process",
		  "gpu state owner ends utilization memory temperature process",
		  "gpu state owner ends utilization memory temperature",
		  "gpu state owner ends utilization memory temperature",
		]
	`);
});

test('the columns of the GPU table fill the width exactly', () => {
	for (let width = 60; width <= 220; width++) {
		expect(2 + totalWidth(fittingColumns(width), 1)).toBe(width);
	}
});

test('the GPU table shows readings in few characters', () => {
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
	// A GPU without readings takes no room from the others.
	const broken = {index: 1, failure: 'GPU is lost', processes: undefined, unknown: {}};
	expect(inventory(2, [gpuReading(0), broken])).toEqual({model: '2xH100', memory: '80G'});
	expect(commonMemory([gpuReading(0), broken])).toBe(81_559);
	expect(processText({pid: 7})).toBe('PID 7');
	expect(processText({pid: 7, commandLine: '/usr/bin/python3 /home/a/train.py'})).toBe('python3 /home/a/train.py');
});

test('the header shows SIMULATED and PRIVATE pool at every width', async () => {
	const box = await createScene();
	box.isSimulated = true;
	for (let columns = 60; columns <= 200; columns++) {
		const header = textOf(await stateOf(box, {columns, rows: 24}, {poolLabel: 'PRIVATE pool'}), <Header />);
		expect(header).toContain('SIMULATED');
		expect(header).toContain('PRIVATE pool');
		expect(header).toContain('[LIVE]');
	}
});

test('a paused screen shows PAUSED in place of LIVE, and the values at the time of the pause', async () => {
	const live = await stateOf(await createBox(1), {columns: 120, rows: 32});
	const paused: State = {...after(live, 'toggle-pause'), nowMs: live.nowMs + 60_000};
	expect(textOf(live, <Header />)).toContain('[LIVE]');
	expect(textOf(paused, <Header />)).toContain('[PAUSED 1m]');
	expect(textOf(paused, <Header />)).not.toContain('LIVE');
	const spoken = frameOf({...paused, settings: {...paused.settings, isLinear: true}});
	expect(spoken).toMatch(/PAUSED/v);
	expect(spoken).not.toMatch(/live/v);

	const lost: State = {...paused, connection: {kind: 'lost', reason: 'gone', sinceMs: live.nowMs + 120_000}};
	const {formatTime} = live.settings;
	expect(textOf({...lost, nowMs: live.nowMs + 180_000}, <Header />)).toContain('[STALE 1m]  [PAUSED 3m]');
	const shownAt = live.snapshot!.now + (live.nowMs - live.snapshotAtMs) / 1000;
	expect(textOf(lost, <Header />)).toContain(`values from ${formatTime(shownAt).slice(0, 5)}`);
});

test('the first line on a small screen shows the name of the pool and the time of outdated values whole', async () => {
	const box = await createBox(1);
	const live = await stateOf(box, {columns: 80, rows: 24}, {hostname: 'vm', poolLabel: 'Slurm, cluster lab'});
	const lost: State = {...live, connection: {kind: 'lost', reason: 'gone', sinceMs: live.nowMs - 58_000}};
	const line = textOf(lost, <Header />);
	expect(line).toMatch(/\[STALE 58s\] {2}Slurm, cluster lab {2}from \d\d:\d\d /v);
});

const rowOf = async (...parameters: Parameters<typeof createBox>): Promise<string> => {
	const state = await stateOf(await createBox(...parameters), {columns: 200, rows: 24});
	const [, row = ''] = textOf(state, <GpuTable width={197} height={10} />).split('\n', 2);
	return row.replaceAll(/[─━╸]/gv, '').replaceAll(/\s+/gv, ' ').trim();
};

test('each state of a GPU has its text in the table', async () => {
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

test('a screen without colors has the same text as a screen with colors', async () => {
	const box = await createScene();
	const size = {columns: 120, rows: 32};
	const [mono, colored] = [await stateOf(box, size, {hasColor: false}), await stateOf(box, size, {hasColor: true})];
	expect(frameOf(mono)).toBe(frameOf(colored));
});

test('the queue panel names the unavailable GPU that an entry waits for, and the reason', async () => {
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

test('the keys [ and ] say which period the graphs now show', async () => {
	const state = await stateOf(await createScene(), {columns: 120, rows: 32});
	expect(after(state, 'look-forward').flash?.text).toBe('The graphs show the last 5 minutes: [ looks further back');
	expect(after(state, 'look-back').flash?.text).toBe('Graphs show the last 1h');
});
