import type {RunTool} from '../../tool/tool.js';
import {readLoggedProblems, type LoggedProblems} from './kernel-log.js';

type Options = {
	readonly run: RunTool;
	readonly monotonicMs: () => number;
	/** Returns the seconds since boot, as used in the log. */
	readonly uptimeSeconds: () => number;
};

/** Reading the log usually takes milliseconds, but more than two seconds on a very busy machine. A lower limit would hide broken GPUs. */
const timeoutMs = 5000;

/** Minimum interval between two reads, because waiting requests scan often. */
const freshMs = 5000;

/** Minimum interval after a read that took too long, so that it does not delay every scan. */
const slowMs = 60_000;

/** Minimum interval after a read that was not permitted, because the account is unlikely to get the permission soon. */
const forbiddenMs = 10 * 60_000;

/**
Returns a function that reads the problems in the kernel's log, or returns those of the last read while they are recent. It never rejects. Undefined if
the log was never read. If a read takes too long, the problems that are known remain.
*/
export const createLogReader = ({run, monotonicMs, uptimeSeconds}: Options) => {
	let known: {readonly problems?: LoggedProblems; readonly untilMs: number} | undefined;

	return async (signal: AbortSignal): Promise<LoggedProblems | undefined> => {
		if (known !== undefined && monotonicMs() < known.untilMs) {
			return known.problems;
		}

		const read = await readLoggedProblems({run, signal, timeoutMs}, uptimeSeconds);
		if (signal.aborted) {
			return known?.problems;
		}

		const now = monotonicMs();
		if (read === 'forbidden') {
			known = {untilMs: now + forbiddenMs};
		} else if (read === 'too-slow') {
			known = {problems: known?.problems, untilMs: now + slowMs};
		} else {
			known = {problems: read, untilMs: now + freshMs};
		}

		return known.problems;
	};
};
