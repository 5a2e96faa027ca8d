import fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import type {UsageRecord} from '../../../source/core/model/types.js';
import {widthOf} from '../../../source/format/text/width.js';
import type {State} from '../../../source/tui/state/state.js';
import {ReportPanel} from '../../../source/tui/panels/report.js';
import {startMonitor, stateOf, textOf} from '../_harness.js';
import {createScene, sceneTime} from '../_world.js';

const hostile = fc.oneof(
	fc.string({unit: 'binary', maxLength: 50}),
	fc.string({unit: 'grapheme', maxLength: 40}),
	fc.constantFrom('訓練訓練訓練', '👩‍👩‍👧‍👦', '🇩🇪', '\u{1B}[31mred', 'x'.repeat(99), ''),
);

test('each row of the report panel fits the panel, however long the names are', async () => {
	const row = fc.record({
		key: hostile,
		gpuHours: fc.double({min: 0, max: 999_999, noNaN: true}),
		percentage: fc.nat(100),
		runCount: fc.nat(9999),
		manualCount: fc.nat(9999),
	});
	const state = await stateOf(await createScene(), {columns: 80, rows: 24}, {}, [{kind: 'focus-report'}]);
	fc.assert(
		fc.property(fc.array(row, {minLength: 1, maxLength: 9}), fc.integer({min: 58, max: 200}), (rows, width) => {
			const made = {rows, totalGpuHours: 1, totalReservations: 1, uniqueUsers: 1, window: {from: 0, to: 1}};
			const shown: State = {...state, report: {kind: 'made', by: 'user', days: 30, report: made}};
			const lines = textOf(shown, <ReportPanel width={width} rows={14} />).split('\n');
			expect(Math.max(...lines.map((line) => widthOf(line)))).toBeLessThanOrEqual(width);
			// 14 rows and two borders.
			expect(lines).toHaveLength(16);
		}),
		{numRuns: 20},
	);
});

const used = (user: string, gpuId: number, hours: number): UsageRecord => ({
	user,
	gpuId,
	startTime: sceneTime - 86_400 - hours * 3600,
	endTime: sceneTime - 86_400,
	durationSeconds: hours * 3600,
	reservationType: 'run',
});

test('the report panel shows usage by user, by GPU and by day', async () => {
	const box = await createScene();
	await box.store.commit({
		expect: [],
		writes: [],
		usage: [used('erin', 1, 20), used('erin', 2, 10), used('bob', 2, 8)],
		audit: [],
		event: undefined,
		grants: false,
	});
	const session = startMonitor(box, {size: {columns: 100, rows: 30}});
	onTestFinished(session.unmount);
	await session.shows('Free 2');
	await session.press('4');
	await session.shows(/^│ +erin +30\.00 /mv);
	expect(session.screen()).toMatch(/GPU hours, 7 reservations by 4 users in the last 30 days/v);
	await session.press('>');
	await session.shows(/^│ +GPU 2 +18\.00 /mv);
	await session.press('>');
	await session.shows(/^│ +2026-11-\d\d +\d/mv);
	await session.press('[');
	await session.shows(/Report by day, 90 days/v);
	await session.press('[');
	await session.shows('The report covers at most 90 days');
	await session.press(']]]');
	await session.shows(/Report by day, 1 day\b/v);
	await session.shows(/\d reservations? by \d users? in the last 1 day\b|No GPUs were reserved in the last 1 day\b/v);
	await session.press('\u{1B}');
	await session.shows('1:GPUs');
	await session.hides('GPU HOURS');
});
