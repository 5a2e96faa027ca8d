import type {RunTool, ToolOutcome} from './tool.js';

/** Keeps count of runs of a tool that outlived SIGKILL. A driver that hangs is not helped by more callers, who would hang as well. */
export type HangWatch = {
	/** Notes what came of a run that was started then. */
	readonly note: (outcome: ToolOutcome, startedAtMs: number) => void;
	/** When the first of those that still hang was started. Undefined when none does. */
	readonly sinceMs: () => number | undefined;
};

/** Creates a watch for one driver. */
export const createHangWatch = (): HangWatch => {
	const hanging = new Set<Promise<void>>();
	let firstStartedAtMs = 0;

	return {
		note({ended}, startedAtMs) {
			if (ended === undefined) {
				return;
			}

			firstStartedAtMs = hanging.size === 0 ? startedAtMs : firstStartedAtMs;
			hanging.add(ended);
			void ended.then(() => hanging.delete(ended));
		},
		sinceMs: () => (hanging.size === 0 ? undefined : firstStartedAtMs),
	};
};

/** Runs tools, and notes those that hang. */
export const watchRuns =
	(run: RunTool, hangs: HangWatch, monotonicMs: () => number): RunTool =>
	async (...call) => {
		const startedAtMs = monotonicMs();
		const outcome = await run(...call);
		hangs.note(outcome, startedAtMs);
		return outcome;
	};
