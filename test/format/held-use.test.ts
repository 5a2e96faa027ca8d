import {expect, test} from 'vitest';
import {heldUseTable} from '../../source/format/tables/held-use.js';
import {createPaint} from '../../source/format/text/paint.js';

/** Converts a local time to seconds since the epoch. */
const at = (time: string): number => new Date(time).getTime() / 1000;

const row = {user: 'ann', held: 3, known: 2, used: 1, idle: 1};

const lastLine = (gap: {readonly from: number; readonly to: number}): string | undefined => {
	const to = at('2026-11-23T09:00:00');
	const window = {from: to - 7 * 86_400, to};
	const recordedHours = 168 - (gap.to - gap.from) / 3600;
	return heldUseTable(
		{window, rows: [row], recordedHours, gaps: [gap]},
		{period: 'in the last 7 days'},
		createPaint(false, {}),
	)
		.trimEnd()
		.split('\n')
		.at(-1);
};

test.each([
	['2026-11-23T06:00:00', '2026-11-23T09:00:00', '3.0 of 168.0 hours: 06:00 to 09:00'],
	['2026-11-20T06:00:00', '2026-11-20T09:00:00', '3.0 of 168.0 hours: 2026-11-20 06:00 to 09:00'],
	['2026-11-22T22:00:00', '2026-11-23T09:00:00', '11.0 of 168.0 hours: 2026-11-22 22:00 to 2026-11-23 09:00'],
])('the report describes a monitoring gap from %s to %s as "not monitored for %s"', (from, to, words) => {
	expect(lastLine({from: at(from), to: at(to)})).toBe(`The GPUs were not monitored for ${words}`);
});

test('a report without recorded utilization says that the use is unknown', () => {
	const window = {from: at('2026-11-16T09:00:00'), to: at('2026-11-23T09:00:00')};
	const rows = [{user: 'ann', held: 3, known: 0, used: 0, idle: 0}];
	const text = heldUseTable(
		{window, rows, recordedHours: 0, gaps: [window]},
		{period: 'in the last 7 days'},
		createPaint(false, {}),
	);
	expect(text.split('\n').at(-2)).toBe('3.00 GPU hours were reserved in the last 7 days. Their use is unknown');
});
