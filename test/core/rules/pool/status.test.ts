import {expect, test} from 'vitest';
import {shownStateOf, statusRows} from '../../../../source/core/rules/pool/status.js';
import type {GpuReading, GpuRecord, Lease, Snapshot} from '../../../../source/core/model/types.js';
import {idleReading, snapshotWith, observationOf} from '../../../_helpers/world.js';

const snapshotOf = (...gpus: readonly GpuRecord[]): Snapshot =>
	snapshotWith({
		now: 10_000,
		pool: {gpuCount: gpus.length, provider: 'fake'},
		gpus,
	});
const leased = (lease: Partial<Lease>): GpuRecord => ({
	kind: 'leased',
	index: 0,
	raw: '{}',
	lease: {user: 'alice', type: 'run', startTime: 9000, ...lease},
});
const free: GpuRecord = {kind: 'free', index: 0, raw: undefined};
const rowOf = (record: GpuRecord, reading: Partial<GpuReading> = {}) =>
	statusRows(snapshotOf(record), observationOf([{...idleReading(0), ...reading}]), 1024)[0];

test('the status of a free GPU shows how long it has been free, or that it was never used', () => {
	expect(rowOf(free)).toMatchObject({state: 'available', freeSeconds: undefined, lastReleased: undefined});
	expect(rowOf({...free, lastReleased: 9990})).toMatchObject({state: 'available', freeSeconds: 10, lastReleased: 9990});
});

test('the status of a lease shows owner, label, age and end', () => {
	expect(rowOf(leased({lastHeartbeat: 9995}))).toMatchObject({
		state: 'in-use',
		owner: 'alice',
		label: undefined,
		heldSeconds: 1000,
		heartbeatAgeSeconds: 5,
		remainingSeconds: undefined,
	});
	expect(
		rowOf(leased({type: 'manual', user: 'team', actualUser: 'alice', expiryTime: 10_060, lastHeartbeat: 1})),
	).toMatchObject({
		owner: 'alice',
		label: 'team',
		heartbeatAgeSeconds: undefined,
		remainingSeconds: 60,
	});
	// The Go program may write an expiry on a job, which is not the job's end.
	expect(rowOf(leased({type: 'run', expiryTime: 10_060}))?.remainingSeconds).toBeUndefined();
	// A time limit is an end. A GPU that a waiting request holds has no end before the grant.
	expect(rowOf(leased({type: 'run', endsBy: 10_060}))?.remainingSeconds).toBe(60);
	expect(rowOf(leased({type: 'run', endsBy: 10_060, partialQueueId: 'q'}))?.remainingSeconds).toBeUndefined();
	expect(rowOf(leased({startTime: 10_005, lastHeartbeat: 10_005}))).toMatchObject({
		heldSeconds: 0,
		heartbeatAgeSeconds: 0,
	});
});

test('the status of a free GPU is an error if its MIG mode prevents grants', () => {
	expect(rowOf(free, {isMigEnabled: true, migInstances: []})).toMatchObject({state: 'available'});
	expect(rowOf(free, {isMigEnabled: false, isMigPending: true})).toMatchObject({
		state: 'error',
		problem: 'its MIG mode will change at its next reset',
	});
	expect(rowOf(free, {unknown: {isMigEnabled: '[Unknown Error]'}})).toMatchObject({
		state: 'error',
		problem: 'its MIG mode is unknown',
	});
	expect(rowOf(free, {unknown: {isMigEnabled: '[N/A]'}})).toMatchObject({state: 'available'});
	expect(rowOf(leased({}), {isMigPending: true})).toMatchObject({state: 'in-use', problem: undefined});
});

test('the status of a GPU lists users without a reservation for it', () => {
	const processes = [{pid: 1, user: 'bob'}, {pid: 2, user: 'alice'}, {pid: 3}];
	expect(rowOf(free, {memoryUsedMiB: 5000, processes})).toMatchObject({
		state: 'unreserved',
		unreservedUsers: ['alice', 'bob'],
		squatters: [],
	});
	expect(rowOf(leased({}), {memoryUsedMiB: 5000, processes})).toMatchObject({
		state: 'in-use',
		squatters: [{pid: 1, user: 'bob'}],
	});
});

test('the status of a GPU does not report the user of a desktop as a user without a reservation', () => {
	const processes = [
		{pid: 1, user: 'games', kind: 'graphics'},
		{pid: 2, user: 'www-data', kind: 'compute'},
	] as const;
	expect(rowOf(free, {memoryUsedMiB: 5000, processes})).toMatchObject({
		state: 'unreserved',
		unreservedUsers: ['www-data'],
	});
});

