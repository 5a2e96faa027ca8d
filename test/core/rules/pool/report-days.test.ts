/** Local days at the ends of months and at clock changes. */
import process from 'node:process';
import fc from 'fast-check';
import {afterAll, expect, test} from 'vitest';
import {byDay, byUser} from '../../../../source/core/rules/pool/report.js';
import type {UsageRecord} from '../../../../source/core/model/types.js';
import {localDay, localHour} from '../../../../source/format/text/days.js';
import {makeReport} from '../../../../source/core/operations/history/report.js';

const before = process.env['TZ'];
afterAll(() => {
	if (before === undefined) {
		delete process.env['TZ'];
	} else {
		process.env['TZ'] = before;
	}
});

/** All times are multiples of a quarter of an hour, so that each quarter belongs to one day. */
const quarter = 900;

/** Times shortly before clock changes and ends of months in 2026, in both hemispheres. */
const starts = [
	'2026-02-27',
	'2026-03-07',
	'2026-03-28',
	'2026-04-04',
	'2026-10-03',
	'2026-10-24',
	'2026-10-31',
	'2026-12-30',
].map((date) => Date.parse(`${date}T00:00:00Z`) / 1000);

const anyRecord = fc
	.record({
		after: fc.nat({max: 200}),
		quarters: fc.nat({max: 300}),
		user: fc.constantFrom('alice', 'bob'),
		type: fc.constantFrom('run' as const, 'manual' as const),
	})
	.map(({after, quarters, user, type}) => ({user, type, from: after * quarter, length: quarters * quarter}));

test.each(['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia'])(
	'the report sums up the hours of each local day in %s',
	async (zone) => {
		process.env['TZ'] = zone;
		const format = new Intl.DateTimeFormat('en-CA', {
			timeZone: zone,
			year: 'numeric',
			month: '2-digit',
			day: '2-digit',
		});
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...starts),
				fc.array(anyRecord, {maxLength: 5}),
				fc.nat({max: 100}),
				async (start, records, cut) => {
					const window = {from: start + cut * quarter, to: start + 350 * quarter};
					const history = records.map(({user, type, from, length}): UsageRecord => ({
						user,
						gpuId: 0,
						startTime: start + from,
						endTime: start + from + length,
						durationSeconds: length,
						reservationType: type,
					}));
					const report = await makeReport(history, [], {window, split: byDay(localDay)});
					const naive = new Map<string, number>();
					for (const {startTime, endTime} of history) {
						for (let time = startTime; time < endTime; time += quarter) {
							const day = format.format(new Date(time * 1000));
							const isInside = time >= window.from && time < window.to;
							naive.set(day, (naive.get(day) ?? 0) + (isInside ? 0.25 : 0));
						}
					}

					const used = ([, hours]: readonly [string, number]): boolean => hours > 0;
					expect(
						report.rows
							.map(({key, gpuHours}) => [key, gpuHours] as const)
							.filter((entry) => used(entry))
							.toSorted(),
					).toEqual([...naive].filter((entry) => used(entry)).toSorted());
					const tenths = report.rows.reduce((sum, {percentage}) => sum + Math.round(percentage * 10), 0);
					expect(tenths).toBe(report.totalGpuHours > 0 ? 1000 : 0);
				},
			),
			{numRuns: 60},
		);
	},
);

const hour = 3600;

test.each([
	['Europe/Berlin', '2026-10-24T22:00:00Z', 25],
	['Europe/Berlin', '2026-03-28T23:00:00Z', 23],
	['America/New_York', '2026-11-01T04:00:00Z', 25],
	['Asia/Kolkata', '2026-10-24T18:30:00Z', 24],
])('the report has a time bin for each hour of a day in %s from %s', async (zone, start, hours) => {
	process.env['TZ'] = zone;
	const from = Date.parse(start) / 1000;
	const window = {from, to: from + hours * hour};
	const busy: UsageRecord = {
		user: 'alice',
		gpuId: 0,
		startTime: window.from,
		endTime: window.to,
		durationSeconds: hours * hour,
		reservationType: 'run',
	};
	const {series} = await makeReport([busy], [], {window, split: byUser, series: {split: byUser, binAt: localHour}});
	expect(series?.bins).toHaveLength(hours);
	expect(series?.rows).toEqual([{key: 'alice', gpuHours: Array.from({length: hours}, () => 1)}]);
});

test('localHour returns a time that lies in its hour, also where clocks change by half an hour', () => {
	process.env['TZ'] = 'Australia/Lord_Howe';
	for (const date of ['2026-04-04T00:00:00Z', '2026-10-03T00:00:00Z']) {
		const start = Date.parse(date) / 1000;
		for (let time = start; time < start + 48 * hour; time += 300) {
			const {key, next} = localHour(time + 0.5);
			expect(Date.parse(key) / 1000).toBe(next - hour);
			expect(time + 0.5).toBeLessThan(next);
			expect(time).toBeGreaterThanOrEqual(next - hour);
		}
	}
});
