import type {GpuReading, Observation} from '../../core/model/observation.js';
import {addProblems} from '../health.js';
import type {RunTool} from '../tool/tool.js';
import type {LoggedProblems} from './problems/kernel-log.js';
import {createLogReader} from './problems/log-reader.js';
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

/** Adds the logged problems to the readings. `problems` is undefined if the log could not be read. */
export const withLogged = (gpus: readonly GpuReading[], problems: LoggedProblems | undefined): ReadGpus =>
	problems === undefined
		? {gpus, lacksKernelLog: true}
		: {gpus: gpus.map((gpu) => addProblems(gpu, problems.get(gpu.pciBusId ?? '')))};

export const createSlowReadings = ({run, monotonicMs, timeLimitMs, uptimeSeconds, details}: Options): SlowReadings => {
	const readLog = createLogReader({run, monotonicMs, uptimeSeconds});
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
