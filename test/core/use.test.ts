import {expect, test} from 'vitest';
import type {GpuReading} from '../../source/core/types.js';
import {useOf, usersOf} from '../../source/core/use.js';
import {idleReading} from '../_helpers/world.js';

const reading = (changes: Partial<GpuReading>): GpuReading => ({...idleReading(0), ...changes});

test('up to the threshold is idle, more is use', () => {
	expect(useOf(reading({memoryUsedMiB: 1024}), 1024)).toEqual({kind: 'idle'});
	expect(useOf(reading({memoryUsedMiB: 1025}), 1024)).toEqual({kind: 'used', memoryUsedMiB: 1025});
});

test('a GPU that the tool does not mention, or calls broken, is not free', () => {
	expect(useOf(undefined, 1024)).toEqual({kind: 'failed', why: 'not seen by the GPU tool'});
	expect(useOf(reading({memoryUsedMiB: 0, failure: '[GPU requires reset]'}), 1024)).toEqual({
		kind: 'failed',
		why: '[GPU requires reset]',
	});
});

test('unknown memory is not free', () => {
	expect(useOf(reading({memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[Unknown Error]'}}), 1024)).toEqual({
		kind: 'unknown',
		why: 'memory in use is unknown: [Unknown Error]',
	});
	expect(useOf(reading({memoryUsedMiB: undefined}), 1024)).toEqual({kind: 'unknown', why: 'memory in use is unknown'});
});

test.each(['[N/A]', '[Not Supported]', 'N/A'])('where memory is %s by nature, the processes tell', (marker) => {
	const without = {memoryUsedMiB: undefined, unknown: {memoryUsedMiB: marker}};
	expect(useOf(reading({...without, processes: []}), 1024)).toEqual({kind: 'idle'});
	expect(useOf(reading({...without, processes: [{pid: 7, memoryUsedMiB: 5}, {pid: 8}]}), 1024)).toEqual({
		kind: 'used',
		memoryUsedMiB: 5,
	});
	expect(useOf(reading({...without, processes: undefined}), 1024)).toEqual({
		kind: 'unknown',
		why: 'neither memory nor processes can be read',
	});
});

test('users are named once, in order, without the unknown', () => {
	expect(usersOf([{pid: 1, user: 'bob'}, {pid: 2}, {pid: 3, user: 'alice'}, {pid: 4, user: 'bob'}])).toEqual([
		'alice',
		'bob',
	]);
});
