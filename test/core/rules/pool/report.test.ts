import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {byDay, byGpu, byUser, liveUsage} from '../../../../source/core/rules/pool/report.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import type {UsageRecord} from '../../../../source/core/model/types.js';
import {
	reportCsv,
	reportJson,
	reportTable,
	webReportCsv,
	webReportJson,
} from '../../../../source/format/tables/report.js';
import {createPaint} from '../../../../source/format/text/paint.js';
import {dayNamed, localDay} from '../../../../source/format/text/days.js';
import {createTestWorld, person} from '../../../_helpers/world.js';
import {makeReport, reportOf} from '../../../../source/core/operations/history/report.js';

const hour = 3600;

const record = (changes: Partial<UsageRecord>): UsageRecord => ({
	user: 'alice',
	gpuId: 0,
	startTime: 0,
	endTime: hour,
	durationSeconds: hour,
	reservationType: 'run',
	...changes,
});

const anyRecord = fc
	.record({
		user: fc.constantFrom('alice', 'bob', 'carol'),
		gpuId: fc.nat({max: 7}),
		startTime: fc.integer({min: 0, max: 1000 * hour}),
		length: fc.integer({min: 0, max: 200 * hour}),
		reservationType: fc.constantFrom('run' as const, 'manual' as const),
	})
	.map(({length, ...rest}) => record({...rest, endTime: rest.startTime + length, durationSeconds: length}));

const anyWindow = fc
	.tuple(fc.integer({min: 0, max: 1000 * hour}), fc.integer({min: 1, max: 500 * hour}))
	.map(([from, length]) => ({from, to: from + length}));

test('the report counts the part of each lease within its window and sorts by hours', async () => {
	const report = await makeReport(
		[
			record({startTime: 0, endTime: 10 * hour}),
			record({user: 'bob', startTime: 8 * hour, endTime: 9 * hour, reservationType: 'manual'}),
			record({user: 'carol', startTime: 0, endTime: 4 * hour}),
		],
		[record({user: 'bob', startTime: 6 * hour, endTime: 20 * hour})],
		{window: {from: 5 * hour, to: 12 * hour}, split: byUser},
	);
	expect(report).toEqual({
		rows: [
			{key: 'bob', gpuHours: 7, percentage: 58.3, runCount: 1, manualCount: 1},
			{key: 'alice', gpuHours: 5, percentage: 41.7, runCount: 1, manualCount: 0},
		],
		totalGpuHours: 12,
		totalReservations: 3,
		uniqueUsers: 2,
		window: {from: 5 * hour, to: 12 * hour},
	});
});

test('the report of an empty history has no rows', async () => {
	expect(await makeReport([], [], {window: {from: 0, to: 1}, split: byUser})).toMatchObject({
		rows: [],
		totalGpuHours: 0,
	});
	expect((await makeReport([record({endTime: 0})], [], {window: {from: 0, to: 1}, split: byGpu})).rows).toEqual([
		{key: 'GPU 0', gpuHours: 0, percentage: 0, runCount: 1, manualCount: 0},
	]);
});

test('the report excludes leases that end or begin exactly at the edge of its window', async () => {
	const records = [
		record({user: 'alice', startTime: 0, endTime: 100}),
		record({user: 'bob', startTime: 200, endTime: 300}),
		record({user: 'carol', startTime: 50, endTime: 250}),
	];
	const report = await makeReport(records, [], {window: {from: 100, to: 200}, split: byUser});
	expect(report.rows.map(({key}) => key)).toEqual(['carol']);
	expect(report).toMatchObject({totalReservations: 1, uniqueUsers: 1});
});

test('the report for one user excludes other users', async () => {
	const report = await makeReport([record({}), record({user: 'bob'})], [], {
		window: {from: 0, to: hour},
		split: byUser,
		user: 'bob',
	});
	expect(report.rows.map(({key}) => key)).toEqual(['bob']);
	expect(report.uniqueUsers).toBe(1);
});

test('the report counts a live lease from its start to now', async () => {
	const world = await createTestWorld();
	await reserve(world, {requester: person('alice'), count: 2, durationSeconds: 10 * hour});
	world.pass(2 * hour);
	const live = liveUsage(await world.store.read());
	const report = await makeReport([], live, {window: {from: 0, to: world.now()}, split: byUser});
	expect(report.rows).toEqual([{key: 'alice', gpuHours: 4, percentage: 100, runCount: 0, manualCount: 2}]);
});

