/** Charts that look back further than the server has run. */
import {expect, test} from 'vitest';
import {encodeMinute, decodeHour, hourOf, minuteOf, withScan} from '../../source/core/rules/pool/load-minutes.js';
import {createUtilizationRecorder} from '../../source/web/api/utilization-json.js';
import {idleReading, observationOf, startTime} from '../_helpers/world.js';

const busy = (percent: number) => observationOf([{...idleReading(0), utilizationPercent: percent}]);

const keptAt = (time: number, percent: number) =>
	decodeHour(hourOf(minuteOf(time)), encodeMinute(withScan(undefined, busy(percent), time).underWay!), minuteOf(time));

test('a chart uses stored means for the time before the server started, and is blank elsewhere', () => {
	const now = startTime - (startTime % 3600);
	const recorder = createUtilizationRecorder();
	for (let second = 0; second < 600; second += 10) {
		recorder.add({lastScan: busy(80), now: now - 600 + second + 5});
	}

	// The pool also has means for the last ten minutes, but the server's own samples are finer.
	const kept = Array.from({length: 120}, (_, ago) => keptAt(now - 60 * (ago + 1), 20)).flat();
	const hour = recorder.last(60, {gpu: 0}, kept);
	expect(hour.step_seconds).toBe(10);
	const {utilization} = hour.gpus['0']!;
	expect(utilization).toHaveLength(360);
	expect(new Set(utilization.slice(0, 296))).toEqual(new Set([20]));
	expect(new Set(utilization.slice(301))).toEqual(new Set([80]));
	const day = recorder.last(1440, {gpu: 0}, kept);
	expect(day.step_seconds).toBe(60);
	expect(day.gpus['0']!.utilization).toHaveLength(1440);
	// eslint-disable-next-line @typescript-eslint/no-restricted-types -- JSON has no undefined
	const ofDay: Array<number | null> = [...day.gpus['0']!.utilization];
	expect(ofDay.filter((value) => value === 20)).toHaveLength(110);
	expect(ofDay.filter((value) => value === 80)).toHaveLength(10);
	expect(new Set(ofDay.slice(0, 1300))).toEqual(new Set([null]));
	expect(recorder.last(60, {gpu: 0}).gpus['0']!.utilization.filter((value) => value !== null)).toHaveLength(60);
});

test('a chart has at most the requested number of points, each a mean of its period', () => {
	const recorder = createUtilizationRecorder();
	const begun = startTime - (startTime % 3600);
	for (let step = 0; step < 60; step++) {
		recorder.add({lastScan: busy(step < 30 ? 20 : 60), now: begun + step * 10 + 5});
	}

	for (const points of [1, 7, 10, 60, 100]) {
		const {step_seconds: seconds, gpus} = recorder.last(10, {gpu: 0, points});
		const {utilization} = gpus['0']!;
		expect(utilization.length).toBeLessThanOrEqual(points);
		// The shortest sufficient step is used.
		expect(seconds).toBe(10 * Math.ceil(60 / points));
		expect(utilization.every((value) => value !== null && value >= 20 && value <= 60)).toBe(true);
	}

	expect(recorder.last(10, {gpu: 0, points: 1}).gpus['0']!.utilization).toEqual([40]);
});

test('a chart combines stored and new samples in the minute in which the server started', () => {
	const minute = startTime - (startTime % 3600);
	const recorder = createUtilizationRecorder();
	for (let second = 52; second < 120; second += 2) {
		recorder.add({lastScan: busy(80), now: minute + second});
	}

	const kept = [keptAt(minute - 60, 20), keptAt(minute, 20)].flat();
	expect(recorder.last(3, {gpu: 0}, kept).gpus['0']!.utilization).toEqual([
		...Array.from({length: 11}, () => 20),
		...Array.from({length: 7}, () => 80),
	]);
});
