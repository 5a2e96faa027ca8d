import {expect, test} from 'vitest';
import {rightOf} from '../../../../source/core/rules/pool/process-right.js';
import {statusRows} from '../../../../source/core/rules/pool/status.js';
import type {GpuProcess, GpuRecord, GpuReading} from '../../../../source/core/model/types.js';
import {snapshotWith} from '../../../_helpers/world.js';
import {gpuReading, lease} from '../../../tui/_world.js';

/** Returns the right of each process on one GPU, in order. */
function rightsOf(record: GpuRecord, processes: readonly GpuProcess[], more: Partial<GpuReading> = {}) {
	const [row] = statusRows(
		snapshotWith({pool: {gpuCount: 1, provider: 'nvidia'}, gpus: [record]}),
		{
			provider: 'nvidia',
			takenAtMs: 0,
			simulated: false,
			gpus: [gpuReading(0, {processes, ...more})],
			warnings: [],
		},
		1024,
	);
	return row!.processes.map((process) => rightOf(row!, process));
}

const free: GpuRecord = {kind: 'free', index: 0, raw: undefined};
const held: GpuRecord = {kind: 'leased', index: 0, raw: '', lease: lease('alice')};

test('only processes of the holder are permitted on a reserved GPU', () => {
	expect(
		rightsOf(held, [
			{pid: 1, user: 'alice'},
			{pid: 2, user: 'bob'},
			{pid: 3},
			{pid: 4, user: 'root', containerId: '0123'},
			{pid: 5, user: 'root'},
			{pid: 6, user: 'gdm', kind: 'graphics'},
		]),
	).toEqual(['holder', 'not-holder', 'unknown', 'unknown', 'not-holder', 'desktop']);
});

test('a process on a free GPU counts as unreserved use only above the memory threshold', () => {
	const processes: readonly GpuProcess[] = [
		{pid: 1, user: 'bob'},
		{pid: 2, user: 'gdm', kind: 'graphics'},
	];
	expect(rightsOf(free, processes, {memoryUsedMiB: 5000})).toEqual(['unreserved', 'desktop']);
	expect(rightsOf(free, processes, {memoryUsedMiB: 500})).toEqual(['little', 'desktop']);
	expect(rightsOf(free, [{pid: 1, user: 'bob'}], {failure: 'GPU is lost'})).toEqual(['unknown']);
});

test("only processes of the shares' holders are permitted on a shared GPU", () => {
	const shares = ['alice', 'bob'].map((user) => ({...lease(user), memoryMiB: 8000}));
	const record: GpuRecord = {kind: 'shared', index: 0, raw: '', shares, capacityMiB: 40_000};
	expect(
		rightsOf(record, [
			{pid: 1, user: 'alice', memoryUsedMiB: 100},
			{pid: 2, user: 'bob', memoryUsedMiB: 100},
			{pid: 3, user: 'carol', memoryUsedMiB: 100},
		]),
	).toEqual(['holder', 'holder', 'not-holder']);
});
