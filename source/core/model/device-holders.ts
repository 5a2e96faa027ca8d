/** Processes that have a GPU's device open, independent of the GPU tool. */
import type {GpuProcess} from './observation.js';

/**
`stopped`: by Ctrl-Z or a debugger. `waiting`: in the kernel, where no signal ends the process. `leaderless`: only the first thread has ended.
`zombie`: ended, but not yet reaped. `absent`: not visible from here.
*/
export type HolderState = 'running' | 'stopped' | 'waiting' | 'leaderless' | 'zombie' | 'absent';

export type DeviceHolder = Omit<GpuProcess, 'memoryUsedMiB' | 'utilizationPercent' | 'kind'> & {
	readonly state: HolderState;
	/** Whether the process has a device of the GPU open. Undefined if its open files cannot be read. */
	readonly hasOpen: boolean | undefined;
	/** Whether the process has its pids in another namespace, as in a container. Undefined if unknown. */
	readonly isInOtherPidNamespace: boolean | undefined;
	readonly isOwn: boolean;
};

export type DeviceHolders = {
	/** The device files that were searched for. If empty, open files cannot identify holders. */
	readonly devices: readonly string[];
	readonly holders: readonly DeviceHolder[];
	/** Processes whose open files cannot be read, and their known users. */
	readonly unreadable: {readonly count: number; readonly users: readonly string[]};
};
