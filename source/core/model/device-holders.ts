/** Processes that have a GPU's device file open. They are found without the GPU tool, such as nvidia-smi. */
import type {GpuProcess} from './observation.js';

/**
The state of a process. `stopped`: halted by Ctrl-Z or a debugger. `waiting`: blocked in the kernel, where no signal can end it. `leaderless`: its
first thread has ended, and others still run. `zombie`: ended, but not yet reaped by its parent. `absent`: not visible to this process.
*/
export type HolderState = 'running' | 'stopped' | 'waiting' | 'leaderless' | 'zombie' | 'absent';

export type DeviceHolder = Omit<GpuProcess, 'memoryUsedMiB' | 'utilizationPercent' | 'kind'> & {
	readonly state: HolderState;
	/** Whether the process has a device file of the GPU open. Undefined if its open files cannot be read. */
	readonly hasOpen: boolean | undefined;
	readonly isInOtherPidNamespace: boolean | undefined;
	readonly isOwn: boolean;
};

export type DeviceHolders = {
	/** The device files of the GPU. If none are known, open files cannot show who uses the GPU. */
	readonly devices: readonly string[];
	readonly holders: readonly DeviceHolder[];
	/** Processes whose open files cannot be read, and their known users. */
	readonly unreadable: {readonly count: number; readonly users: readonly string[]};
};