test('the status of a GPU does not report root inside a container as a user without a reservation', () => {
	const inContainer = {pid: 1, user: 'root', containerId: 'abcdef012345'};
	const onHost = {pid: 2, user: 'root'};
	const named = {pid: 3, user: 'bob', containerId: 'fedcba543210'};
	const processes = [inContainer, onHost, named];
	expect(rowOf(leased({}), {memoryUsedMiB: 5000, processes})?.squatters).toEqual([onHost, named]);
	// A container has no right to an unreserved GPU.
	expect(rowOf(free, {memoryUsedMiB: 5000, processes: [inContainer]})).toMatchObject({
		state: 'unreserved',
		unreservedUsers: ['root'],
	});
});

test('the status assigns a container to no holder if the container uses GPUs of several holders', () => {
	const [first, second, third] = [leased({}), leased({actualUser: 'bob', user: 'bob'}), leased({})];
	const gpus = [first, {...second, index: 1}, {...third, index: 2}];
	const processOn = (pid: number, containerId: string) => [{pid, user: 'root', containerId}];
	const readings = ['both', 'both', 'own'].map((container, index) => ({
		...idleReading(index),
		memoryUsedMiB: 5000,
		processes: processOn(index, container),
	}));
	const rows = statusRows({...snapshotOf(first), gpus}, observationOf(readings), 1024);
	expect(rows.map(({squatters}) => squatters.map(({pid}) => pid))).toEqual([[0], [1], []]);
});

test('the status of an unknown or broken GPU is never available', () => {
	expect(rowOf(free, {memoryUsedMiB: undefined})).toMatchObject({state: 'error', problem: 'memory in use is unknown'});
	expect(rowOf(free, {failure: 'GPU is lost'})).toMatchObject({state: 'error', problem: 'GPU is lost'});
	expect(rowOf(leased({}), {failure: 'GPU is lost'})).toMatchObject({state: 'in-use', problem: 'GPU is lost'});
	expect(rowOf({kind: 'garbage', index: 0, raw: '!', problem: 'not JSON'})).toMatchObject({
		state: 'error',
		problem: 'unreadable record: not JSON',
	});
	const [row] = statusRows(snapshotOf(free), observationOf([], {failure: {message: 'no driver'}}), 1024);
	expect(row).toMatchObject({state: 'error', problem: 'no driver', reading: undefined});
});

test('the status shows leases even if the scan failed', () => {
	const [row] = statusRows(snapshotOf(leased({})), observationOf([], {failure: {message: 'no driver'}}), 1024);
	expect(row).toMatchObject({
		state: 'in-use',
		owner: 'alice',
		use: {kind: 'unknown', why: 'no driver'},
		problem: undefined,
	});
});

test('the status masks secrets in the command lines of all processes', () => {
	const line = 'eval.py --hf-token abc';
	const processes = [{pid: 1, user: 'bob', commandLine: line, ancestors: [line]}];
	const masked = {commandLine: 'eval.py --hf-token ***', ancestors: ['eval.py --hf-token ***']};
	expect(rowOf(leased({}), {processes})).toMatchObject({processes: [masked], squatters: [masked]});
});

test('the status of a drained GPU is "drained", or "error" if the GPU is also broken', () => {
	const shown = (record: GpuRecord, reading: Partial<GpuReading> = {}, reason?: string) => {
		const drains = new Map([[0, {since: 1, reason}]]);
		const [row] = statusRows({...snapshotOf(record), drains}, observationOf([{...idleReading(0), ...reading}]), 1024);
		return [row!.state, shownStateOf(row!)];
	};

	expect(shown(free)).toEqual(['error', 'drained']);
	expect(shown(free, {}, 'fan')).toEqual(['error', 'drained']);
	expect(shown(free, {health: [{kind: 'ecc', words: '2 memory errors'}]})).toEqual(['error', 'error']);
	expect(shown(free, {memoryUsedMiB: undefined, processes: undefined})).toEqual(['error', 'error']);
	expect(shown({kind: 'garbage', index: 0, raw: 'x', problem: 'no JSON'})).toEqual(['error', 'error']);
	expect(shown(leased({}))).toEqual(['in-use', 'in-use']);
	expect(shown(free, {memoryUsedMiB: 5000, processes: [{pid: 1}]})).toEqual(['unreserved', 'unreserved']);
});
