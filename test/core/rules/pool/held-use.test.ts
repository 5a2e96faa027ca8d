import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {UsageRecord} from '../../../../source/core/model/types.js';
import {heldUseOf} from '../../../../source/core/operations/history/held-use.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {collectHeldUse} from '../../../../source/core/rules/pool/held-use.js';
import {decodeHour, encodeMinute, hourOf, loadName, withScan} from '../../../../source/core/rules/pool/load-minutes.js';
import {createTestWorld, idleReading, observationOf, person} from '../../../_helpers/world.js';

const firstMinute = 60_000;
const minuteCount = 40;
const window = {from: firstMinute * 60, to: (firstMinute + minuteCount) * 60};
const gpus = [0, 1];

const lineOf = (minute: number, percents: ReadonlyArray<number | undefined>): string => {
	const readings = percents.map((utilizationPercent, index) => ({
		...idleReading(index),
		uuid: undefined,
		utilizationPercent,
	}));
	return encodeMinute(withScan(undefined, observationOf(readings), minute * 60).underWay!);
};

const anyRecord: fc.Arbitrary<UsageRecord> = fc
	.record({
		user: fc.constantFrom('alice', 'bob'),
		gpuId: fc.constantFrom(...gpus),
		startTime: fc.integer({min: window.from - 500, max: window.to}),
		length: fc.integer({min: 0, max: 1500}),
		memoryMiB: fc.option(fc.constant(1024), {nil: undefined, freq: 4}),
	})
	.map(({length, startTime, ...rest}) => ({
		...rest,
		startTime,
		endTime: startTime + length,
		durationSeconds: length,
		reservationType: 'run',
	}));

/** A utilization for each minute and GPU. Undefined means that it was not recorded. */
const anyPercents = fc.array(
	fc.tuple(...gpus.map(() => fc.option(fc.oneof(fc.constant(0), fc.integer({min: 0, max: 100})), {nil: undefined}))),
	{minLength: minuteCount, maxLength: minuteCount},
);

test('the measured use of reserved GPUs counts each reserved second once, as busy, idle or unknown', () => {
	fc.assert(
		fc.property(fc.array(anyRecord, {maxLength: 6}), anyPercents, (records, percents) => {
			const lines = percents.map((row, position) => lineOf(firstMinute + position, row));
			const hours = [...new Set(percents.map((_, offset) => hourOf(firstMinute + offset)))];
			const minutes = hours.flatMap((hour) => decodeHour(hour, lines.join('\n'), firstMinute + minuteCount));
			const collector = collectHeldUse({window, gpuCount: gpus.length, nameOf: (index) => loadName({index})});
			collector.addLoads(minutes);
			const naive = new Map<string, {held: number; known: number; used: number; idle: number}>();
			for (const record of records) {
				collector.add(record);
				for (let second = record.startTime; second < record.endTime; second++) {
					if (second < window.from || second >= window.to) {
						continue;
					}

					const sum = naive.get(record.user) ?? {held: 0, known: 0, used: 0, idle: 0};
					naive.set(record.user, sum);
					sum.held++;
					const percent = percents[Math.floor(second / 60) - firstMinute]?.[record.gpuId!];
					if (percent === undefined || record.memoryMiB !== undefined) {
						continue;
					}

					sum.known++;
					sum.used += percent / 100;
					sum.idle += percent === 0 ? 1 : 0;
				}
			}

			const rows = collector.rows();
			expect(rows.map(({user}) => user).toSorted()).toEqual(naive.keys().toArray().toSorted());
			for (const {user, ...hoursOf} of rows) {
				for (const [name, value] of Object.entries(naive.get(user)!)) {
					expect(hoursOf[name as keyof typeof hoursOf] * 3600).toBeCloseTo(value, 4);
				}
			}
		}),
		{numRuns: 60},
	);
});

