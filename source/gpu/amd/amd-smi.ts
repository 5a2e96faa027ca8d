import type {BareReading} from '../reading.js';
import type {Failure} from '../tool/failures.js';
import {linesOf} from '../tool/json.js';
import {isComplete} from '../tool/tool.js';
import {explainAmdFailure, errorText, processesWarning} from './failures.js';
import {readDriverVersion, integratedGpus, readGpus} from './gpus.js';
import {entriesByGpu, type JsonObject} from './json.js';
import {numbersForPrograms} from './order.js';
import {placeProcesses, type ProcessesByGpu, readProcesses} from './processes.js';
import type {Answer, Ask} from './query.js';

export type AmdScan =
	| {
			readonly gpus: readonly BareReading[];
			readonly processes: ProcessesByGpu | undefined;
			/** Maps the tool's GPU numbers to the indices that programs use. */
			readonly numbers: ReadonlyMap<number, number>;
			readonly driverVersion?: string;
			readonly warnings: readonly string[];
	  }
	| {readonly failure: Failure; readonly isMissing: boolean};

export type ScanOptions = {
	readonly command: string;
	/** Creates a query from alternative arguments of the tool, tried in this order. */
	readonly question: (...wordings: ReadonlyArray<readonly string[]>) => Ask;
	readonly monotonicMs: () => number;
};

/** Facts about the GPUs are read again after this time, because a GPU may have been replaced. Failed reads are repeated sooner. */
const refreshAfterMs = 10 * 60_000;
const retryAfterMs = 60_000;

type Fixed = {
	readonly fixed: ReadonlyMap<number, JsonObject>;
	readonly list: ReadonlyMap<number, JsonObject>;
	readonly staleAtMs: number;
};

const missingGroups = /missing the following required groups/iv;

