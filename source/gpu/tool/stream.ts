import type {HangWatch} from './hang-watch.js';
import type {RunTool} from './tool.js';

/** Parses text as it arrives. Calls `garbage` for an unusable stream. */
export type StreamReader<Block> = (sink: {
	readonly block: (block: Block) => void;
	readonly garbage: () => void;
}) => (text: string) => void;

/** Splits text into lines as it arrives. A line that never ends is garbage. */
export function readLines(
	{longestLine, garbage}: {readonly longestLine: number; readonly garbage: () => void},
	take: (line: string) => void,
): (text: string) => void {
	let partial = '';
	return (text) => {
		const lines = (partial + text).split('\n');
		partial = lines.pop() ?? '';
		for (const line of lines) {
			take(line);
		}

		if (partial.length > longestLine) {
			garbage();
		}
	};
}

type Options<Block> = {
	readonly run: RunTool;
	readonly command: string;
	readonly args: () => readonly string[];
	readonly createReader: StreamReader<Block>;
	readonly periodMs: number;
	readonly monotonicMs: () => number;
	readonly hangs: HangWatch;
};

export type ToolStream<Block> = {
	/** Returns a recent reading and its time, or undefined without one. Only the second call starts the tool, because a single scan needs no stream. */
	readonly latest: () => Promise<{readonly block: Block; readonly takenAtMs: number} | undefined>;
	readonly close: () => Promise<void>;
};

/** How long a tool may be silent beyond its period. */
const patienceMs = 3000;

/** Maximum age of a returned reading. If the last reading is older, the next reading is awaited. */
const freshMs = 1000;

/** Pause after a failed stream. Grows with each failure. */
const firstRestMs = 60_000;
const longestRestMs = 3_600_000;

type Session<Block> = {
	readonly stop: AbortController;
	readonly ended: Promise<void>;
	lastSignMs: number;
	latest?: {readonly block: Block; readonly takenAtMs: number};
};

/** Keeps one run of a tool that prints readings periodically, instead of running the tool for each reading. */
export const createToolStream = <Block>({
	run,
	command,
	args,
	createReader,
	periodMs,
	monotonicMs,
	hangs,
}: Options<Block>): ToolStream<Block> => {
	let isWanted = false;
	let isClosed = false;
	let session: Session<Block> | undefined;
	let restUntilMs = -Infinity;
	let restMs = firstRestMs;
	let change = Promise.withResolvers<void>();

	const wake = () => {
		change.resolve();
		change = Promise.withResolvers();
	};

	const leave = async (left: Session<Block>): Promise<void> => {
		if (session === left) {
			session = undefined;
			restUntilMs = monotonicMs() + restMs;
			restMs = Math.min(longestRestMs, restMs * 4);
			left.stop.abort();
			wake();
		}

		await left.ended;
	};

	const start = (): Session<Block> => {
		const startedAtMs = monotonicMs();
		const stop = new AbortController();
		const read = createReader({
			block(block) {
				if (session !== opened) {
					return;
				}

				opened.latest = {block, takenAtMs: monotonicMs()};
				opened.lastSignMs = monotonicMs();
				wake();
			},
			garbage() {
				void leave(opened);
			},
		});
		const follow = async () => {
			const outcome = await run(command, args(), {
				timeoutMs: Infinity,
				signal: stop.signal,
				maxBytes: 65_536,
				onText: read,
			});
			hangs.note(outcome, startedAtMs);
		};

		const ended = follow();
		const opened: Session<Block> = {stop, lastSignMs: startedAtMs, ended};
		void ended.then(async () => leave(opened));
		return opened;
	};

	const wait = async (current: Session<Block>): Promise<void> => {
		const {promise} = change;
		const silence = Promise.withResolvers<void>();
		const leftMs = current.lastSignMs + periodMs + patienceMs - monotonicMs();
		const timer = setTimeout(silence.resolve, Math.max(0, leftMs));
		await Promise.race([promise, silence.promise]);
		clearTimeout(timer);
	};

	return {
		async latest() {
			if (!isWanted || isClosed || (session === undefined && monotonicMs() < restUntilMs)) {
				isWanted = true;
				return undefined;
			}

			session ??= start();
			const current = session;
			for (;;) {
				const nowMs = monotonicMs();
				if (session !== current) {
					await current.ended;
					return undefined;
				}

				if (current.latest !== undefined && nowMs - current.latest.takenAtMs <= freshMs) {
					restMs = firstRestMs;
					return current.latest;
				}

				if (nowMs - current.lastSignMs >= periodMs + patienceMs) {
					await leave(current);
					return undefined;
				}

				await wait(current);
			}
		},
		async close() {
			isClosed = true;
			if (session !== undefined) {
				await leave(session);
			}
		},
	};
};
