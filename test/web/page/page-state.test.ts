/** The page's state after messages of the server, without a browser. */
import {expect, test} from 'vitest';
import type {HostJson} from '../../../source/web/api/hosts.js';
import type {LiveJson} from '../../../source/web/api/live-json.js';
import {fromCommandRows} from '../../../source/format/hosts/remote-gpu.js';
import {firstState, withHosts, withLive, type PageState} from '../../../source/web/page/state/state.js';
import {withNewest} from '../../../source/web/page/gpu/chart-data.js';
import {changesBetween} from '../../../source/web/page/follow-up/changes.js';
import {continued} from '../../../source/web/page/follow-up/utilization.js';

type GpuJson = LiveJson['gpus'][number];

function gpu(index: number, parts: Partial<GpuJson> = {}): GpuJson {
	const row: Partial<GpuJson> = {gpu_id: index, state: 'available', ...parts};
	return row as GpuJson;
}

const nowMs = 1_000_000;

const message = (parts: Partial<LiveJson>): LiveJson => ({now_ms: nowMs, gpu_count: 2, gpus: [], ...parts});

const known: PageState = withLive(firstState, message({gpus: [gpu(1), gpu(0)], queue: []}), true);

test('the first message of the server shows all GPUs in order and announces nothing to screen readers', () => {
	expect(known.gpus.map(({gpu_id: index}) => index)).toEqual([0, 1]);
	expect(changesBetween(firstState, known, true, nowMs).words).toEqual([]);
});

test('a new holder or a changed queue is announced to screen readers, but a new reading is not', () => {
	const taken = gpu(1, {state: 'in-use', user: 'ada'});
	const state = withLive(known, message({gpus: [gpu(0, {utilization: 50}), taken]}), false);
	expect(changesBetween(known, state, false, nowMs)).toEqual({words: ['GPU 1: Reserved, ada'], concernReports: true});
	expect([state.gpus[0]!.utilization, state.gpus[1]!.user]).toEqual([50, 'ada']);
	const queue = [{id: 'a'}] as unknown as LiveJson['queue'];
	expect(changesBetween(state, withLive(state, message({queue}), false), false, nowMs).words).toEqual([
		'1 in the queue',
	]);
	const read = withLive(state, message({gpus: [gpu(0, {utilization: 60})]}), false);
	expect(changesBetween(state, read, false, nowMs)).toEqual({words: [], concernReports: false});
});

test('failures, new warnings and GPUs that are about to go back are announced to screen readers once', () => {
	const about = {has_pool: true} as unknown as LiveJson['about'];
	const isRead = {live: true};
	const state = withLive(known, message({about, store: isRead, scan: isRead, warnings: ['old driver']}), true);
	const said = (before: PageState, parts: Partial<LiveJson>) => {
		const after = withLive(before, message(parts), false);
		return {after, ...changesBetween(before, after, false, nowMs)};
	};

	expect(changesBetween(firstState, state, true, nowMs).words).toEqual([]);
	const away = said(state, {
		store: {live: false, reason: 'Cannot reach Redis', since_ms: nowMs},
		scan: {live: false, reason: 'nvidia-smi hangs', since_ms: nowMs},
	});
	expect(away).toMatchObject({
		words: [
			'The values are no longer updated: Cannot reach Redis',
			'There are no new readings of the GPUs: nvidia-smi hangs',
		],
		concernReports: false,
	});
	// Another reason for the same failure is only shown.
	const still = said(away.after, {store: {live: false, reason: 'Redis is loading', since_ms: nowMs}});
	expect(still.words).toEqual([]);
	expect(said(still.after, {store: isRead, scan: isRead})).toMatchObject({
		words: ['The values are updated again', 'The GPUs are read again'],
		concernReports: true,
	});
	const returned = 'your reservation of GPU 1 was idle and went back to the pool';
	expect(said(state, {warnings: [returned, 'old driver'], gpus: [gpu(1, {state: 'in-use'})]}).words).toEqual([
		`Warning: ${returned}`,
		'GPU 1: Reserved',
	]);
	const reclaim = {reclaim_at: new Date(nowMs + 300_000).toISOString()};
	const warned = said(state, {gpus: [gpu(0, reclaim)]});
	expect(warned.words).toEqual([expect.stringMatching(/^GPU 0: goes back at \d\d:\d\d$/v)]);
	expect(said(warned.after, {gpus: [gpu(0, {...reclaim, utilization: 1})]}).words).toEqual([]);
});

test('withLive removes the GPUs that a smaller pool no longer has, and keeps warnings that a message omits', () => {
	const state = withLive({...known, warnings: ['old driver']}, message({gpu_count: 1}), false);
	expect(state.gpus.map(({gpu_id: index}) => index)).toEqual([0]);
	expect(state.warnings).toEqual(['old driver']);
});

test('withLive appends new events and drops the oldest', () => {
	const events = (from: number, count: number) =>
		Array.from({length: count}, (_, index) => ({id: String(from + index)})) as unknown as LiveJson['events'];
	const state = withLive(known, message({events: events(0, 150)}), true);
	const ids = withLive(state, message({events: events(150, 100)}), false).events.map(({id}) => id);
	expect([ids.length, ids[0], ids.at(-1)]).toEqual([200, '50', '249']);
});

test('withHosts keeps the values of a failed host, with its error and age', () => {
	const gpus = fromCommandRows([{gpu_id: 0, status: 'AVAILABLE'}], 0)!;
	const host: HostJson = {name: 'box', age_ms: 0, error: 'box: no answer', before: {age_ms: 5000, gpus}};
	expect(withHosts(known, [host], 20_000).hosts.get('box')).toEqual({
		error: 'no answer',
		gpus,
		atMs: 15_000,
	});
});

test('continued() adds one value for each ten-second step and null for missed steps', () => {
	const first = continued(firstState.utilization, [], 1_000_000);
	expect(continued(first, [gpu(0, {utilization: 10})], 1_009_999)).toBe(first);
	const reading = gpu(0, {utilization: 40, memory_used_mb: 1, memory_total_mb: 4});
	const {gpus, step} = continued(first, [reading], 1_030_000);
	expect(step).toBe(103);
	expect(gpus.get(0)!.utilization.length).toBe(90);
	expect(gpus.get(0)!.utilization.slice(-3)).toEqual([null, null, 40]);
	expect(gpus.get(0)!.memory.at(-1)).toBe(25);
	const chart = withNewest(
		[
			[1010, 1020],
			[1, 2],
			[3, 4],
		],
		{...first, step, gpus},
		0,
	);
	expect(chart).toEqual([
		[1020, 1030],
		[2, 40],
		[4, 25],
	]);
	expect(withNewest(chart, {...first, step, gpus}, 0)).toBe(chart);
});
