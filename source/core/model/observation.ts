/** Readings of a GPU tool. Any reading can be unknown, which is `undefined` and never 0. */
import type {HeldInstance} from './mig.js';

export const providerNames = ['nvidia', 'amd', 'fake'] as const;

export type ProviderName = (typeof providerNames)[number];

/** The words that GPU tools print for readings that the GPU does not have, as opposed to readings that failed. */
export const noSuchReading: ReadonlySet<string> = new Set(['[N/A]', 'N/A', '[Not Supported]', 'Not Supported']);

/** The word that the GPU tool printed for each missing reading, such as `[N/A]`, by the field name of {@link GpuReading} or {@link MigInstance}. */
export type UnknownReadings = Readonly<Record<string, string>>;

export type GpuProcess = {
	readonly pid: number;
	readonly startTicks?: number;
	/** Start of the process, in seconds since the Unix epoch. */
	readonly startTime?: number;
	readonly parentPid?: number;
	readonly user?: string;
	readonly name?: string;
	readonly commandLine?: string;
	/** Command lines of up to three ancestors, the parent first. */
	readonly ancestors?: readonly string[];
	readonly memoryUsedMiB?: number;
	readonly utilizationPercent?: number;
	/** 100 is one core, so 312 is a little more than three cores. */
	readonly cpuPercent?: number;
	readonly hostMemoryMiB?: number;
	readonly containerId?: string;
	readonly kind?: 'compute' | 'graphics' | 'both';
	readonly gpuInstanceId?: number;
	readonly computeInstanceId?: number;
};

export const healthKinds = ['ecc', 'xid', 'needs-reset', 'fell-off-the-bus', 'temperature'] as const;

/** A problem that makes a GPU unfit for use, even if the GPU still answers. */
export type HealthProblem = {
	readonly kind: (typeof healthKinds)[number];
	readonly words: string;
};

export type MigInstance = Partial<HeldInstance> & {
	readonly memoryUsedMiB?: number;
	readonly memoryTotalMiB?: number;
	readonly unknown?: UnknownReadings;
};

export type GpuPlace = {readonly node: string; readonly gpu: number};

export type GpuReading = {
	readonly index: number;
	readonly uuid?: string;
	readonly pciBusId?: string;
	readonly name?: string;
	readonly memoryUsedMiB?: number;
	readonly memoryTotalMiB?: number;
	/** Memory reserved by the driver. Not part of `memoryUsedMiB`. */
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
	/** Why the clocks are reduced, in words. Empty if the only reason is idleness. */
	readonly throttleReasons?: readonly string[];
	/** Number of errors since the driver was loaded. */
	readonly eccUncorrectedErrors?: number;
	readonly isMigEnabled?: boolean;
	/** Whether MIG was switched and the GPU needs a reset for the change. */
	readonly isMigPending?: boolean;
	readonly migInstances?: readonly MigInstance[];
	/** The driver's compute mode, such as `Default` or `Exclusive_Process`. */
	readonly computeMode?: string;
	readonly computeCapability?: string;
	readonly numaNode?: number;
	/** The PCI root complex, by the kernel's name, such as `pci0000:3a`. */
	readonly pciRoot?: string;
	/** Undefined if the processes are unknown. Empty if there are none. */
	readonly processes: readonly GpuProcess[] | undefined;
	/** Known problems. A GPU with a problem is shown and not granted. */
	readonly health?: readonly HealthProblem[];
	/** The GPU tool's message, if the GPU is broken. A broken GPU has no readings. */
	readonly failure?: string;
	/** The machine of the GPU and its index there, if an engine such as Slurm manages several machines. */
	readonly place?: GpuPlace;
	/** Set if no tool can read the GPU from this machine. Then only the engine that grants the GPU, such as Slurm, knows whether the GPU is free. */
	readonly isUnread?: true;
	readonly unknown: UnknownReadings;
};

/** How long a lease's GPU has been idle. Kept between scans by idle.ts. */
export type IdleSpan = {
	/** The lease id, or a substitute for an old lease without one. */
	readonly lease: string;
	readonly index: number;
	/** The GPU's UUID, if known. Another GPU with the same index has another span. */
	readonly uuid?: string;
	/** Observed idle time. Gaps between observations do not count. */
	readonly seconds: number;
	/** Store time of the last scan that saw the GPU idle. Absent while the GPU cannot be read. */
	readonly until?: number;
};

export type Observation = {
	readonly provider: ProviderName;
	/** Milliseconds on the monotonic clock of this process when the scan ended. */
	readonly takenAtMs: number;
	readonly simulated: boolean;
	readonly driverVersion?: string;
	readonly gpus: readonly GpuReading[];
	/** Set if the whole scan failed. `gpus` is then empty, and nothing may be granted. */
	readonly failure?: {
		readonly message: string;
		readonly hint?: string;
		/** Set if this process cannot start the GPU tool. Other processes perhaps can. */
		readonly isToolMissing?: true;
	};
	/** Set if this process cannot read some GPUs, as in an isolated job or a container. Such a scan is not shared with other viewers. */
	readonly isPartial?: true;
	/** Set if the kernel's log could not be read, so that problems which only the log shows may be missing. */
	readonly lacksKernelLog?: true;
	/** Set if another process has made the scan and posted it in the store. Any process can post scans. */
	readonly isPosted?: true;
	readonly warnings: readonly string[];
	readonly idle?: readonly IdleSpan[];
};

/** More GPUs than any machine has. A larger number is a typo or a damaged record. */
export const mostGpus = 1024;

const pciAddress = /^(?<domain>[\da-f]{1,8}):(?<bus>[\da-f]{2}):(?<device>[\da-f]{2})\.(?<unit>[\da-f])$/iv;

/**
Returns a PCI address in the form of nvidia-smi, such as `00000000:0B:00.0`. Sorted addresses are in the order of
the GPU indices. Undefined if invalid.
*/
export const normalizePciBusId = (text: string): string | undefined => {
	const {domain, bus, device, unit} = pciAddress.exec(text.trim())?.groups ?? {};
	return domain === undefined ? undefined : `${domain.padStart(8, '0')}:${bus}:${device}.${unit}`.toUpperCase();
};

/** Load of a GPU, as fractions from 0 to 1. Undefined values are unknown. */
export type Load = {readonly utilization?: number; readonly memory?: number};

/** A line of the load history: the mean load of each GPU during one minute. Minutes are counted from the Unix epoch. */
export type MinuteLoads = {
	readonly minute: number;
	readonly scans: number;
	/** The load of each GPU in this minute, encoded as in load-minutes.ts. */
	readonly cells: string;
};
