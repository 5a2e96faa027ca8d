import {expect, test} from 'vitest';
import type {StatusRow} from '../../source/core/rules/pool/status.js';
import type {GpuProcess, GpuReading, Observation} from '../../source/core/model/types.js';
import {harmlessJson} from '../../source/format/text/json.js';
import {statusJson} from '../../source/format/json/status-json.js';

const observation: Observation = {provider: 'nvidia', simulated: false, takenAtMs: 0, gpus: [], warnings: []};

const jsonOf = (reading: Partial<GpuReading>) => {
	const row: StatusRow = {
		index: 0,
		state: 'available',
		use: {kind: 'idle'},
		health: [],
		unreservedUsers: [],
		processes: reading.processes ?? [],
		squatters: [],
		reading: {index: 0, processes: undefined, unknown: {}, ...reading},
	};
	const [json] = JSON.parse(harmlessJson(statusJson([row], observation))) as Array<{
		readonly processes?: unknown;
		readonly mig_instances?: unknown;
	}>;
	return json!;
};

const processesOf = (processes: readonly GpuProcess[] | undefined) => jsonOf({processes}).processes;

test('status --json contains all known values of a process', () => {
	const known: GpuProcess = {
		pid: 4711,
		startTicks: 1,
		startTime: 1_700_000_000,
		parentPid: 4000,
		user: 'ada',
		name: 'python3',
		commandLine: 'python3 train.py',
		memoryUsedMiB: 2048,
		utilizationPercent: 84,
		cpuPercent: 312,
		hostMemoryMiB: 900,
		containerId: '0123456789ab',
	};
	expect(processesOf([known])).toEqual([
		{
			pid: 4711,
			user: 'ada',
			name: 'python3',
			command: 'python3 train.py',
			memory_used_mb: 2048,
			utilization: 84,
			start_time: '2023-11-14T22:13:20Z',
			parent_pid: 4000,
			cpu_percent: 312,
			host_memory_mb: 900,
			container_id: '0123456789ab',
		},
	]);
});

test('status --json omits unknown values of a process', () => {
	expect(processesOf([{pid: 4711}])).toEqual([{pid: 4711}]);
});

test('status --json contains an empty process list only if there are no processes', () => {
	expect(processesOf([])).toEqual([]);
	expect(processesOf(undefined)).toBeUndefined();
});

test('status --json contains a list of MIG instances only for a GPU in MIG mode', () => {
	expect(jsonOf({isMigEnabled: true, migInstances: []}).mig_instances).toEqual([]);
	expect(jsonOf({isMigEnabled: true, migInstances: [{number: 0}]}).mig_instances).toEqual([{instance: 0}]);
	expect(jsonOf({isMigEnabled: true})).not.toHaveProperty('mig_instances');
	expect(jsonOf({isMigEnabled: false, migInstances: []})).not.toHaveProperty('mig_instances');
});
