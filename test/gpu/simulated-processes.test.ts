/** Simulated processes can be inspected and signaled. No real process is ever signaled. */
import process from 'node:process';
import {expect, test} from 'vitest';
import {createSimulatedProcesses} from '../../source/gpu/simulated/processes.js';
import {createSimulatedProvider} from '../../source/gpu/simulated/simulated.js';
import type {SimulatedLease} from '../../source/gpu/simulated/simulation.js';
import {testHost} from '../_helpers/machine/host.js';

const noon = 1_800_000_000;

const setUp = (leases: readonly SimulatedLease[] = []) => {
	const processes = createSimulatedProcesses('alice');
	const provider = createSimulatedProvider({
		gpuCount: async () => 3,
		leases: async () => leases,
		monotonicMs: () => 5,
		nowSeconds: () => noon,
		startedAtSeconds: noon - 60,
		processes,
		scenario: {
			processes: [
				{gpu: 0, user: 'bob', command: 'python3 bob.py', memory: 4000, utilization: 30},
				{gpu: 1, user: 'alice', command: 'python3 train.py', memory: 9000, utilization: 60},
				{gpu: 1, user: 'alice', command: 'real', pid: process.pid, memory: 100},
			],
		},
	});
	return {processes, provider};
};

test('a signal ends a simulated process of the user', async () => {
	const {processes, provider} = setUp();
	const [own] = (await provider.observe()).gpus[1]!.processes!;
	expect(own).toMatchObject({user: 'alice', commandLine: 'python3 train.py', startTicks: (noon - 540) * 100});
	expect((await processes.inspect([own!.pid])).get(own!.pid)).toMatchObject({isOwn: true, name: 'python3'});
	expect(processes.signal({pid: own!.pid, startTicks: own!.startTicks! + 1})).toBe('gone');
	expect(processes.signal(own!)).toBe('sent');
	expect(processes.signal(own!)).toBe('gone');
	const [, after] = (await provider.observe()).gpus;
	expect(after!.processes).toHaveLength(1);
	expect(after!.memoryUsedMiB).toBeLessThan(200);
	expect((await processes.inspect([own!.pid])).size).toBe(0);
});

test('the simulation sends no signal to processes of other users', async () => {
	const {processes, provider} = setUp();
	const {gpus} = await provider.observe();
	expect(processes.signal(gpus[0]!.processes![0]!)).toBe('not-yours');
	const real = gpus[1]!.processes!.find(({pid}) => pid === process.pid)!;
	expect(real.startTicks).toBeUndefined();
});

test('a signal ends the simulated process of a reservation, and the GPU becomes idle', async () => {
	const lease: SimulatedLease = {index: 2, user: 'alice', type: 'manual', startTime: noon - 60};
	const {processes, provider} = setUp([lease]);
	const [notebook] = (await provider.observe()).gpus[2]!.processes!;
	expect(processes.signal(notebook!)).toBe('sent');
	expect((await provider.observe()).gpus[2]).toMatchObject({processes: [], utilizationPercent: 0});
});

test("a simulated process that was adopted is counted once in its GPU's load", async () => {
	const {processes, provider} = setUp();
	const [own] = (await provider.observe()).gpus[1]!.processes!;
	const {provider: held} = setUp([{index: 1, user: 'alice', type: 'run', pid: own!.pid, startTime: noon}]);
	const before = (await provider.observe()).gpus[1]!;
	expect((await held.observe()).gpus[1]).toMatchObject({
		processes: before.processes!.map(({pid}) => ({pid})),
		memoryUsedMiB: before.memoryUsedMiB,
	});

	const asked: number[] = [];
	const host = processes.hostOver(
		testHost({
			liveness(list) {
				asked.push(...list.map(({pid}) => pid));
				return list.map(() => 'unknown');
			},
		}),
	);
	const job = {pid: own!.pid, startTicks: own!.startTicks, namespace: host.self.namespace};
	const elsewhere = {...job, namespace: 'demo'};
	expect(host.liveness([job, {pid: 1}, elsewhere])).toEqual(['alive', 'unknown', 'unknown']);
	expect(asked).toEqual([1, own!.pid]);
	processes.signal(own!);
	expect(host.liveness([job])).toEqual(['dead']);
	expect(host.orphansOf(job)).toBe('dead');
});
