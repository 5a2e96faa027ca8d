/** Processes that have a GPU's device open, independent of the GPU tool. */
import type {GpuProcess} from './observation.js';

/**
`running`: it lives. `stopped`: by Ctrl-Z or a debugger. `waiting`: in the kernel, where no signal ends it. `leaderless`: its first thread has
ended, and others run on. `zombie`: it has ended, and its parent has not taken notice. `absent`: there is no such process to be seen here.
*/
export type HolderState = 'running' | 'stopped' | 'waiting' | 'leaderless' | 'zombie' | 'absent';

export type DeviceHolder = Omit<GpuProcess, 'memoryUsedMiB' | 'utilizationPercent' | 'kind'> & {
	readonly state: HolderState;
	/** Whether a device of the GPU is among its open files. Undefined where its files may not be read. */
	readonly hasOpen: boolean | undefined;
	/** Whether it counts pids otherwise than this process, as in a container. Undefined where that is not reported. */
	readonly isInOtherPidNamespace: boolean | undefined;
	/** Whether it is of the account that asks. */
	readonly isOwn: boolean;
};

export type DeviceHolders = {
	/** The device files that were looked for. Empty where they are not known: then open files tell nothing. */
	readonly devices: readonly string[];
	/** Holders, and the requested processes. */
	readonly holders: readonly DeviceHolder[];
	/** Processes whose open files may not be read, and to whom they belong as far as that is known. */
	readonly unreadable: {readonly count: number; readonly users: readonly string[]};
};
