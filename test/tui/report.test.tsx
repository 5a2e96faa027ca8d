/** The report's panel: the table that another library draws, and the report behind it. */
import fc from 'fast-check';
import {renderToString} from 'ink';
import stringWidth from 'string-width';
import {expect, onTestFinished, test} from 'vitest';
import type {UsageRecord} from '../../source/core/model/types.js';
import ReportTable from '../../source/tui/components/report-table.js';
import {tableRowsWithin} from '../../source/tui/layout.js';
import {reportCells} from '../../source/tui/view/report.js';
import {startMonitor} from './_harness.js';
import {createScene, sceneTime} from './_world.js';

const hostile = fc.oneof(
	fc.string({unit: 'binary', maxLength: 50}),
	fc.string({unit: 'grapheme', maxLength: 40}),
	fc.constantFrom('訓練訓練訓練', '👩‍👩‍👧‍👦', '🇩🇪', '\u{1B}[31mred', 'x'.repeat(99), ''),
);

test('the table is a rectangle that fits its panel, whatever the names', () => {
	const row = fc.record({
		key: hostile,
		gpuHours: fc.double({min: 0, max: 999_999, noNaN: true}),
		percentage: fc.nat(100),
		runCount: fc.nat(99_999),
		manualCount: fc.nat(99_999),
	});
	fc.assert(
		fc.property(fc.array(row, {minLength: 1, maxLength: 9}), fc.integer({min: 57, max: 200}), (rows, width) => {
			const cells = reportCells(rows, {by: 'user', largest: 100, width});
			const lines = renderToString(<ReportTable rows={cells} theme="mono" />, {columns: width}).split('\n');
			expect(tableRowsWithin(lines.length)).toBe(rows.length);
			expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1);
			expect(stringWidth(lines[0]!)).toBeLessThanOrEqual(width);
		}),
		{numRuns: 60},
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

test('what was used, by user, by GPU and by day', async () => {
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
	await session.shows(/│ erin +│ +30\.00 │/v);
	expect(session.screen()).toMatch(/GPU hours, 7 reservations by 4 users in the last 30 days/v);
	await session.press('>');
	await session.shows(/│ GPU 2 +│ +18\.00 │/v);
	await session.press('>');
	await session.shows(/│ 2026-11-\d\d +│/v);
	await session.press('\u{1B}');
	await session.shows('1:GPUs');
	await session.hides('GPU HOURS');
});
