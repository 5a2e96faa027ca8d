import type {GpuProcess, GpuReading, LeaseType} from '../../core/model/types.js';
import {type Scene, simulatedPid} from './scenario.js';

type Input = {
	readonly seed: number;
	readonly index: number;
	/** Unix seconds. */
	readonly seconds: number;
	readonly lease?: SimulatedLease;
	readonly scene?: Scene;
	readonly model?: string;
	readonly memoryTotalMiB?: number;
	readonly computeCapability?: string;
	readonly numaNode?: number;
	readonly pciRoot?: string;
};

const powerLimitWatts = 700;

/** The load of a lease on its GPU, each value in [0, 1]. */
type Load = {readonly work: number; readonly memory: number};

const noLoad: Load = {work: 0, memory: 0};

/** Returns the reading of a simulated GPU, modeled on an H100. Deterministic, with small differences from second to second. */
export const simulateGpu = ({
	seed,
	index,
	seconds,
	lease,
	scene = {processes: [], change: (reading) => reading},
	model = 'Simulated H100 80GB',
	memoryTotalMiB = 81_559,
	computeCapability = '9.0',
	numaNode,
	pciRoot,
}: Input): GpuReading => {
	const dice = (salt: number) => fraction(seed, index, salt);
	const sway = (periodSeconds: number, salt: number) => Math.sin(2 * Math.PI * (seconds / periodSeconds + dice(salt)));

	const load = lease === undefined ? noLoad : loadOf(lease, seconds, dice, sway);
	const idleMemoryMiB = 3 + Math.floor(dice(1) * 4);
	const processMemoryMiB = Math.round(load.memory * (memoryTotalMiB - 1500));
	const others = scene.processes.map((process, position) => {
		const warmth = smoothStep(process.startedSecondsAgo / 20);
		const work = (warmth * (process.utilization ?? 0) * (0.95 + 0.05 * sway(23, 30 + position))) / 100;
		return {...process, work, memoryMiB: Math.round(warmth * process.memory)};
	});
	const othersMiB = others.reduce((sum, {memoryMiB}) => sum + memoryMiB, 0);
	const work = Math.min(1, load.work + others.reduce((sum, other) => sum + other.work, 0));
	const heat = work * (0.92 + 0.08 * sway(140, 2));
	const own = lease === undefined || load.memory === 0 ? [] : [describeProcess(lease, index, processMemoryMiB, dice)];

	return scene.change({
		index,
		uuid: `SIM-00000000-0000-0000-0000-${index.toString(16).padStart(12, '0')}`,
		pciBusId: `00000000:${(index + 1).toString(16).padStart(2, '0').toUpperCase()}:00.0`,
		name: model,
		computeCapability,
		numaNode,
		pciRoot,
		memoryUsedMiB: Math.min(memoryTotalMiB, idleMemoryMiB + processMemoryMiB + othersMiB),
		memoryTotalMiB,
		utilizationPercent: Math.round(100 * work),
		memoryUtilizationPercent: Math.round(60 * work),
		temperatureCelsius: Math.round(31 + sway(300, 3) + 38 * heat),
		temperatureLimitCelsius: 87,
		powerWatts: Math.round(10 * (70 + 2 * sway(45, 4) + 560 * heat)) / 10,
		powerLimitWatts,
		smClockMHz: work === 0 ? 345 : Math.round(1980 - 120 * heat),
		memoryClockMHz: 2619,
		throttleReasons: [],
		processes: [
			...own.map((process) => ({
				...process,
				utilizationPercent: Math.round(100 * load.work),
				cpuPercent: Math.round(load.work * (140 + 300 * dice(22)) * (1 + 0.1 * sway(17, 23))),
				hostMemoryMiB: Math.round(900 + 6000 * dice(24)),
				startTime: lease?.startTime,
			})),
			...others.map(
				({pid, user, command, memoryMiB, work: share, startedSecondsAgo, container, instance}, position) => ({
					pid: pid ?? simulatedPid(index, 900 + position),
					user,
					name: programOf(command),
					commandLine: command,
					memoryUsedMiB: memoryMiB,
					utilizationPercent: Math.round(100 * share),
					cpuPercent: Math.round(120 * share),
					hostMemoryMiB: Math.round(700 + 2000 * fraction(seed, index, 40 + position)),
					startTime: Math.round(seconds - startedSecondsAgo),
					containerId: container,
					...(instance !== undefined && {gpuInstanceId: instance + 1, computeInstanceId: 0}),
					kind: 'compute' as const,
				}),
			),
		],
		unknown: {},
	});
};

const programOf = (command: string): string => (command.split(' ', 1)[0] ?? '').split('/').pop() ?? '';

type Dice = (salt: number) => number;
type Sway = (periodSeconds: number, salt: number) => number;

/** Returns the load of a lease. A `run` job reaches full load in 20 s. A manual reservation has a low load for 10 to 40 minutes, and then none. */
const loadOf = ({type, startTime}: SimulatedLease, seconds: number, dice: Dice, sway: Sway): Load => {
	const age = startTime === undefined ? undefined : Math.max(0, seconds - startTime);
	const memory = (0.3 + 0.6 * dice(10)) * (1 + 0.01 * sway(90, 11));
	if (type === 'run') {
		const warmth = age === undefined ? 1 : smoothStep(age / 20);
		return {work: warmth * (0.91 + 0.05 * sway(37, 12) + 0.03 * sway(11, 13)), memory: warmth * memory};
	}

	const patience = 600 + 1800 * dice(14);
	const interest =
		age === undefined ? smoothStep(1 + sway(900, 15)) : smoothStep(age / 20) * (1 - smoothStep((age - patience) / 60));
	return {work: interest * (0.12 + 0.08 * sway(50, 16)), memory: interest * memory * 0.2};
};

const programs = [
	['python3', 'python3 train.py --config base.yaml'],
	['python3', 'python3 -m torch.distributed.run train.py'],
	['python3', 'python3 finetune.py --epochs 3'],
	['python3', 'python3 evaluate.py --split test'],
	['gmx', 'gmx mdrun -deffnm md'],
] as const;

const notebook = ['python3', 'python3 -m ipykernel_launcher -f kernel.json'] as const;

const describeProcess = (
	{user, type, pid, command}: SimulatedLease,
	index: number,
	memoryUsedMiB: number,
	dice: Dice,
): GpuProcess => {
	const [name, commandLine] =
		command === undefined
			? type === 'manual'
				? notebook
				: (programs[Math.floor(dice(20) * programs.length)] ?? notebook)
			: [programOf(command), command];
	return {
		pid: pid ?? simulatedPid(index, Math.floor(dice(21) * 900)),
		user,
		name,
		commandLine,
		memoryUsedMiB,
		kind: 'compute',
	};
};

const smoothStep = (x: number): number => {
	const clamped = Math.min(1, Math.max(0, x));
	return clamped * clamped * (3 - 2 * clamped);
};

/** Returns a pseudo-random number in [0, 1), always the same for the same arguments. */
const fraction = (seed: number, index: number, salt: number): number => {
	const wild = Math.sin(seed * 12.9898 + index * 78.233 + salt * 37.719) * 43_758.5453;
	return wild - Math.floor(wild);
};

export type SimulatedLease = {
	readonly index: number;
	readonly user: string;
	readonly type: LeaseType;
	/** MiB of a share. Absent: the whole GPU. */
	readonly shareMiB?: number;
	readonly instance?: {readonly gpuInstanceId?: number};
	readonly pid?: number;
	/** Unix seconds. If known, the load grows from this time on, and a manual lease becomes idle after a while. */
	readonly startTime?: number;
	readonly command?: string;
};
