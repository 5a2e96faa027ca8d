import {expect, test} from 'vitest';
import {planHoldings, usageOf} from '../../../../source/core/rules/leases/holding-changes.js';
import type {GpuRecord, Lease} from '../../../../source/core/model/types.js';

const lease: Lease = {user: 'alice', type: 'run', startTime: 1000};

test('usageOf returns a record with start, end and duration', () => {
	expect(usageOf(2, lease, {reason: 'exited', endTime: 1600})).toMatchObject({
		gpuId: 2,
		startTime: 1000,
		endTime: 1600,
		durationSeconds: 600,
		endReason: 'exited',
	});
});

test('usageOf returns a duration of 0 for a start after the end', () => {
	// A script of the Go program's users wrote milliseconds in place of seconds.
	const wrong = {...lease, startTime: 1_640_995_200_000};
	expect(usageOf(2, wrong, {reason: 'released', endTime: 1600})).toMatchObject({
		startTime: 1600,
		endTime: 1600,
		durationSeconds: 0,
	});
});

test('adding a share to a GPU keeps the recorded capacity and unknown fields', () => {
	const record: GpuRecord = {
		kind: 'shared',
		index: 2,
		raw: '{}',
		shares: [{...lease, memoryMiB: 10}],
		capacityMiB: 100,
		unknownFields: {color: 'green'},
	};
	const {writes} = planHoldings([{kind: 'add', record, lease: {...lease, memoryMiB: 20}, capacityMiB: 90}]);
	expect(writes).toMatchObject([{kind: 'shares', capacityMiB: 100, unknownFields: {color: 'green'}}]);
});
