/** Chooses the host on which to request GPUs, based on the status of all hosts. Each host still decides about its own GPUs. */
import type {OwnLimits} from '../../model/other-hosts.js';
import type {LeaseType, Observation} from '../../model/types.js';
import {compareNumbers} from '../allocation/compare-numbers.js';
import {eligibilityOf} from '../allocation/need.js';
import {isPartOfGpu, type Wanted} from '../request/request.js';

export type HostAnswer =
	| (OwnLimits & {
			readonly host: string;
			readonly observation: Observation;
			/** Seconds until each GPU is free, by index. Absent for a GPU that is out of service, or held for an unknown time. */
			readonly freeInSeconds: ReadonlyMap<number, number>;
			readonly waitingCount: number | undefined;
	  })
	| {readonly host: string; readonly error: string};

export type AskedOfHosts = Wanted & {
	/** Whether the request is for a job or a reservation. A request of unknown type cannot exceed a limit. */
	readonly type?: LeaseType;
	/** The requested time. Absent if the host decides. */
	readonly seconds?: number | undefined;
	/** Whether the request asks for something that other hosts may not offer, which only they can check. */
	readonly isSpecial?: boolean;
};

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
	| {readonly kind: 'error'; readonly words: string}
	| {readonly kind: 'insufficient'; readonly gpuCount: number}
	| {readonly kind: 'over-limit'; readonly mostGpus: number}
	| {readonly kind: 'too-long'; readonly mostSeconds: number};

type Chosen = Omit<Extract<HostChoice, {kind: 'chosen'}>, 'unanswered'> & {readonly waitingCount: number};

/** An unknown queue ranks between an empty queue and a queue of one. */
const unknownQueue = 0.5;

function roomFor({type, need}: AskedOfHosts, {room, waitingCount}: Extract<HostAnswer, {observation: Observation}>) {
	const hasSlack = room?.hasSlack === true && type === 'manual' && !isPartOfGpu(need);
	return {
		most: room === undefined || hasSlack ? Infinity : room.mostGpus,
		left: room === undefined || (hasSlack && waitingCount === 0) ? Infinity : room.leftGpus,
	};
}

function judge(wanted: AskedOfHosts, answer: HostAnswer): Chosen | HostReason {
	const {count, ids, need, seconds: askedSeconds = 0} = wanted;
	if ('error' in answer) {
		return {kind: 'error', words: answer.error};
	}

	const {host, observation, freeInSeconds, waitingCount = unknownQueue, mostSeconds = Infinity} = answer;
	const indexes = observation.gpus.map(({index}) => index);
	// A status does not show the links between GPUs, so the chosen host checks them.
	const {groups = [indexes], isPossible} = eligibilityOf(
		{count, ids, need: {...need, nvlink: undefined}},
		observation,
		indexes.length,
	);
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

	const {most, left} = roomFor(wanted, answer);
	if (count > most) {
		return {kind: 'over-limit', mostGpus: most};
	}

	if (askedSeconds > mostSeconds) {
		return {kind: 'too-long', mostSeconds};
	}

	// Beyond the account's limit, the wait counts as endless, because nobody knows when the account will hold fewer GPUs.
	const waitSeconds = count > left ? Infinity : Math.min(...waits.map((group) => group[count - 1]!));
	return {
		kind: 'chosen',
		host,
		freeCount: Math.min(left, Math.max(...waits.map((group) => group.filter((seconds) => seconds === 0).length))),
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

/** Chooses a host. `answers` are in order of preference. GPU ids in `wanted` mean the GPUs with these ids on whichever host is chosen. */
export function chooseHost(wanted: AskedOfHosts, answers: readonly HostAnswer[]): HostChoice {
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

/**
Returns a host with enough free GPUs and no queue, for a request that holds no GPUs on `current`. On a host with a queue, the request would wait
again. A special request, or one for linked GPUs, does not move, because the other host may refuse it.
*/
export function hostToMoveTo(
	wanted: AskedOfHosts,
	current: string,
	answers: readonly HostAnswer[],
): string | undefined {
	if (wanted.isSpecial === true || (wanted.need?.nvlink === true && wanted.count > 1)) {
		return undefined;
	}

	const others = answers.filter(
		(answer) => answer.host !== current && 'waitingCount' in answer && answer.waitingCount === 0,
	);
	const choice = chooseHost(wanted, others);
	return choice.kind === 'chosen' && choice.waitSeconds === 0 ? choice.host : undefined;
}
