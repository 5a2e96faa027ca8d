/** Chooses the host on which to request GPUs, based on the status of all hosts. Each host still decides about its own GPUs. */
import type {Observation} from '../../model/types.js';
import {compareNumbers} from '../allocation/compare-numbers.js';
import {eligibilityOf} from '../allocation/need.js';
import type {Wanted} from '../request/request.js';

export type HostAnswer =
	| {
			readonly host: string;
			readonly observation: Observation;
			/** Seconds until each GPU is free, by index. Absent for a GPU that is out of service, or held for an unknown time. */
			readonly freeInSeconds: ReadonlyMap<number, number>;
			readonly waitingCount: number | undefined;
	  }
	| {readonly host: string; readonly error: string};

type HostChoice =
	| {
			readonly kind: 'chosen';
			readonly host: string;
			readonly freeCount: number;
			/** Seconds until enough GPUs are free, or 0 if they already are. Undefined if unknown. */
			readonly waitSeconds: number | undefined;
			/** Hosts that the user prefers to the chosen one, but that did not answer, in order of preference. */
			readonly unanswered: ReadonlyArray<{readonly host: string; readonly words: string}>;
	  }
	/** None of the hosts that answered can ever serve the request. */
	| {readonly kind: 'none'; readonly reasons: ReadonlyArray<{readonly host: string; readonly reason: HostReason}>};

export type HostReason =
	{readonly kind: 'error'; readonly words: string} | {readonly kind: 'insufficient'; readonly gpuCount: number};

type Chosen = Omit<Extract<HostChoice, {kind: 'chosen'}>, 'unanswered'> & {readonly waitingCount: number};

/** An unknown queue ranks between an empty queue and a queue of one. */
const unknownQueue = 0.5;

function judge({count, ids, need}: Wanted, answer: HostAnswer): Chosen | HostReason {
	if ('error' in answer) {
		return {kind: 'error', words: answer.error};
	}

	const {host, observation, freeInSeconds, waitingCount = unknownQueue} = answer;
	const indexes = observation.gpus.map(({index}) => index);
	const {groups = [indexes], isPossible} = eligibilityOf({count, ids, need}, observation, indexes.length);
	const nodes = new Map(observation.gpus.map(({index, place}) => [index, place?.node]));
	// On a cluster, all GPUs of a request are on one node.
	const waits = groups
		.flatMap((group) =>
			Map.groupBy(ids ?? group, (index) => nodes.get(index))
				.values()
				.toArray(),
		)
		.filter((group) => group.length >= count && group.every((index) => indexes.includes(index)))
		.map((group) => group.map((index) => freeInSeconds.get(index) ?? Infinity).toSorted((a, b) => a - b));
	if (!isPossible || waits.length === 0) {
		return {kind: 'insufficient', gpuCount: indexes.length};
	}

	const waitSeconds = Math.min(...waits.map((group) => group[count - 1]!));
	return {
		kind: 'chosen',
		host,
		freeCount: Math.max(...waits.map((group) => group.filter((seconds) => seconds === 0).length)),
		waitSeconds: Number.isFinite(waitSeconds) ? waitSeconds : undefined,
		waitingCount,
	};
}

/** Returns sort keys for hosts: first those with free GPUs and no queue, then by waiting time and by length of the queue. Unknown times come last. */
const orderOf = ({waitSeconds = Infinity, waitingCount}: Chosen): readonly number[] => [
	waitSeconds === 0 && waitingCount === 0 ? 0 : 1,
	waitSeconds,
	waitingCount,
];

/** Chooses a host for a request. GPU ids in `wanted` are those of the chosen host. `answers` are in order of preference. */
export function chooseHost(wanted: Wanted, answers: readonly HostAnswer[]): HostChoice {
	const judged = answers.map((answer) => ({host: answer.host, judgement: judge(wanted, answer)}));
	const [best] = judged
		.map(({judgement}) => judgement)
		.filter((judgement) => judgement.kind === 'chosen')
		.toSorted((a, b) => compareNumbers(orderOf(a), orderOf(b)));
	if (best !== undefined) {
		const {kind, host, freeCount, waitSeconds} = best;
		const before = judged.slice(
			0,
			judged.findIndex(({judgement}) => judgement === best),
		);
		const unanswered = before.flatMap((each) =>
			each.judgement.kind === 'error' ? [{host: each.host, words: each.judgement.words}] : [],
		);
		return {kind, host, freeCount, waitSeconds, unanswered};
	}

	return {
		kind: 'none',
		reasons: judged.map(({host, judgement}) => ({host, reason: judgement as HostReason})),
	};
}

/** Returns a host with enough free GPUs and no queue. On others, the request would wait again. It now waits on `current`, without holding GPUs. */
export function hostToMoveTo(wanted: Wanted, current: string, answers: readonly HostAnswer[]): string | undefined {
	const others = answers.filter(
		(answer) => answer.host !== current && 'waitingCount' in answer && answer.waitingCount === 0,
	);
	const choice = chooseHost(wanted, others);
	return choice.kind === 'chosen' && choice.waitSeconds === 0 ? choice.host : undefined;
}
