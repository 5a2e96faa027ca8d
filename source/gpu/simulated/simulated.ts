import type {GpuProvider} from '../../core/model/ports.js';
import type {GpuReading, Observation} from '../../core/model/types.js';
import {messageOf} from '../../errors.js';
import {singleFlight} from '../tool/single-flight.js';
import type {SimulatedProcesses} from './processes.js';
import {
	hardwareOf,
	isNow,
	isSimulatedPid,
	linksOf,
	type Scenario,
	type Scene,
	sceneOf,
	simulatedPid,
} from './scenario.js';
import {simulateGpu, type SimulatedLease} from './simulation.js';

/** The position of the first process of a share, from which its pid is computed. Other processes have other positions. */
const firstSharePid = 500;

type Options = {
	readonly gpuCount: () => Promise<number>;
	readonly leases: () => Promise<readonly SimulatedLease[]>;
	readonly monotonicMs: () => number;
	/** Unix seconds. All readings depend only on this time, the seed and the leases. */
	readonly nowSeconds: () => number;
	readonly seed?: number;
	readonly scenario?: Scenario;
	/** When the scenario began, in Unix seconds. */
	readonly startedAtSeconds?: number;
	/** Processes that can be signaled. Absent: processes cannot be identified, and are left alone. */
	readonly processes?: SimulatedProcesses;
};

type Started = {readonly pid?: number; readonly startTime?: number};

/** Returns the start of a simulated process in ticks, which distinguishes it from a later process with the same pid. */
const startTicksOf = ({pid = 0, startTime}: Started): number | undefined =>
	startTime === undefined || !isSimulatedPid(pid) ? undefined : Math.round(startTime) * 100;

/** Simulates GPUs that are under load while they are leased, for trials and demonstrations. */
export const createSimulatedProvider = ({
	gpuCount,
	leases,
	monotonicMs,
	nowSeconds,
	scenario = {},
	seed = scenario.seed ?? 1,
	startedAtSeconds = 0,
	processes,
}: Options): GpuProvider => {
	const hasEnded = ({pid = 0, startTime}: Started): boolean =>
		processes?.hasEnded({pid, startTicks: startTicksOf({pid, startTime})}) ?? false;
	const withStartTicks = (reading: GpuReading): GpuReading =>
		processes === undefined || reading.processes === undefined
			? reading
			: {
					...reading,
					processes: reading.processes.map((process) => ({...process, startTicks: startTicksOf(process)})),
				};
	const warm = createThermals();

	const report = (seen: Pick<Observation, 'gpus' | 'failure' | 'warnings'>): Observation => ({
		provider: 'fake',
		simulated: true,
		takenAtMs: monotonicMs(),
		...seen,
	});

	const scan = async (): Promise<Observation> => {
		const [count, held] = await Promise.allSettled([gpuCount(), leases()]);
		if (count.status === 'rejected') {
			return report({
				gpus: [],
				failure: {message: `The simulated GPUs cannot be counted: ${messageOf(count.reason)}`},
				warnings: [],
			});
		}

		const seconds = nowSeconds();
		const elapsedSeconds = seconds - startedAtSeconds;
		const outage = scenario.scans?.find((span) => isNow(span, elapsedSeconds));
		if (outage !== undefined) {
			return report({gpus: [], failure: {message: outage.failure}, warnings: []});
		}

		const current = held.status === 'fulfilled' ? held.value : [];
		const commandOf = (account: string) => scenario.people?.find(({user}) => user === account)?.command;
		const gpus = Array.from({length: count.value}, (_, index) => {
			const scene = sceneOf(scenario, index, elapsedSeconds);
			const what = hardwareOf(scenario, index);
			const shares = shareProcesses(
				current
					.filter((one) => one.index === index && (one.shareMiB !== undefined || one.instance !== undefined))
					.map((one) => ({...one, command: one.command ?? commandOf(one.user)})),
				seconds,
			);
			const living = [...scene.processes, ...shares].filter(
				({pid, startedSecondsAgo}) => !hasEnded({pid, startTime: seconds - startedSecondsAgo}),
			);
			const found = current.find(
				(one) => one.index === index && one.shareMiB === undefined && one.instance === undefined,
			);
			// A lease that adopted a process of the scenario adds no load, because the process has its own load.
			const lease = living.some(({pid}) => pid === found?.pid) ? undefined : found;
			const simulate = (shown: SimulatedLease | undefined): GpuReading =>
				withStartTicks(
					simulateGpu({
						seed,
						index,
						seconds,
						lease: shown && {...shown, command: shown.command ?? commandOf(shown.user)},
						scene: {...scene, processes: living},
						model: what.model ?? scenario.model,
						memoryTotalMiB: what.memory ?? scenario.memory,
						computeCapability: what.compute,
						numaNode: what.numa,
						pciRoot: what.root,
					}),
				);
			const reading = simulate(lease);
			return reading.processes?.some((process) => hasEnded(process)) ? simulate(undefined) : reading;
		});
		processes?.see(gpus);
		return report({
			gpus: warm(gpus, seconds),
			warnings: held.status === 'rejected' ? [`Simulated without load: ${messageOf(held.reason)}`] : [],
		});
	};

	return {
		name: 'fake',
		simulated: true,
		count: gpuCount,
		observe: singleFlight(scan),
		async readLinks() {
			try {
				return linksOf(scenario, await gpuCount());
			} catch {
				// Not an error here, because every scan reports why the GPUs cannot be counted.
				return undefined;
			}
		},
	};
};

/** MiB that a job uses on an instance, less than the smallest instance. */
const instanceLoadMiB = 4000;

/** Returns the process of each share, which uses a little less memory than requested. */
const shareProcesses = (shares: readonly SimulatedLease[], seconds: number): Scene['processes'] =>
	shares.map(({index, user, pid, startTime = seconds, command, shareMiB, instance}, position) => ({
		user,
		pid: pid ?? simulatedPid(index, firstSharePid + position),
		command: command ?? 'python3 evaluate.py --split test',
		memory: shareMiB === undefined ? instanceLoadMiB : Math.round(0.9 * shareMiB),
		instance: instance?.gpuInstanceId === undefined ? undefined : instance.gpuInstanceId - 1,
		utilization: Math.round(80 / shares.length),
		startedSecondsAgo: Math.max(0, seconds - startTime),
	}));

/** Seconds in which a GPU completes two thirds of a temperature change. */
const inertiaSeconds = 12;

/** Creates a function that makes temperatures change slowly. The first scan shows the final temperatures. */
const createThermals = () => {
	let earlier: ReadonlyMap<number, number> = new Map();
	let earlierSeconds = 0;

	return (gpus: readonly GpuReading[], seconds: number): readonly GpuReading[] => {
		const share = 1 - Math.exp(-Math.max(0, seconds - earlierSeconds) / inertiaSeconds);
		earlier = new Map(
			gpus.flatMap(({index, temperatureCelsius: target}) => {
				const from = earlier.get(index) ?? target;
				return target === undefined || from === undefined ? [] : [[index, from + (target - from) * share] as const];
			}),
		);
		earlierSeconds = seconds;
		return gpus.map((gpu) => {
			const celsius = earlier.get(gpu.index);
			return celsius === undefined ? gpu : {...gpu, temperatureCelsius: Math.round(celsius)};
		});
	};
};
