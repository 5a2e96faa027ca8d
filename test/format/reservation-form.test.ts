import {expect, test} from 'vitest';
import {statusRows, wholeGpus} from '../../source/core/rules/pool/status.js';
import {freeLines} from '../../source/format/instances.js';
import {reserveFields} from '../../source/format/reservation-form.js';
import {splitReading} from '../_helpers/mig-box.js';
import {idleReading, observationOf, snapshotWith} from '../_helpers/world.js';

const countOf = (gpuCount: number, instanceCount?: number) => {
	const {hint, most} = reserveFields({gpuCount, instanceCount}).find(({name}) => name === 'count')!;
	return [hint, most];
};

test('the reservation form offers the numbers of whole GPUs and of MIG instances', () => {
	expect(countOf(1)).toEqual(['1', 1]);
	expect(countOf(8)).toEqual(['1-8', 8]);
	expect(countOf(2, 4)).toEqual(['1-2, MIG 1-4', 4]);
	expect(countOf(2, 1)).toEqual(['1-2, MIG 1', 2]);
	expect(countOf(0, 7)).toEqual(['MIG 1-7', 7]);
});

test('wholeGpus does not count GPUs in MIG mode', () => {
	const squatted = {...idleReading(1), memoryUsedMiB: 40_000};
	const readings = [idleReading(0), squatted, splitReading(2, []), splitReading(3, ['1g.10gb'])];
	const gpus = readings.map(({index}) => ({kind: 'free', index, raw: undefined}) as const);
	const whole = wholeGpus(statusRows(snapshotWith({gpus}), observationOf(readings), 1024));
	expect(whole).toEqual({total: 2, free: 1, split: 2});
	expect(freeLines(whole, [])).toEqual(['Whole GPUs free: 1/2 (2 more split by MIG)']);
	expect(freeLines({total: 2, free: 2, split: 0}, [])).toEqual([]);
	expect(freeLines({total: 8, free: 3, split: 0}, [], [2, 5, 6])).toEqual(['Free now: GPUs 2,5,6']);
	expect(freeLines({total: 8, free: 0, split: 0}, [], [])).toEqual(['No GPU is free now']);
	expect(freeLines(whole, [], [3])).toEqual(['Free now: GPU 3 (2 more split by MIG)']);
});

test('the reservation form proposes the default duration of the pool', () => {
	const presetOf = (usualSeconds?: number) =>
		reserveFields({gpuCount: 1, usualSeconds}).find(({name}) => name === 'duration')?.preset;
	expect([presetOf(), presetOf(1800), presetOf(5400)]).toEqual(['8h', '30m', '1h30m']);
});
