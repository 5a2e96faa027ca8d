import type {RunTool, ToolOutcome} from './tool.js';

/** Tracks runs of a tool that survived SIGKILL. If the driver hangs, further runs would hang as well. */
export type HangWatch = {
	readonly note: (outcome: ToolOutcome, startedAtMs: number) => void;
	/** The start of the earliest run that still hangs. Undefined if there is none. */
	readonly sinceMs: () => number | undefined;
};

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

export const watchRuns =
	(run: RunTool, hangs: HangWatch, monotonicMs: () => number): RunTool =>
	async (...call) => {
		const startedAtMs = monotonicMs();
		const outcome = await run(...call);
		hangs.note(outcome, startedAtMs);
		return outcome;
	};
