/** Describes a simulated machine: other users' work, failures, hidden processes and more, depending on the time since the simulation started. */
import type {GpuLink, GpuLinks, GpuReading, HealthProblem, MigInstance} from '../../core/model/types.js';

/** The kernel's largest pid with any settings. */
const largestPid = 2 ** 22;

/** Returns a pid above the kernel's largest one, so that no signal reaches a real process. */
export const simulatedPid = (index: number, position: number): number => largestPid + 1 + index * 1000 + position;

export const isSimulatedPid = (pid: number): boolean => pid > largestPid;

/** A time span in seconds since the start. With `every`, the times are within a period of that length, and the span repeats in each period. */
type Span = {readonly from?: number; readonly until?: number; readonly every?: number};

type SceneProcess = {
	readonly user?: string;
	readonly command: string;
	readonly pid?: number;
	/** MiB of GPU memory. */
	readonly memory: number;
	/** Per cent of the GPU. */
	readonly utilization?: number;
	readonly container?: string;
	/** The index of the MIG instance, from 0. */
	readonly instance?: number;
};

/** Hardware of some GPUs. Missing fields have the defaults of the scenario. */
type Hardware = {
	readonly gpus: readonly number[];
	readonly model?: string;
	/** MiB of memory of each GPU. */
	readonly memory?: number;
	readonly compute?: string;
	readonly numa?: number;
	readonly root?: string;
};

type OfGpu = Span & {readonly gpu: number};

/** A simulated user of a demonstration, with repeated requests. */
export type Person = {
	readonly user: string;
	/** The number of GPUs, if there are no `ids`. */
	readonly gpus?: number;
	readonly ids?: readonly number[];
	/** MiB of a share on each GPU. Absent: whole GPUs. */
	readonly share?: number;
	readonly kind?: 'run' | 'manual';
	/** Seconds that GPUs are held, and seconds until the next request. Both vary by a third. If absent, the GPUs are held forever. */
	readonly hold?: number;
	readonly pause?: number;
	/** Time limit of a job, in seconds. Used for the estimated waits of other requests. */
	readonly limit?: number;
	readonly note?: string;
	readonly command?: string;
	/** How many seconds before the start the GPUs were held or the wait began. */
	readonly since?: number;
	readonly waits?: number;
	/** How many seconds the GPUs had been idle at the start. For reservations with `kind: manual`. */
	readonly idle?: number;
	/** Seconds from the start until the idle GPUs go back to the pool. If absent, the person is not warned yet. */
	readonly back?: number;
};

export type Scenario = {
	/** The number of GPUs in a demonstration. Otherwise, the pool decides. */
	readonly gpus?: number;
	readonly policy?: Readonly<Record<string, string>>;
	readonly seed?: number;
	readonly model?: string;
	readonly memory?: number;
	/** The hardware of single GPUs, for a machine with different GPUs. If several entries have the same GPU, later fields replace earlier ones. */
	readonly hardware?: readonly Hardware[];
	/** Links between the GPUs of each set. Any other link depends on whether its GPUs have the same NUMA node and PCI root. */
	readonly links?: ReadonlyArray<{readonly gpus: readonly number[]; readonly link: GpuLink}>;
	readonly processes?: ReadonlyArray<OfGpu & SceneProcess>;
	readonly failures?: ReadonlyArray<OfGpu & {readonly words: string}>;
	/** GPUs that answer but are unfit for use. */
	readonly health?: ReadonlyArray<OfGpu & HealthProblem>;
	readonly hidden?: readonly OfGpu[];
	/** GPUs without some readings, such as `temperatureCelsius`. */
	readonly unknown?: ReadonlyArray<OfGpu & {readonly readings: readonly string[]; readonly word?: string}>;
	/**
	GPUs split by MIG, with the profile of each instance. If a GPU has several entries, the last one counts, and its instances replace earlier ones.
	`mode`: the MIG mode is unknown, or its change waits for a reset.
	*/
	readonly mig?: ReadonlyArray<OfGpu & {readonly profiles: readonly string[]; readonly mode?: 'unknown' | 'pending'}>;
	readonly scans?: ReadonlyArray<Span & {readonly failure: string}>;
	readonly people?: readonly Person[];
	/** A directory with substitutes for dev, proc and sys, for isolated jobs. */
	readonly devices?: string;
};

export const isNow = ({from = 0, until = Infinity, every}: Span, elapsedSeconds: number): boolean => {
	const seconds = every === undefined ? elapsedSeconds : elapsedSeconds % every;
	return seconds >= from && seconds < until;
};

/** Returns how many seconds ago a process began. Processes that exist at the start of the simulation began some time before. */
const ageOf = ({from, every}: Span, elapsedSeconds: number): number =>
	from === undefined ? elapsedSeconds + 480 : (every === undefined ? elapsedSeconds : elapsedSeconds % every) - from;