/** Creates a function that scans with amd-smi. Each scan reads measurements and processes in parallel. Some scans also read names and limits. */
export const createAmdSmi = ({command, question, monotonicMs}: ScanOptions) => {
	const measured = ['--usage', '--mem-usage', '--power', '--clock', '--temperature', '--ecc', '--fan'];
	const askMetric = question(
		['metric', ...measured, '--json'],
		// The second choice reads all values, because ROCm 5.7 has another name for memory, and virtual machines have fewer sensors.
		['metric', '--json'],
	);
	const askProcesses = question(['process', '--json']);
	const askStatic = question(
		['static', '--asic', '--bus', '--limit', '--driver', '--vram', '--json'],
		['static', '--json'],
	);
	const askList = question(['list', '--json']);
	let known: Fixed | undefined;

	/** Queries each GPU alone. Needed if one broken GPU makes the answer for all GPUs unusable. */
	const askEach = async (
		indices: Iterable<number>,
		{deadlineMs, timeoutMs}: {readonly deadlineMs: number; readonly timeoutMs: number},
	) => {
		const metric = new Map<number, JsonObject>();
		const failures = new Map<number, string>();
		await Promise.all(
			[...indices].map(async (index) => {
				const answer = await question(['metric', '--gpu', String(index), '--json'])(deadlineMs);
				const entry = entriesOf(answer)?.get(index);
				if (entry === undefined) {
					failures.set(
						index,
						errorText(answer.outcome) ?? explainAmdFailure(answer.outcome, command, timeoutMs).message,
					);
				} else {
					metric.set(index, entry);
				}
			}),
		);
		return {metric, failures};
	};

	const askFixed = async (nowMs: number, deadlineMs: number): Promise<Fixed> => {
		if (known !== undefined && nowMs < known.staleAtMs) {
			return known;
		}

		const [fixed, list] = await Promise.all([askStatic(deadlineMs), askList(deadlineMs)]);
		const isWhole = entriesOf(fixed) !== undefined && entriesOf(list) !== undefined;
		known = {
			fixed: entriesOf(fixed) ?? none,
			// A failed list keeps the last good one. Otherwise, the readings would move to other GPUs.
			list: entriesOf(list) ?? known?.list ?? none,
			staleAtMs: nowMs + (isWhole ? refreshAfterMs : retryAfterMs),
		};
		return known;
	};

	/** Returns a list with every measured GPU, or the failure of the scan. A single GPU needs no list, because it has only one number. */
	const completeList = async (
		metric: ReadonlyMap<number, JsonObject>,
		listed: Fixed,
		{startedAtMs, timeoutMs}: {readonly startedAtMs: number; readonly timeoutMs: number},
	): Promise<{readonly list: Fixed['list']} | {readonly failure: Failure}> => {
		const lacksGpu = (list: Fixed['list']): boolean => metric.keys().some((index) => !list.has(index));
		if (!lacksGpu(listed.list)) {
			return {list: listed.list};
		}

		const isSingle = metric.size === 1 && listed.list.size === 0;
		const answer = isSingle ? undefined : await askList(startedAtMs + timeoutMs);
		const list = (answer && entriesOf(answer)) ?? listed.list;
		// A GPU that was missing is back, so its name must be read soon.
		known = {...listed, list, staleAtMs: Math.min(listed.staleAtMs, startedAtMs + retryAfterMs)};
		return answer === undefined || !lacksGpu(list)
			? {list}
			: {failure: explainUnknownOrder(answer, command, timeoutMs)};
	};

	return async (timeoutMs: number): Promise<AmdScan> => {
		const startedAtMs = monotonicMs();
		const deadlineMs = startedAtMs + timeoutMs;
		const [metricAnswer, processAnswer, facts] = await Promise.all([
			askMetric(deadlineMs),
			askProcesses(deadlineMs),
			askFixed(startedAtMs, deadlineMs),
		]);
		const all = entriesOf(metricAnswer) ?? none;
		const isSpoiled = all.size === 0 && isComplete(metricAnswer.outcome) && facts.list.size > 1;
		const {metric, failures} = isSpoiled
			? await askEach(facts.list.keys(), {deadlineMs, timeoutMs})
			: {metric: all, failures: undefined};
		if (metric.size === 0) {
			const {failure} = metricAnswer.outcome;
			return {failure: explainAmdFailure(metricAnswer.outcome, command, timeoutMs), isMissing: failure === 'not-found'};
		}

		const listing = await completeList(metric, facts, {startedAtMs, timeoutMs});
		if ('failure' in listing) {
			return {failure: listing.failure, isMissing: false};
		}

		const {fixed} = facts;
		const {list} = listing;
		const gpus = readGpus({metric, fixed, list, failures});
		const {processes, warnings} = readProcessAnswer(processAnswer, {
			command,
			timeoutMs,
			integrated: integratedGpus({metric, fixed}),
		});
		return {
			gpus,
			driverVersion: readDriverVersion(fixed),
			processes: processes && placeProcesses(gpus, processes),
			numbers: numbersForPrograms(
				gpus.map(({index}) => index),
				list,
			),
			warnings: [
				// The spoiled answer is already reported as the failure of the broken GPU.
				...(isSpoiled ? [] : remarksOf(metricAnswer, command, gpus)),
				...warnings,
			],
		};
	};
};

const none: ReadonlyMap<number, JsonObject> = new Map();

type ProcessOptions = Pick<ScanOptions, 'command'> & {
	readonly timeoutMs: number;
	readonly integrated: ReadonlySet<number>;
};

const readProcessAnswer = (answer: Answer, {command, timeoutMs, integrated}: ProcessOptions) => {
	const remarks = answer.json?.remarks ?? [];
	const entries = entriesOf(answer);
	const doubt = [...remarks, ...linesOf(answer.outcome.stderr)].find((line) => missingGroups.test(line));
	return entries === undefined
		? {processes: undefined, warnings: [processesWarning(answer.outcome, command, timeoutMs)]}
		: {processes: readProcesses(entries, integrated, doubt), warnings: remarks};
};

/** Explains that the numbers that programs use for several GPUs are unknown. */
const explainUnknownOrder = (answer: Answer, command: string, timeoutMs: number): Failure => ({
	message: `\`${command} list\` does not name every GPU, so it is unknown which readings belong to which GPU.`,
	hint:
		entriesOf(answer) === undefined
			? `It failed: ${explainAmdFailure(answer.outcome, command, timeoutMs).message}`
			: 'Run it to see which GPUs it lists.',
});

const entriesOf = ({json}: Answer) => entriesByGpu(json?.documents);

const remarksOf = ({json, outcome}: Answer, command: string, gpus: readonly BareReading[]): readonly string[] => [
	...(json?.remarks ?? []),
	...linesOf(outcome.stderr),
	...(outcome.exitCode === 0 || gpus.some(({failure}) => failure !== undefined)
		? []
		: [`${command} printed a complete answer, but exited with ${outcome.exitCode}.`]),
];
