import type {GpuReading, HealthProblem, Observation} from '../../core/model/observation.js';
import {addProblems} from '../health.js';
import type {RunTool} from '../tool/tool.js';
import {readLoggedProblems} from './problems/kernel-log.js';
import {addDetailedHealth, askDetails, attachParts} from './details.js';

/** Additional queries, which are slow on large machines: none, MIG instances only, or all. */
export type WantedDetails = 'none' | 'parts' | 'all';

/** Readings with the problems that the kernel's log shows, if the log could be read. */
export type ReadGpus = Pick<Observation, 'gpus' | 'lacksKernelLog'>;

export type SlowReadings = {
	/** Starts to read. Returns a function that adds available results to the readings. While a run of the tool `isHanging`, starts no other run. */
	readonly begin: (scan: {
		readonly command: string;
		readonly signal: AbortSignal;
		readonly isHanging: () => boolean;
	}) => (gpus: readonly GpuReading[]) => Promise<ReadGpus>;
};

type Options = {
	readonly run: RunTool;
	readonly monotonicMs: () => number;
	readonly timeLimitMs: () => number;
	readonly uptimeSeconds: () => number;
	readonly details: WantedDetails;
};

type LoggedProblems = ReadonlyMap<string, readonly HealthProblem[]>;

/** Adds the logged problems to the readings. `problems` is undefined if the log could not be read. */
export const withLogged = (gpus: readonly GpuReading[], problems: LoggedProblems | undefined): ReadGpus =>
	problems === undefined
		? {gpus, lacksKernelLog: true}
		: {gpus: gpus.map((gpu) => addProblems(gpu, problems.get(gpu.pciBusId ?? '')))};

/** Reading the log usually takes milliseconds, but more than two seconds on a very busy machine. A lower limit would hide broken GPUs. */
const logTimeoutMs = 5000;

/** Minimum interval between reads of the log, because waiting requests scan often. Without permission to read the log, the interval is far longer. */
const freshMs = 5000;
const forbiddenMs = 10 * 60_000;

export const createSlowReadings = ({run, monotonicMs, timeLimitMs, uptimeSeconds, details}: Options): SlowReadings => {
	let known: {readonly problems?: LoggedProblems; readonly untilMs: number} | undefined;

	const readLog = async (signal: AbortSignal) => {
		if (known === undefined || monotonicMs() >= known.untilMs) {
			const problems = await readLoggedProblems({run, signal, timeoutMs: logTimeoutMs}, uptimeSeconds);
			known = {problems, untilMs: monotonicMs() + (problems === undefined ? forbiddenMs : freshMs)};
		}

		return known.problems;
	};

	return {
		begin({command, signal, isHanging}) {
			const logged = readLog(signal);
			return async (gpus) => {
				const isWanted =
					details === 'all' || (details === 'parts' && gpus.some(({isMigEnabled}) => isMigEnabled === true));
				const [problems, slow] = await Promise.all([
					logged,
					isWanted && !isHanging() ? askDetails({run, command, timeoutMs: timeLimitMs(), signal}) : undefined,
				]);
				const detailed = attachParts(gpus, slow);
				return withLogged(
					slow !== undefined && details === 'all' ? addDetailedHealth(detailed, slow) : detailed,
					problems,
				);
			};
		},
	};
};
