import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {DeviceHolder, DeviceHolders} from '../../../../source/core/model/device-holders.js';
import type {GpuReading} from '../../../../source/core/model/types.js';
import {reportHolders, type HolderAdvice} from '../../../../source/core/rules/pool/memory-holders.js';
import {idleReading} from '../../../_helpers/world.js';

const thresholdMiB = 1024;

const holder = (pid: number, changes: Partial<DeviceHolder> = {}): DeviceHolder => ({
	pid,
	user: 'ada',
	name: 'python3',
	state: 'running',
	hasOpen: true,
	isInOtherPidNamespace: false,
	isOwn: false,
	...changes,
});

const seen = (holders: readonly DeviceHolder[], changes: Partial<DeviceHolders> = {}): DeviceHolders => ({
	devices: ['/dev/nvidia0'],
	holders,
	unreadable: {count: 0, users: []},
	...changes,
});

const leaked = {...idleReading(0), memoryUsedMiB: 40_000};

const adviceOn = (
	holders: readonly DeviceHolder[],
	changes?: Partial<DeviceHolders>,
	reading: GpuReading = leaked,
): readonly HolderAdvice[] => reportHolders(reading, seen(holders, changes), thresholdMiB).advice;

describe('GPU memory that no listed process uses', () => {
	test('is attributed to the driver if all processes are visible and none has the device open', () => {
		expect(adviceOn([])).toEqual([{kind: 'kept-by-driver'}]);
	});

	test('may belong to processes that are not visible', () => {
		expect(adviceOn([], {unreadable: {count: 3, users: ['bob']}})).toEqual([
			{kind: 'look-as-root', count: 3, users: ['bob']},
		]);
		expect(adviceOn([], {devices: []})).toEqual([{kind: 'no-devices'}]);
	});

	test('is attributed to the processes and containers that have the device open', () => {
		expect(
			adviceOn([
				holder(1, {isOwn: true}),
				holder(2),
				holder(3, {user: 'bob'}),
				holder(4, {containerId: 'abcdefabcdef', user: 'root', isInOtherPidNamespace: true}),
				holder(5, {user: undefined}),
			]),
		).toEqual([
			{kind: 'end-own', pids: [1]},
			{kind: 'ask', user: 'ada', pids: [2]},
			{kind: 'ask', user: 'bob', pids: [3]},
			{kind: 'ask', user: undefined, pids: [5]},
			{kind: 'stop-container', containerId: 'abcdefabcdef', pids: [4]},
		]);
	});

	test('is not attributed to a monitoring service', () => {
		expect(adviceOn([holder(7, {name: 'nvidia-persistenced', user: 'root'})])).toEqual([{kind: 'kept-by-driver'}]);
	});

	test.each([undefined, 2000])(
		'is attributed to a listed process with %s MiB that has the device open',
		(memoryUsedMiB) => {
			const reading = {...leaked, processes: [{pid: 1, memoryUsedMiB}]};
			expect(adviceOn([holder(1), holder(7, {name: 'nvtop'})], undefined, reading)).toEqual([
				{kind: 'listed', pids: [1]},
			]);
			expect(adviceOn([holder(1, {hasOpen: undefined})], undefined, reading)).toEqual([{kind: 'listed', pids: [1]}]);
			expect(adviceOn([holder(1, {hasOpen: false})], undefined, reading)).toEqual([{kind: 'kept-by-driver'}]);
		},
	);

	test('leads to advice for a stopped, stuck, zombie or invisible process', () => {
		expect(
			adviceOn([
				holder(1, {state: 'stopped', isOwn: true}),
				holder(2, {state: 'waiting'}),
				holder(3, {state: 'zombie', parentPid: 99, hasOpen: false}),
				holder(4, {state: 'absent', hasOpen: false}),
			]),
		).toEqual([
			{kind: 'end-own', pids: [1]},
			{kind: 'stopped', pids: [1]},
			{kind: 'stuck', pids: [2]},
			{kind: 'zombie', pid: 3, parentPid: 99},
			{kind: 'out-of-sight', pids: [4]},
		]);
	});
});

test('reportHolders does not advise ending processes whose memory is accounted for', () => {
	const reading = {...leaked, processes: [{pid: 1, memoryUsedMiB: 39_500}]};
	expect(adviceOn([holder(1), holder(2, {isOwn: true})], {unreadable: {count: 9, users: []}}, reading)).toEqual([]);
});

test('reportHolders reports nothing if only services have the device open and memory is at its baseline', () => {
	expect(adviceOn([holder(7, {name: 'nv-hostengine'})], undefined, idleReading(0))).toEqual([{kind: 'nothing-held'}]);
});

test('reportHolders never attributes memory to the driver while anything is unknown', () => {
	const reading = fc.record({
		memoryUsedMiB: fc.option(fc.integer({min: 0, max: 80_000}), {nil: undefined}),
		hasProcesses: fc.boolean(),
		devices: fc.constantFrom([], ['/dev/nvidia0']),
		count: fc.integer({min: 0, max: 2}),
		states: fc.array(fc.constantFrom('running', 'stopped', 'waiting', 'leaderless', 'zombie', 'absent'), {
			maxLength: 3,
		}),
	});
	fc.assert(
		fc.property(reading, ({memoryUsedMiB, hasProcesses, devices, count, states}) => {
			const {advice, holders} = reportHolders(
				{...idleReading(0), memoryUsedMiB, processes: hasProcesses ? [] : undefined},
				seen(
					states.map((state, pid) => holder(pid, {state})),
					{devices, unreadable: {count, users: []}},
				),
				thresholdMiB,
			);
			if (advice.some(({kind}) => kind === 'kept-by-driver')) {
				expect([holders.length, devices.length, count]).toEqual([0, 1, 0]);
			}
		}),
	);
});
