import type {GpuProcess} from '../../core/model/types.js';

/** Outcome of a tool. `exitCode` is undefined if a signal ended it. */
export type ToolOutcome = {
	readonly stdout: string;
	readonly stderr: string;
	readonly exitCode?: number;
	readonly signal?: string;
	readonly failure?: 'not-found' | 'not-executable' | 'timed-out' | 'too-much-output' | 'aborted' | 'failed';
	readonly detail?: string;
	/** Set when the tool outlived its killing: resolves once it has really ended. */
	readonly ended?: Promise<void>;
};

/** Whether it ran to its end: a run that was cut short may have been cut amid a number. */
export const isComplete = ({failure, exitCode}: ToolOutcome): boolean =>
	failure === undefined && exitCode !== undefined;

/** Runs a tool of the driver. It never rejects, and it answers within the timeout, give or take the time to kill. */
export type RunTool = (
	command: string,
	args: readonly string[],
	options: {
		/** Infinite for a tool that goes on until the signal. */
		readonly timeoutMs: number;
		readonly maxBytes?: number;
		readonly signal?: AbortSignal;
		/** Is given stdout as it comes; then none of it is in the outcome. */
		readonly onText?: (text: string) => void;
	},
) => Promise<ToolOutcome>;

/** Facts about a process that the machine knows, not the GPU. */
export type HostDetails = Omit<GpuProcess, 'pid' | 'memoryUsedMiB' | 'utilizationPercent' | 'kind'>;

/**
Tells what the machine knows of processes: owner, name, command line, start. A process it knows nothing of may be absent. It never
rejects.
*/
export type DescribeProcesses = (pids: Iterable<number>) => Promise<ReadonlyMap<number, HostDetails>>;
