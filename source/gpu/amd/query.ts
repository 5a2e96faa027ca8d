import {parseToolJson, type ToolJson} from '../tool/json.js';
import type {HangWatch} from '../tool/hang-watch.js';
import {isComplete, type RunTool, type ToolOutcome} from '../tool/tool.js';

type Options = {
	readonly run: RunTool;
	readonly command: string;
	readonly monotonicMs: () => number;
	readonly signal: AbortSignal;
	readonly hangs: HangWatch;
};

/** The answer of a tool. `json` is undefined if the answer was incomplete. */
export type Answer = {readonly outcome: ToolOutcome; readonly json?: ToolJson};

/** Asks the tool. `deadlineMs` is a time of the monotonic clock. */
export type Ask = (deadlineMs: number) => Promise<Answer>;

const maxBytes = 16 * 1024 * 1024;

const refusal =
	/unrecognized arguments|invalid choice|(?:command|parameter|argument|option)\W.+(?:invalid|not supported|not recognized)|^usage: /imv;

/** Creates a query from alternative arguments, the best first. Arguments that this version of the tool rejects are not used again. */
export const createQuestion = (
	{run, command, monotonicMs, signal, hangs}: Options,
	wordings: ReadonlyArray<readonly string[]>,
): Ask => {
	let best = 0;

	return async (deadlineMs) => {
		for (let position = best; ; position++) {
			const startedAtMs = monotonicMs();
			const timeoutMs = Math.max(1, deadlineMs - startedAtMs);
			const outcome = await run(command, wordings[position] ?? [], {timeoutMs, maxBytes, signal});
			hangs.note(outcome, startedAtMs);
			const json = isComplete(outcome) ? parseToolJson(outcome.stdout) : undefined;
			const isRefused =
				isComplete(outcome) && outcome.exitCode !== 0 && refusal.test(`${outcome.stdout}\n${outcome.stderr}`);
			if (!isRefused || position + 1 >= wordings.length) {
				best = isRefused ? best : position;
				return {outcome, json};
			}
		}
	};
};
