import {expect, test} from 'vitest';
import type {GpuReading} from '../../../../source/core/model/types.js';
import {judgeUsage, usersOf, wordsOnce} from '../../../../source/core/rules/usage/gpu-usage.js';
import {usageBlockFor, usageBlockOf} from '../../../../source/core/rules/usage/usage-block.js';
import {idleReading, observationOf} from '../../../_helpers/world.js';

const reading = (changes: Partial<GpuReading>): GpuReading => ({...idleReading(0), ...changes});

test('judgeUsage counts memory up to the threshold as idle, and more as used', () => {
	expect(judgeUsage(reading({memoryUsedMiB: 1024}), 1024)).toEqual({kind: 'idle'});
	expect(judgeUsage(reading({memoryUsedMiB: 1025}), 1024)).toEqual({kind: 'used', memoryUsedMiB: 1025});
});

test("judgeUsage reports a GPU that is missing or broken in the tool's output as failed", () => {
	expect(judgeUsage(undefined, 1024)).toEqual({kind: 'failed', why: 'not seen by the GPU tool'});
	expect(judgeUsage(reading({memoryUsedMiB: 0, failure: '[GPU requires reset]'}), 1024)).toEqual({
		kind: 'failed',
		why: '[GPU requires reset]',
	});
});

test('judgeUsage reports unknown memory as unknown use', () => {
	expect(judgeUsage(reading({memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[Unknown Error]'}}), 1024)).toEqual({
		kind: 'unknown',
		why: 'memory in use is unknown: [Unknown Error]',
	});
	const unreported: ReadonlyArray<Readonly<Record<string, string>>> = [{}, {memoryUsedMiB: ''}];
	for (const unknown of unreported) {
		expect(judgeUsage(reading({memoryUsedMiB: undefined, unknown}), 1024)).toEqual({
			kind: 'unknown',
			why: 'memory in use is unknown',
		});
	}
});

test.each(['[N/A]', '[Not Supported]', 'N/A'])(
	'judgeUsage decides by processes and utilization if a GPU model always reports its memory as %s',
	(marker) => {
		const without = {memoryUsedMiB: undefined, unknown: {memoryUsedMiB: marker}};
		expect(judgeUsage(reading({...without, utilizationPercent: 0, processes: []}), 1024)).toEqual({kind: 'idle'});
		// In a container the processes are hidden, but the load is visible.
		expect(judgeUsage(reading({...without, utilizationPercent: 96, processes: []}), 1024)).toEqual({
			kind: 'unknown',
			why: 'memory cannot be read, and no compute process is reported, but its load is 96 %',
		});
		expect(judgeUsage(reading({...without, utilizationPercent: undefined, processes: []}), 1024)).toEqual({
			kind: 'unknown',
			why: 'neither memory nor load can be read, and no compute process is reported',
		});
		const processes = [
			{pid: 7, memoryUsedMiB: 5},
			{pid: 8, memoryUsedMiB: 6},
		];
		expect(judgeUsage(reading({...without, processes}), 1024)).toEqual({kind: 'used', memoryUsedMiB: 11});
		// A sum without the process of unknown size would be too small.
		expect(judgeUsage(reading({...without, processes: [...processes, {pid: 9}]}), 1024)).toEqual({kind: 'used'});
		expect(judgeUsage(reading({...without, processes: undefined}), 1024)).toEqual({
			kind: 'unknown',
			why: 'neither memory nor processes can be read',
		});
	},
);

test('judgeUsage does not count a desktop as use of a GPU model without memory of its own', () => {
	const desktop = {pid: 7, kind: 'graphics', memoryUsedMiB: 20} as const;
	const seen = {memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[N/A]'}, utilizationPercent: 0};
	expect(judgeUsage(reading({...seen, processes: [desktop]}), 1024)).toEqual({kind: 'idle'});
	expect(judgeUsage(reading({...seen, utilizationPercent: 5, processes: [desktop]}), 1024).kind).toBe('unknown');
	expect(judgeUsage(reading({...seen, processes: [desktop, {pid: 8, kind: 'both', memoryUsedMiB: 6}]}), 1024)).toEqual({
		kind: 'used',
		memoryUsedMiB: 26,
	});
});

test('usageBlockOf does not name the user of a desktop', () => {
	const processes = [
		{pid: 1, user: 'games', kind: 'graphics'},
		{pid: 2, user: 'www-data', kind: 'compute'},
	] as const;
	expect(usageBlockOf(0, observationOf([reading({memoryUsedMiB: 9000, processes})]), 1024, undefined)).toMatchObject({
		kind: 'unreserved',
		users: ['www-data'],
	});
});

test('judgeUsage adds up the memory of all MIG instances if the memory of the GPU is unknown', () => {
	const split = (...used: ReadonlyArray<number | undefined>): GpuReading =>
		reading({
			memoryUsedMiB: undefined,
			unknown: {memoryUsedMiB: '[Unknown Error]'},
			migInstances: used.map((memoryUsedMiB, number) => ({number, memoryUsedMiB})),
		});
	expect(judgeUsage(split(10, 5000), 1024)).toEqual({kind: 'used', memoryUsedMiB: 5010});
	expect(judgeUsage(split(10, undefined), 1024)).toMatchObject({kind: 'unknown'});
});

test('memory in use on a shared GPU prevents only grants of the whole GPU', () => {
	const observation = observationOf([{...idleReading(0), memoryUsedMiB: 9000}]);
	const record = {kind: 'shared', index: 0, raw: '{}', shares: []} as const;
	const limits = {memoryThresholdMiB: 1024, clean: undefined};
	expect(usageBlockFor(record, observation, {...limits, shareMiB: undefined})).toMatchObject({kind: 'unreserved'});
	expect(usageBlockFor(record, observation, {...limits, shareMiB: 100})).toBeUndefined();
});

test('usageBlockOf reports a GPU with a health problem as unfit', () => {
	const health = [{kind: 'temperature', words: 'too hot'}] as const;
	const observation = observationOf([{...idleReading(0), health}]);
	expect(usageBlockOf(0, observation, 1024, undefined)).toEqual({kind: 'unfit', problems: health});
});

test('usersOf returns each known user once, in alphabetical order', () => {
	expect(usersOf([{pid: 1, user: 'bob'}, {pid: 2}, {pid: 3, user: 'alice'}, {pid: 4, user: 'bob'}])).toEqual([
		'alice',
		'bob',
	]);
});

test('wordsOnce drops texts that are part of other texts', () => {
	expect(wordsOnce(['Fell off the bus: GPU is lost', 'GPU is lost'])).toEqual(['Fell off the bus: GPU is lost']);
	expect(wordsOnce(['GPU is lost', 'Xid 79', 'GPU is lost'])).toEqual(['GPU is lost', 'Xid 79']);
	expect(wordsOnce([])).toEqual([]);
});
