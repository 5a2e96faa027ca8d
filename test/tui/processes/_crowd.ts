/** A box with many kinds of processes: parents and children, containers, a desktop, and unreserved users. */
import type {GpuProcess} from '../../../source/core/model/types.js';
import type {Action} from '../../../source/tui/state/actions.js';
import {type Box, createBox, gpuReading, lease, run, sceneTime} from '../_world.js';

const process = (pid: number, more: Partial<GpuProcess>): GpuProcess => ({pid, startTicks: pid * 10, ...more});

const holding = (index: number, processes: readonly GpuProcess[]) =>
	gpuReading(index, {
		memoryUsedMiB: processes.reduce((sum, {memoryUsedMiB = 0}) => sum + memoryUsedMiB, 0),
		utilizationPercent: 50,
		processes,
	});

/** Scans of the last five minutes before the monotonic time 1000, in which the usage of each process rises and falls. */
export const pastOfCrowd = ({readings}: Box): readonly Action[] =>
	Array.from({length: 150}, (_, index): Action => {
		const share = 0.5 + 0.5 * Math.sin(index / 12);
		return {
			kind: 'scan-arrived',
			nowMs: 1000,
			observation: {
				provider: 'nvidia',
				takenAtMs: 1000 - 2000 * (150 - index),
				simulated: false,
				gpus: readings.map((reading) => ({
					...reading,
					processes: reading.processes?.map(({memoryUsedMiB = 0, utilizationPercent, ...rest}) => ({
						...rest,
						memoryUsedMiB: Math.round((memoryUsedMiB * (index + 1)) / 150),
						utilizationPercent: utilizationPercent === undefined ? undefined : utilizationPercent * share,
					})),
				})),
				warnings: [],
			},
		};
	});

export const createCrowd = async (): Promise<Box> =>
	createBox(4, {
		leases: {0: run('alice', {startTime: sceneTime - 4330}), 1: lease('carol', {startTime: sceneTime - 900})},
		readings: [
			holding(0, [
				process(81_234, {
					user: 'alice',
					commandLine: '/opt/venv/bin/vllm serve Llama-3-70B --tensor-parallel-size 1',
					memoryUsedMiB: 61_645,
					utilizationPercent: 84,
					cpuPercent: 312,
					hostMemoryMiB: 24_000,
					startTime: sceneTime - 4330,
				}),
				process(81_377, {
					parentPid: 81_234,
					user: 'alice',
					name: 'ray::Worker',
					memoryUsedMiB: 410,
					utilizationPercent: 0,
					cpuPercent: 3,
					hostMemoryMiB: 900,
					startTime: sceneTime - 4270,
				}),
			]),
			holding(1, [
				process(90_001, {
					user: 'carol',
					commandLine: 'python train.py --config big.yaml',
					memoryUsedMiB: 30_000,
					utilizationPercent: 60,
					cpuPercent: 98,
					hostMemoryMiB: 5000,
					startTime: sceneTime - 800,
					containerId: '4f5e6d7c8b9a',
				}),
				process(90_100, {
					user: 'dave',
					commandLine: './miner --pool x',
					memoryUsedMiB: 6000,
					utilizationPercent: 30,
					cpuPercent: 12,
					startTime: sceneTime - 100,
				}),
				process(90_200, {user: undefined, memoryUsedMiB: 300}),
			]),
			holding(2, [
				process(70_001, {
					user: 'dave',
					commandLine: '/usr/bin/jupyter-lab --no-browser',
					memoryUsedMiB: 19_456,
					utilizationPercent: 41,
					cpuPercent: 5,
					hostMemoryMiB: 700,
					startTime: sceneTime - 500,
				}),
				process(3001, {user: 'root', name: 'Xorg', kind: 'graphics', memoryUsedMiB: 40, startTime: sceneTime - 9e5}),
			]),
			holding(3, [process(70_500, {user: 'erin', commandLine: 'python -c "import torch"', memoryUsedMiB: 400})]),
		],
	});