test('the report of a past window includes a lease that ended after the window', async () => {
	const world = await createTestWorld();
	const begun = world.now();
	await reserve(world, {requester: person('alice'), ids: [0], count: 1, durationSeconds: 10 * hour});
	world.pass(3 * hour);
	await release(world, person('alice'), {by: 'gpus', ids: [0]});
	world.pass(hour);
	const {rows, window} = await reportOf(world, {days: 30, from: begun + hour, to: begun + 2 * hour, split: byUser});
	expect(rows).toMatchObject([{key: 'alice', gpuHours: 1}]);
	expect(window).toEqual({from: begun + hour, to: begun + 2 * hour});
});

test('dayNamed returns the start and end of a named day, or undefined for an invalid name', () => {
	fc.assert(
		fc.property(fc.integer({min: 0, max: 4_000_000_000}), (time) => {
			const {key, next} = localDay(time);
			const {from, to} = dayNamed(key)!;
			expect([from <= time && time < to, to]).toEqual([true, next]);
		}),
	);
	expect(['2026-02-30', '2026-2-3', 'today', ''].map((name) => dayNamed(name))).toEqual([
		undefined,
		undefined,
		undefined,
		undefined,
	]);
});

describe('the report of any history', () => {
	test('has percentages that add up to 100.0', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(anyRecord), anyWindow, async (records, window) => {
				const report = await makeReport(records, [], {window, split: byUser});
				for (const {key, gpuHours, runCount} of report.rows) {
					const own = records.filter(({user}) => user === key);
					const naive = own.reduce(
						(sum, {startTime, endTime}) =>
							sum + Math.max(0, Math.min(endTime, window.to) - Math.max(startTime, window.from)),
						0,
					);
					expect(gpuHours).toBeCloseTo(naive / hour, 6);
					expect(runCount).toBeLessThanOrEqual(own.length);
				}

				const tenths = report.rows.reduce((sum, {percentage}) => sum + Math.round(percentage * 10), 0);
				expect(tenths).toBe(report.totalGpuHours > 0 ? 1000 : 0);
				const counts = report.rows.reduce((sum, {runCount, manualCount}) => sum + runCount + manualCount, 0);
				expect(counts).toBe(report.totalReservations);
			}),
		);
	});

	test('has days that add up to the total, including days of 23 and 25 hours', async () => {
		// Every third day has 23 hours, and every fourth has 25.
		const starts = [0];
		for (let day = 0; day < 100; day++) {
			starts.push(starts[day]! + (day % 4 === 3 ? 25 : day % 3 === 2 ? 23 : 24) * hour);
		}

		const dayAt = (time: number) => {
			const day = starts.findLastIndex((start) => start <= time);
			return {key: `day ${day}`, next: starts[day + 1] ?? Infinity};
		};

		await fc.assert(
			fc.asyncProperty(fc.array(anyRecord), anyWindow, async (records, window) => {
				const whole = await makeReport(records, [], {window, split: byUser});
				const days = await makeReport(records, [], {window, split: byDay(dayAt)});
				expect(days.totalGpuHours).toBeCloseTo(whole.totalGpuHours, 6);
				expect(days.totalReservations).toBe(whole.totalReservations);
			}),
		);
	});
});

test('the report counts the memory of a share only within the window', async () => {
	const shared = record({startTime: 0, endTime: 4 * hour, memoryMiB: 1000});
	const {rows} = await makeReport([shared, record({user: 'bob'})], [], {
		window: {from: 2 * hour, to: 10 * hour},
		split: byUser,
	});
	expect(rows).toMatchObject([{key: 'alice', gpuHours: 2}]);
	expect(rows[0]?.sharedGibHours).toBeCloseTo((2 * 1000) / 1024);
	expect((await makeReport([record({})], [], {window: {from: 0, to: hour}, split: byUser})).rows[0]).not.toHaveProperty(
		'sharedGibHours',
	);
});

test('the CSV report has the hours of shares in its last column', async () => {
	const shared = record({startTime: 0, endTime: 2 * hour, memoryMiB: 1536});
	const records = [shared, record({user: 'bob', startTime: 0, endTime: hour})];
	const made = await makeReport(records, [], {window: {from: 0, to: 10 * hour}, split: byUser});
	const lines = [
		'user,gpu_hours,percentage,run_count,manual_count,shared_gib_hours',
		'alice,2.0000,66.7,1,0,3.0000',
		'bob,1.0000,33.3,1,0,0.0000',
	];
	expect(reportCsv(made, 'user').split('\n')).toEqual(lines);
	expect(webReportCsv(webReportJson(made, 'user'), 'user').split('\n')).toEqual(lines);
});