export const hardwareOf = ({hardware = []}: Scenario, index: number): Omit<Hardware, 'gpus'> =>
	Object.assign(
		{},
		...hardware
			.filter(({gpus}) => gpus.includes(index))
			.map(({gpus: _, ...what}) => Object.fromEntries(Object.entries(what).filter(([, value]) => value !== undefined))),
	) as Omit<Hardware, 'gpus'>;

/** Returns the links between the GPUs. Default: NVLink between all GPUs, as in a machine with eight H100. */
export function linksOf(scenario: Scenario, gpuCount: number): GpuLinks {
	const {links, hardware} = scenario;
	const linkOf = (one: number, other: number): GpuLink | undefined => {
		if (one === other) {
			return undefined;
		}

		const stated = links?.findLast(({gpus}) => gpus.includes(one) && gpus.includes(other))?.link;
		if (stated !== undefined || (links === undefined && hardware === undefined)) {
			return stated ?? 'NV18';
		}

		const {numa, root} = hardwareOf(scenario, one);
		const {numa: otherNuma, root: otherRoot} = hardwareOf(scenario, other);
		return numa === otherNuma ? (root !== undefined && root === otherRoot ? 'PXB' : 'NODE') : 'SYS';
	};

	const indexes = Array.from({length: gpuCount}, (_, index) => index);
	return indexes.map((one) => indexes.map((other) => linkOf(one, other)));
}

export type Scene = {
	readonly processes: ReadonlyArray<SceneProcess & {readonly startedSecondsAgo: number}>;
	readonly change: (reading: GpuReading) => GpuReading;
};

export const sceneOf = (scenario: Scenario, index: number, elapsedSeconds: number): Scene => {
	const isCurrent = (item: OfGpu): boolean => item.gpu === index && isNow(item, elapsedSeconds);
	const current = <Item extends OfGpu>(items: readonly Item[] = []): readonly Item[] =>
		items.filter((item) => isCurrent(item));

	const health = current(scenario.health).map(({kind, words}) => ({kind, words}));
	const splits = (scenario.mig ?? []).filter(({gpu}) => gpu === index);
	const generation = splits.findLastIndex((one) => isNow(one, elapsedSeconds));
	const split = splits[generation];
	const [failure] = current(scenario.failures);
	return {
		processes: (scenario.processes ?? []).flatMap((process, position) =>
			isCurrent(process)
				? {
						...process,
						// The pid depends on the position in the scenario, so it stays the same while other processes come and go.
						pid: process.pid ?? simulatedPid(index, 900 + (position % 100)),
						startedSecondsAgo: ageOf(process, elapsedSeconds),
					}
				: [],
		),
		change(reading) {
			if (failure !== undefined) {
				const {uuid, pciBusId, name} = reading;
				return {index, uuid, pciBusId, name, processes: undefined, failure: failure.words, unknown: {}};
			}

			const whole = {
				...reading,
				health,
				...(split && splitReading(reading, split, generation)),
			};
			const seen = current(scenario.hidden).length > 0 ? {...whole, processes: undefined} : whole;
			const veiled = current(scenario.unknown).flatMap(({readings, word = '[N/A]'}) =>
				readings.map((field) => [field, word] as const),
			);
			return {
				...seen,
				...Object.fromEntries(veiled.map(([field]) => [field, undefined])),
				unknown: {...seen.unknown, ...Object.fromEntries(veiled)},
			};
		},
	};
};

/** Returns the readings of a GPU split by MIG. Its load is unknown. */
const splitReading = (
	reading: GpuReading,
	{profiles, mode}: NonNullable<Scenario['mig']>[number],
	generation: number,
): Partial<GpuReading> =>
	mode === 'unknown'
		? {unknown: {...reading.unknown, isMigEnabled: '[Unknown Error]'}}
		: {
				isMigEnabled: true,
				...(mode === 'pending' && {isMigPending: true}),
				migInstances: partsOf(reading, profiles, generation),
				utilizationPercent: undefined,
				memoryUtilizationPercent: undefined,
				unknown: {...reading.unknown, utilizationPercent: '[N/A]', memoryUtilizationPercent: '[N/A]'},
			};

/** Returns the MIG instances. A profile contains the memory: `3g.40gb`. `generation` counts changes of the GPU's instances. */
const partsOf = (
	{index, memoryTotalMiB, processes = []}: GpuReading,
	profiles: readonly string[],
	generation: number,
): readonly MigInstance[] =>
	profiles.map((profile, position) => {
		const own = processes.filter(({gpuInstanceId}) => gpuInstanceId === position + 1);
		const gigabytes = Number(/\.(?<size>\d+)gb/v.exec(profile)?.groups?.['size']);
		return {
			number: position,
			profile,
			gpuInstanceId: position + 1,
			computeInstanceId: 0,
			uuid: generation === 0 ? `MIG-SIM-${index}-${position}` : `MIG-SIM-${index}-${position}-${generation}`,
			memoryUsedMiB: own.reduce((sum, {memoryUsedMiB = 0}) => sum + memoryUsedMiB, 0),
			memoryTotalMiB: Number.isNaN(gigabytes) ? memoryTotalMiB : gigabytes * 1000,
		};
	});