test('the measured use of a reserved GPU is the weighted mean of all scanners in a minute', () => {
	const minutes = decodeHour(
		hourOf(firstMinute),
		[`${firstMinute} 30 ${loadName({index: 0})}2s--`, `${firstMinute} 10 ${loadName({index: 0})}00--`].join('\n'),
		firstMinute + 1,
	);
	const record: UsageRecord = {
		user: 'alice',
		gpuId: 0,
		startTime: window.from,
		endTime: window.from + 60,
		durationSeconds: 60,
		reservationType: 'run',
	};
	for (const [name, expected] of [
		[loadName({index: 0}), {known: 1 / 60, used: 0.75 / 60}],
		[undefined, {known: 0, used: 0}],
	] as const) {
		const collector = collectHeldUse({window, gpuCount: 1, nameOf: () => name});
		collector.addLoads(minutes);
		collector.add(record);
		expect(collector.rows()).toEqual([{user: 'alice', held: 1 / 60, idle: 0, ...expected}]);
	}
});

test('the measured use of a GPU with a live lease counts up to now', async () => {
	const world = await createTestWorld();
	await reserve(world, {requester: person('alice'), count: 1, ids: [0], durationSeconds: 7200});
	world.pass(3600);
	await world.store.loads.append(
		hourOf(Math.floor(world.now() / 60) - 5),
		`${Math.floor(world.now() / 60) - 5} 5 ${loadName({index: 0})}1e--`,
	);
	const {rows} = await heldUseOf(world, 24, (index) => loadName({index}));
	expect(rows).toMatchObject([{user: 'alice', held: 1, known: 1 / 60, used: 0.5 / 60, idle: 0}]);
});

test('collectHeldUse returns the monitored time and the gaps of ten minutes or more', () => {
	const collector = collectHeldUse({
		window: {from: firstMinute * 60 + 30, to: (firstMinute + minuteCount) * 60},
		gpuCount: 1,
		nameOf: () => loadName({index: 0}),
	});
	const seen = [0, 1, 2, 12, 13, 23, 24, 25, 26, 27, 28, 29].map((place) => firstMinute + place);
	const text = seen.map((minute) => lineOf(minute, [50])).join('\n');
	const hours = [...new Set(seen.map((minute) => hourOf(minute)))];
	collector.addLoads(hours.flatMap((hour) => decodeHour(hour, text, firstMinute + minuteCount)));
	// The window starts in the middle of its first minute.
	expect(collector.recordedSeconds()).toBe(seen.length * 60 - 30);
	expect(collector.gaps()).toEqual([{from: (firstMinute + 30) * 60, to: (firstMinute + 40) * 60}]);
	const nobody = collectHeldUse({window, gpuCount: 1, nameOf: () => undefined});
	expect([nobody.recordedSeconds(), nobody.gaps()]).toEqual([0, [window]]);
});

test('heldUseOf reads a week of measurements without counting a minute twice', async () => {
	const world = await createTestWorld();
	await reserve(world, {requester: person('alice'), count: 1, ids: [0], durationSeconds: 40 * 86_400});
	world.pass(30 * 86_400);
	const now = Math.floor(world.now() / 60);
	for (let minute = now - 10 * 1440; minute < now; minute++) {
		await world.store.loads.append(hourOf(minute), `${minute} 5 ${loadName({index: 0})}1e--`);
	}

	const nameOf = (index: number) => loadName({index});
	const week = await heldUseOf(world, 168, nameOf);
	expect(week.rows[0]?.held).toBe(168);
	expect(week.rows[0]?.known).toBeCloseTo(168, 1);
	expect(week.rows[0]?.used).toBeCloseTo(84, 1);
	expect(week.gaps).toEqual([]);
	const month = await heldUseOf(world, 24 * 20, nameOf);
	expect(month.rows[0]?.held).toBe(480);
	expect(month.rows[0]?.known).toBeGreaterThan(167.9);
	expect(month.rows[0]?.known).toBeLessThan(169.1);
	expect(month.gaps).toHaveLength(1);
	expect(month.gaps[0]?.from).toBe(month.window.from);
});
