/** Readings of a GPU tool. Any reading can be unknown, which is `undefined` and never 0. */
import type {HeldInstance} from './mig.js';

export const providerNames = ['nvidia', 'amd', 'fake'] as const;

export type ProviderName = (typeof providerNames)[number];

/** Words by which a tool says that it has no such reading at all, rather than that it failed to take it. */
export const noSuchReading: ReadonlySet<string> = new Set(['[N/A]', 'N/A', '[Not Supported]', 'Not Supported']);

/** Field name of {@link GpuReading} -> the word a tool used instead of a reading, such as `[N/A]`. */
export type UnknownReadings = Readonly<Record<string, string>>;

export type GpuProcess = {
	readonly pid: number;
	readonly startTicks?: number;
	/** Unix seconds. */
	readonly startTime?: number;
	/** The process that started it. */
	readonly parentPid?: number;
	/** OS account. Undefined when it cannot be found out. */
	readonly user?: string;
	/** Short name, such as `python3`. */
	readonly name?: string;
	readonly commandLine?: string;
	/** Command lines of its parent and of up to two before it, nearest first. */
	readonly ancestors?: readonly string[];
	/** The GPU memory that it uses. */
	readonly memoryUsedMiB?: number;
	/** Share of the GPU's processors that it uses. */
	readonly utilizationPercent?: number;
	/** 100 is one core, so 312 is a little more than three cores. */
	readonly cpuPercent?: number;
	/** Resident memory of the host. */
	readonly hostMemoryMiB?: number;
	/** The first 12 characters name the container that it runs in. */
	readonly containerId?: string;
	readonly kind?: 'compute' | 'graphics' | 'both';
	/** The MIG instance of the process. Undefined if there is none, or if the tool does not report it. */
	readonly gpuInstanceId?: number;
	readonly computeInstanceId?: number;
};

export const healthKinds = ['ecc', 'xid', 'needs-reset', 'fell-off-the-bus', 'temperature'] as const;

/** Something that makes a GPU unfit to be handed out, though it may still answer. */
export type HealthProblem = {
	readonly kind: (typeof healthKinds)[number];
	/** Text for people, such as `Xid 79: GPU has fallen off the bus`. */
	readonly words: string;
};

/** A part of a GPU that MIG has split off. */
export type MigInstance = Partial<HeldInstance> & {
	readonly memoryUsedMiB?: number;
	readonly memoryTotalMiB?: number;
};

/** A GPU of a cluster, as its own machine knows it. */
export type GpuPlace = {readonly node: string; readonly gpu: number};

/** Readings of one GPU. */
export type GpuReading = {
	readonly index: number;
	readonly uuid?: string;
	readonly pciBusId?: string;
	/** Model, such as `NVIDIA H100 80GB HBM3`. */
	readonly name?: string;
	readonly memoryUsedMiB?: number;
	readonly memoryTotalMiB?: number;
	/** Kept by the driver for itself; no part of `memoryUsedMiB`. */
	readonly memoryReservedMiB?: number;
	readonly utilizationPercent?: number;
	readonly memoryUtilizationPercent?: number;
	readonly temperatureCelsius?: number;
	/** Above this temperature the GPU slows down. */
	readonly temperatureLimitCelsius?: number;
	readonly powerWatts?: number;
	readonly powerLimitWatts?: number;
	readonly fanPercent?: number;
	readonly smClockMHz?: number;
	readonly memoryClockMHz?: number;
	/** Why the clocks are lower than they could be, in words; empty when nothing holds them down but idleness. */
	readonly throttleReasons?: readonly string[];
	/** Memory errors that could not be corrected, since the driver was loaded. */
	readonly eccUncorrectedErrors?: number;
	readonly isMigEnabled?: boolean;
	/** An administrator has switched MIG, and the GPU has to be reset before it is so. */
	readonly isMigPending?: boolean;
	readonly migInstances?: readonly MigInstance[];
	/** The driver's compute mode, such as `Default` or `Exclusive_Process`. */
	readonly computeMode?: string;
	/** Compute capability, such as `9.0`. */
	readonly computeCapability?: string;
	/** The part of the host's memory and processors that is nearest, by the kernel's number. */
	readonly numaNode?: number;
	/** The PCI root complex it hangs on, by the kernel's name, such as `pci0000:3a`. */
	readonly pciRoot?: string;
	/** Undefined when processes could not be asked for; empty when the tool said there are none. */
	readonly processes: readonly GpuProcess[] | undefined;
	/** Absent or empty: nothing is known to be wrong. Such a GPU is shown with the reason and not handed out. */
	readonly health?: readonly HealthProblem[];
	/** Set if the GPU is broken, in the tool's words. It then has no readings. */
	readonly failure?: string;
	/** An engine that has GPUs of several machines says which machine has it, and under which number. */
	readonly place?: GpuPlace;
	/** No tool reads it here: the engine that grants it says whether it is free. */
	readonly isUnread?: true;
	readonly unknown: UnknownReadings;
};

/** Time for which a lease's GPU was idle. Kept between scans by idle.ts. */
export type IdleSpan = {
	/** Lease id, or what tells an old lease apart. */
	readonly lease: string;
	readonly index: number;
	/** The GPU's own, where it has one: another GPU under the same index is another span. */
	readonly uuid?: string;
	/** This is when idleness was seen; what no one saw does not count. */
	readonly seconds: number;
	/** The scan up to which it was idle, on the store's clock. Absent while the GPU cannot be read. */
	readonly until?: number;
};

/** One scan of the GPUs. */
export type Observation = {
	readonly provider: ProviderName;
	/** Milliseconds on the monotonic clock of this process when the scan ended. */
	readonly takenAtMs: number;
	/** Whether the GPUs are simulated, which every face shows. */
	readonly simulated: boolean;
	readonly driverVersion?: string;
	readonly gpus: readonly GpuReading[];
	/** Set when the scan as a whole failed; then `gpus` is empty and nothing may be handed out on its word. */
	readonly failure?: {readonly message: string; readonly hint?: string};
	/** Set where some GPUs cannot be read from here, as in an isolated job: no one else is shown such a scan. */
	readonly isPartial?: true;
	/** Lines worth showing that do not spoil the readings. */
	readonly warnings: readonly string[];
	/** A scan that was shared tells how long leases have been idle. */
	readonly idle?: readonly IdleSpan[];
};

/** More than any box holds: a larger number is a slip of the finger, or was stored by another hand. */
export const mostGpus = 1024;

const pciAddress = /^(?<domain>[\da-f]{1,8}):(?<bus>[\da-f]{2}):(?<device>[\da-f]{2})\.(?<unit>[\da-f])$/iv;

/**
Returns a PCI address in the spelling of nvidia-smi's tables: `0000:0b:00.0` becomes `00000000:0B:00.0`. Sorted as text, these are in bus
order, which is the order of GPU indices. Undefined for anything else.
*/
export const normalizePciBusId = (text: string): string | undefined => {
	const {domain, bus, device, unit} = pciAddress.exec(text.trim())?.groups ?? {};
	return domain === undefined ? undefined : `${domain.padStart(8, '0')}:${bus}:${device}.${unit}`.toUpperCase();
};

/** Load of a GPU, as shares from 0 to 1. Undefined values are unknown. */
export type Load = {readonly utilization?: number; readonly memory?: number};

/** A line of the load history: the means over one minute since the epoch. */
export type MinuteLoads = {
	readonly minute: number;
	/** Number of scans in the sums. */
	readonly scans: number;
	/** A cell for each GPU, see load-minutes.ts. */
	readonly cells: string;
};
