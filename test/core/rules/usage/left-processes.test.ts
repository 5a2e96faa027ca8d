import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {GpuProcess, GpuRecord} from '../../../../source/core/model/types.js';
import {leftByJob} from '../../../../source/core/rules/usage/left-processes.js';

const left = [{pid: 10, startTicks: 500}];

const freed: GpuRecord = {
	kind: 'free',
	index: 0,
	raw: '{}',
	lastReleased: 9000,
	ended: {reason: 'exited', leaseId: 'l', account: 'alice', left},
};

test('leftByJob recognizes a leftover process by its pid and start time', () => {
	const server: GpuProcess = {pid: 10, startTicks: 500, user: 'alice'};
	expect(leftByJob(freed, [server, {pid: 11, startTicks: 600, user: 'bob'}])).toEqual({
		account: 'alice',
		leaseId: 'l',
		endedAt: 9000,
		processes: [server],
	});
});

test('leftByJob omits a later process with the same pid', () => {
	expect(leftByJob(freed, [{pid: 10, startTicks: 501, user: 'alice'}])).toBeUndefined();
});

test('leftByJob omits a process with an unknown start time', () => {
	expect(leftByJob(freed, [{pid: 10, user: 'alice'}])).toBeUndefined();
});

test('leftByJob includes a child of a leftover process if both have the same account', () => {
	const worker: GpuProcess = {pid: 12, startTicks: 700, parentPid: 10, user: 'alice'};
	expect(leftByJob(freed, [worker])?.processes).toEqual([worker]);
	expect(leftByJob(freed, [{...worker, user: 'bob'}])).toBeUndefined();
	expect(leftByJob(freed, [{...worker, startTicks: 499}])).toBeUndefined();
});

test('leftByJob returns nothing for a record without processes', () => {
	const process: GpuProcess = {pid: 10, startTicks: 500, user: 'alice'};
	expect(leftByJob({...freed, ended: {reason: 'exited', leaseId: 'l'}}, [process])).toBeUndefined();
	expect(leftByJob({kind: 'garbage', index: 0, raw: '', problem: 'x'}, [process])).toBeUndefined();
});

test("leftByJob for a job that died returns its account's processes that started before its end", () => {
	const died: GpuRecord = {...freed, ended: {reason: 'holder-died', leaseId: 'l', account: 'alice'}};
	const server: GpuProcess = {pid: 30, user: 'alice', startTime: 8000};
	expect(leftByJob(died, [server, {...server, user: 'bob'}])?.processes).toEqual([server]);
	expect(leftByJob(died, [{...server, startTime: 9001}])).toBeUndefined();
	expect(leftByJob(died, [{pid: 30, user: 'alice'}])).toBeUndefined();
});

test('leftByJob returns only the recorded processes and their later children', () => {
	fc.assert(
		fc.property(
			fc.array(fc.record({pid: fc.nat(20), startTicks: fc.nat(1000), parentPid: fc.nat(20)})),
			(processes) => {
				const found =
					leftByJob(
						freed,
						processes.map((one) => ({...one, user: 'alice'})),
					)?.processes ?? [];
				for (const {pid, startTicks, parentPid} of found) {
					expect((pid === 10 && startTicks === 500) || (parentPid === 10 && startTicks! >= 500)).toBe(true);
				}
			},
		),
	);
});
