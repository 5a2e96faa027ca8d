import type {RunTool, ToolOutcome} from './tool.js';

export type ToolCall = {readonly command: string; readonly args: readonly string[]};

export type EarlyRuns = {
	/** Runs a tool. If the same call was started early, the first run takes over that early run. Further runs start the tool again. */
	readonly run: RunTool;
	readonly stop: () => void;
};

type Early = {
	readonly outcome: Promise<ToolOutcome>;
	readonly stop: AbortController;
	endedAtMs?: number;
};

/** A run that is not taken over within this time is ended. */
const longestWaitMs = 60_000;

/** If the early run ended longer ago than this, the tool is run again. */
const stalestMs = 1000;

const maxBytes = 4 * 1024 * 1024;

/** Starts tools before it is known whether they are needed and how long they may take, because they are the slowest part of most commands. */
export const startEarly = (run: RunTool, calls: readonly ToolCall[], monotonicMs: () => number): EarlyRuns => {
	const pending = new Map(
		calls.map(({command, args}) => {
			const stop = new AbortController();
			const outcome = run(command, args, {timeoutMs: longestWaitMs, maxBytes, signal: stop.signal});
			const early: Early = {outcome, stop};
			void outcome.then(() => {
				early.endedAtMs = monotonicMs();
			});
			return [nameOf({command, args}), early];
		}),
	);

	return {
		async run(command, args, options) {
			const name = nameOf({command, args});
			const early = pending.get(name);
			pending.delete(name);
			return early === undefined || monotonicMs() - (early.endedAtMs ?? Infinity) > stalestMs
				? run(command, args, options)
				: takeOver(early, options);
		},
		stop() {
			for (const {stop} of pending.values()) {
				stop.abort();
			}

			pending.clear();
		},
	};
};

const nameOf = ({command, args}: ToolCall): string => JSON.stringify([command, ...args]);

const takeOver = async ({outcome, stop}: Early, {timeoutMs, signal}: Parameters<RunTool>[2]): Promise<ToolOutcome> => {
	let isLate = false;
	const timer = setTimeout(() => {
		isLate = true;
		stop.abort();
	}, timeoutMs);
	const abort = () => {
		stop.abort();
	};

	signal?.addEventListener('abort', abort);
	if (signal?.aborted === true) {
		abort();
	}

	try {
		const seen = await outcome;
		return isLate && seen.failure === 'aborted' ? {...seen, failure: 'timed-out'} : seen;
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener('abort', abort);
	}
};
