import type {HealthProblem} from '../../../core/model/observation.js';
import {isComplete, type RunTool} from '../../tool/tool.js';
import {judgeXids, parseXids} from './xids.js';

type Options = {
	readonly run: RunTool;
	readonly signal: AbortSignal;
	/** Of each way to the log. */
	readonly timeoutMs?: number;
};

/** A line of some hundred bytes for each event, and the ring of the kernel is rarely larger. */
const maxBytes = 8 * 1024 * 1024;

/** Either may be closed to this account. The second tells only what the driver wrote. */
const commands = [
	['dmesg', []],
	[
		'journalctl',
		[
			'-k',
			'-b',
			'-q',
			'--no-pager',
			'-o',
			'short-monotonic',
			'-n',
			'2000',
			'--grep',
			'NVRM: (Xid|GPU at|The NVIDIA GPU)',
		],
	],
] as const;

/** The kernel's log since the start of the machine. Undefined where this account may not read it. */
const readKernelLog = async ({run, signal, timeoutMs = 3000}: Options): Promise<string | undefined> => {
	for (const [command, args] of commands) {
		const outcome = await run(command, args, {timeoutMs, maxBytes, signal});
		if (isComplete(outcome) && outcome.exitCode === 0) {
			return outcome.stdout;
		}
	}

	return undefined;
};

/** The log does not tell when a GPU was repaired. */
const longestAgoSeconds = 24 * 3600;

/**
What the kernel's log says against each GPU, by PCI address.

@param uptimeSeconds - Since the start of the machine, as the log counts.
*/
export const readLoggedProblems = async (
	options: Options,
	uptimeSeconds: () => number,
): Promise<ReadonlyMap<string, readonly HealthProblem[]> | undefined> => {
	const log = await readKernelLog(options);
	return log === undefined ? undefined : judgeXids(parseXids(log), uptimeSeconds(), longestAgoSeconds);
};
