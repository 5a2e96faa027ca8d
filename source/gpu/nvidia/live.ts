/** Reads NVIDIA GPUs continuously, with long-running processes of nvidia-smi or of the driver's library. Other facts are queried rarely. */
import type {GpuReading} from '../../core/model/types.js';
import type {ToolCall} from '../tool/early-tool.js';
import {watchRuns, type HangWatch} from '../tool/hang-watch.js';
import type {RunTool} from '../tool/tool.js';
import {createToolStream, readLines, type StreamReader, type ToolStream} from '../tool/stream.js';
import {createLogReader} from './problems/log-reader.js';
import {askDetails, attachParts} from './details.js';
import {withLogged, type ReadGpus} from './slow-readings.js';
import {parseGpuTable, type GpuTable} from './gpus.js';
import {readScans, type WholeScan} from './nvml/lines.js';

/** Sources that are faster than a run of the tool, the best first. If all fail, the tool is run. */
type Sources = {
	readonly whole?: ToolStream<WholeScan>;
	readonly table?: ToolStream<GpuTable>;
	/** Adds facts that are read in the background, and rarely. Never waits. */
	readonly enrich: (gpus: readonly GpuReading[]) => ReadGpus;
	readonly close: () => Promise<void>;
};

export type CreateSources = (provider: {
	readonly command: string;
	readonly hangs: HangWatch;
	/** Arguments of the table query, without refused fields. */
	readonly tableArguments: () => readonly string[];
	/** Number of GPUs in the tool's last run. */
	readonly gpuCount: () => number | undefined;
}) => Sources;

/** Limit for a line, far longer than any line of the largest machine. */
const longestLine = 1024 * 1024;

/**
Reads `nvidia-smi --query-gpu=index,... --format=csv,nounits -l N`: a header, then a row for each GPU every N seconds. Nothing separates two tables,
so the number of rows must be known from the last single run. A table of another size or with a broken GPU is rejected. Then the tool is run once,
because on some machines the loop fails while single runs work.
*/
export const tableReader =
	(gpuCount: () => number | undefined): StreamReader<GpuTable> =>
	({block, garbage}) => {
		const size = gpuCount() ?? 0;
		let header: string | undefined;
		let rows: string[] = [];

		const finish = () => {
			const table = parseGpuTable([header, ...rows].join('\n'), '');
			rows = [];
			if (table?.gpus.length === size && isSound(table)) {
				block(table);
			} else {
				garbage();
			}
		};

		return readLines({longestLine, garbage}, (raw) => {
			const line = raw.trim();
			if (line === '' || line === header) {
				return;
			}

			if (header === undefined) {
				header = line;
				return;
			}

			rows.push(line);
			if (rows.length >= size) {
				finish();
			}
		});
	};

const isSound = ({gpus, remarks}: GpuTable): boolean =>
	remarks.length === 0 && gpus.every(({failure}) => failure === undefined);

const minuteMs = 60_000;

type CacheOptions<Value> = {
	/** Runs the query. Never rejects. Undefined if nothing was found. */
	readonly ask: () => Promise<Value | undefined>;
	readonly monotonicMs: () => number;
};

/** Caches the last answer to a query that runs in the background, at most once a minute and once at a time. Callers never wait. */
const createCachedValue = <Value>({ask, monotonicMs}: CacheOptions<Value>) => {
	let value: Value | undefined;
	let isAsking = false;
	let nextMs = -Infinity;

	const refresh = async () => {
		isAsking = true;
		value = await ask();
		nextMs = monotonicMs() + minuteMs;
		isAsking = false;
	};

	return (): Value | undefined => {
		if (!isAsking && monotonicMs() >= nextMs) {
			void refresh();
		}

		return value;
	};
};

type Options = {
	readonly run: RunTool;
	readonly monotonicMs: () => number;
	readonly timeLimitMs: () => number;
	readonly intervalMs: number;
	/** Returns the seconds since boot, as used in the kernel's log. */
	readonly uptimeSeconds: () => number;
	/** Command that prints a line for each scan with the driver's library. The interval in milliseconds is appended. */
	readonly library?: ToolCall;
};

/** Longest interval between readings, because a requested scan waits for the next reading. */
const longestPeriodMs = 2000;

export const createLiveSources =
	({run, monotonicMs, timeLimitMs, intervalMs, uptimeSeconds, library}: Options): CreateSources =>
	({command, hangs, tableArguments, gpuCount}) => {
		const closing = new AbortController();
		const {signal} = closing;
		const periodMs = Math.min(intervalMs, longestPeriodMs);
		const periodSeconds = Math.max(1, Math.floor(periodMs / 1000));
		const table = createToolStream({
			run,
			command,
			args: () => [...tableArguments(), '-l', String(periodSeconds)],
			createReader: tableReader(gpuCount),
			periodMs: periodSeconds * 1000,
			monotonicMs,
			hangs,
		});
		const whole =
			library &&
			createToolStream({
				run,
				command: library.command,
				args: () => [...library.args, String(periodMs)],
				createReader: readScans,
				periodMs,
				monotonicMs,
				hangs,
			});

		const runNoted = watchRuns(run, hangs, monotonicMs);
		const currentDetails = createCachedValue({
			ask: async () =>
				hangs.sinceMs() === undefined
					? askDetails({run: runNoted, command, timeoutMs: timeLimitMs(), signal})
					: undefined,
			monotonicMs,
		});
		const readLog = createLogReader({run, monotonicMs, uptimeSeconds});
		const currentProblems = createCachedValue({
			ask: async () => readLog(signal),
			monotonicMs,
		});

		return {
			whole,
			table,
			enrich(gpus) {
				const hasUnknownParts = gpus.some((gpu) => gpu.isMigEnabled === true && gpu.migInstances === undefined);
				return withLogged(attachParts(gpus, hasUnknownParts ? currentDetails() : undefined), currentProblems());
			},
			async close() {
				closing.abort();
				await Promise.all([whole?.close(), table.close()]);
			},
		};
	};
