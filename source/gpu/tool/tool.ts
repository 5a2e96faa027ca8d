import type {GpuProcess} from '../../core/model/types.js';

/** Outcome of a tool. `exitCode` is undefined if a signal ended it. */
export type ToolOutcome = {
	readonly stdout: string;
	readonly stderr: string;
	readonly exitCode?: number;
	readonly signal?: string;
	readonly failure?: 'not-found' | 'not-executable' | 'timed-out' | 'too-much-output' | 'aborted' | 'failed';
	readonly detail?: string;
	/** Set if the tool survived SIGKILL. Resolves when it has ended. */
	readonly ended?: Promise<void>;
};

/** Whether the tool ran to its end. An incomplete output may end amid a number. */
export const isComplete = ({failure, exitCode}: ToolOutcome): boolean =>
	failure === undefined && exitCode !== undefined;

/** Runs a tool of the driver. Never rejects, and ends within the timeout plus the time to kill. */
export type RunTool = (
	command: string,
	args: readonly string[],
	options: {
		/** Infinite for a tool that runs until `signal` is aborted. */
		readonly timeoutMs: number;
		readonly maxBytes?: number;
		readonly signal?: AbortSignal;
		/** Called with each part of stdout as it arrives. The outcome then has no stdout. */
		readonly onText?: (text: string) => void;
	},
) => Promise<ToolOutcome>;

export type HostDetails = Omit<GpuProcess, 'pid' | 'memoryUsedMiB' | 'utilizationPercent' | 'kind'>;

/** Returns the machine's facts about processes: owner, name, command line, start. Omits unknown processes. Never rejects. */
export type DescribeProcesses = (pids: Iterable<number>) => Promise<ReadonlyMap<number, HostDetails>>;