test('the report counts hours of MIG instances separately from GPU hours', async () => {
	const instance = record({user: 'bob', startTime: 0, endTime: 4 * hour, mig: {uuid: 'MIG-0-1', profile: '1g.10gb'}});
	const question = {window: {from: 2 * hour, to: 10 * hour}, split: byUser};
	const mixed = await makeReport([instance, record({startTime: 0, endTime: 3 * hour})], [], question);
	expect(mixed).toMatchObject({totalGpuHours: 1, totalInstanceHours: 2, totalReservations: 2});
	expect(mixed.rows).toMatchObject([
		{key: 'alice', gpuHours: 1, percentage: 100},
		{key: 'bob', gpuHours: 0, instanceHours: 2, percentage: 0, runCount: 1},
	]);
	expect(mixed.rows[0]).not.toHaveProperty('instanceHours');
	const alone = await makeReport([instance, {...instance, user: 'carol', endTime: 8 * hour}], [], question);
	expect(alone.rows).toMatchObject([
		{key: 'carol', gpuHours: 0, instanceHours: 6, percentage: 75},
		{key: 'bob', gpuHours: 0, instanceHours: 2, percentage: 25},
	]);
	expect(reportJson(alone, 'user')).toMatchObject({
		total_gpu_hours: 0,
		total_mig_instance_hours: 8,
		users: [{name: 'carol', gpu_hours: 0, mig_instance_hours: 6, percentage: 75}, {name: 'bob'}],
	});
	expect(reportCsv(mixed, 'user').split('\n')).toEqual([
		'user,gpu_hours,percentage,run_count,manual_count,mig_instance_hours',
		'alice,1.0000,100.0,1,0,0.0000',
		'bob,0.0000,0.0,1,0,2.0000',
	]);
	const table = reportTable(mixed, {by: 'user', period: 'today', hasBars: false}, createPaint(false, {}));
	expect(`\n${table}\n`).toMatchInlineSnapshot(`
		"
		 USER  │ GPU HOURS │ MIG HOURS │ SHARE  │ RUN │ MANUAL
		───────┼───────────┼───────────┼────────┼─────┼────────
		 alice │      1.00 │ -         │ 100.0% │   1 │      0
		 bob   │      0.00 │      2.00 │   0.0% │   1 │      0

		1.00 GPU hours, 2.00 hours of MIG instances, 2 reservations by 2 users today
		"
	`);
	const bins = {split: byUser, binAt: (time: number) => ({key: '', next: time + 1e9})};
	expect((await makeReport([instance], [], {...question, series: bins})).series?.rows).toEqual([]);
});

describe("the report's hours over time", () => {
	const binAt = (time: number) => {
		const start = Math.floor(time / hour) * hour;
		return {key: String(start), next: start + hour};
	};

	test('add up to the totals of the rows, however many users are grouped as "others"', async () => {
		const many = fc.tuple(anyRecord, fc.nat(30)).map(([one, number]) => ({...one, user: `${one.user}${number}`}));
		await fc.assert(
			fc.asyncProperty(fc.array(many, {maxLength: 60, size: 'max'}), anyWindow, async (records, window) => {
				fc.pre(window.to - window.from < 398 * hour);
				const {series, totalGpuHours, rows} = await makeReport(records, [], {
					window,
					split: byUser,
					series: {split: byUser, binAt},
				});
				const {bins, rows: seriesRows, otherGpuHours} = series!;
				const sum = (hours: readonly number[]) => hours.reduce((all, value) => all + value, 0);
				const all = [
					...seriesRows.map(({gpuHours}) => gpuHours),
					...(otherGpuHours === undefined ? [] : [otherGpuHours]),
				];
				expect(sum(all.flat())).toBeCloseTo(totalGpuHours, 6);
				const used = rows.filter(({gpuHours}) => gpuHours > 0).length;
				expect(seriesRows.length).toBe(Math.min(12, used));
				expect(otherGpuHours === undefined).toBe(used <= 12);
				for (const {key, gpuHours} of seriesRows) {
					expect(sum(gpuHours)).toBeCloseTo(rows.find((row) => row.key === key)!.gpuHours, 6);
				}

				const starts = bins.map(Number);
				expect(starts.every((start, index) => index === 0 || start === starts[index - 1]! + hour)).toBe(true);
				expect(all.every((hours) => hours.length === bins.length)).toBe(true);
			}),
		);
	});

	test('are omitted if there are more periods than can be drawn', async () => {
		const {series} = await makeReport([record({})], [], {
			window: {from: 0, to: 401 * hour},
			split: byUser,
			series: {split: byUser, binAt},
		});
		expect(series).toBeUndefined();
	});
});
