import type {ToolCall} from '../tool/early-tool.js';
import {addProblems} from '../health.js';
import {watchRuns} from '../tool/hang-watch.js';
import {createCachedValue} from '../tool/cached-value.js';
import type {RunTool} from '../tool/tool.js';
import {createToolStream} from '../tool/stream.js';
import {readLoggedProblems} from './problems/kernel-log.js';
import {askDetails, attachParts} from './details.js';
import type {CreateSources} from './sources.js';
import {tableReader} from './stream.js';
import {readScans} from './nvml/lines.js';

type Options = {
	readonly run: RunTool;
	readonly monotonicMs: () => number;
	/** Of one scan of the GPUs. */
	readonly timeLimitMs: () => number;
	/** Between two scans. */
	readonly intervalMs: number;
	/** Since the start of the machine, as the kernel's log counts. */
	readonly uptimeSeconds: () => number;
	/** What prints scans by way of the driver's library, a line each; the milliseconds between two are the last argument. */
	readonly library?: ToolCall;
};

/** Who asks out of turn waits for the next reading. */
const longestPeriodMs = 2000;

const minuteMs = 60_000;

/** Who may not read the kernel's log will hardly be allowed to soon. */
const forbiddenLogMs = 10 * minuteMs;

/**
For a caller that scans NVIDIA GPUs again and again: one run of nvidia-smi that goes on, and now and then a query of what changes rarely.
*/
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

		const runNoted = watchRuns(run, hangs, monotonicMs);

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

		const details = createCachedValue({
			async ask() {
				return hangs.sinceMs() === undefined
					? askDetails({run: runNoted, command, timeoutMs: timeLimitMs(), signal})
					: undefined;
			},
			everyMs: minuteMs,
			retryMs: minuteMs,
			monotonicMs,
		});
		const xids = createCachedValue({
			async ask() {
				return readLoggedProblems({run, signal}, uptimeSeconds);
			},
			everyMs: minuteMs,
			retryMs: forbiddenLogMs,
			monotonicMs,
		});

		return {
			whole,
			table,
			enrich(gpus) {
				const hasUnknownParts = gpus.some((gpu) => gpu.isMigEnabled === true && gpu.migInstances === undefined);
				const problems = xids.current();
				return attachParts(gpus, hasUnknownParts ? details.current() : undefined).map((gpu) =>
					addProblems(gpu, problems?.get(gpu.pciBusId ?? '')),
				);
			},
			async close() {
				closing.abort();
				await Promise.all([whole?.close(), table.close()]);
			},
		};
	};
