/** Which of several boxes serves a request first, by what each of them tells of its GPUs. Each box stays the sole judge of its own. */
import type {Observation} from '../../model/types.js';
import {compareNumbers} from '../allocation/compare-numbers.js';
import {eligibilityOf} from '../allocation/need.js';
import type {Wanted} from '../request/request.js';

/** What one box says. */
export type HostAnswer =
	| {
			readonly host: string;
			/** Its GPUs as far as it tells of them. */
			readonly observation: Observation;
			/** By GPU: seconds until it is free at the latest, 0 for one that is. Absent for a GPU of which no one knows when, or that is out of service. */
			readonly freeInSeconds: ReadonlyMap<number, number>;
			/** How many wait there. Undefined: it does not tell. */
			readonly waitingCount: number | undefined;
	  }
	/** In words: it does not answer, or refuses. */
	| {readonly host: string; readonly error: string};

type HostChoice =
	| {
			readonly kind: 'chosen';
			readonly host: string;
			/** How many GPUs that can serve the request are free there now. */
			readonly freeCount: number;
			/** Seconds until there are enough, 0 for now. Undefined: no one knows. */
			readonly waitSeconds: number | undefined;
			/** The boxes before it, in the order of preference, of which nothing is known: why, in words. */
			readonly unanswered: ReadonlyArray<{readonly host: string; readonly words: string}>;
	  }
	/** No box can ever serve it, as far as they answer: why, in the order in which they were asked. */
	| {readonly kind: 'none'; readonly reasons: ReadonlyArray<{readonly host: string; readonly reason: HostReason}>};

export type HostReason =
	{readonly kind: 'error'; readonly words: string} | {readonly kind: 'insufficient'; readonly gpuCount: number};

type Chosen = Omit<Extract<HostChoice, {kind: 'chosen'}>, 'unanswered'> & {readonly waitingCount: number};

/** A queue that was not told comes behind one that is known to be empty, and before one in which somebody waits. */
const unknownQueue = 0.5;

function judge({count, ids, need}: Wanted, answer: HostAnswer): Chosen | HostReason {
	if ('error' in answer) {
		return {kind: 'error', words: answer.error};
	}

	const {host, observation, freeInSeconds, waitingCount = unknownQueue} = answer;
	const indexes = observation.gpus.map(({index}) => index);
	const {groups = [indexes], isPossible} = eligibilityOf({count, ids, need}, observation, indexes.length);
	const nodes = new Map(observation.gpus.map(({index, place}) => [index, place?.node]));
	// Of a cluster all GPUs of a request are on one node.
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

/** Where no one waits before others, then the sooner, then the shorter queue; a wait that no one knows comes last. */
const orderOf = ({waitSeconds = Infinity, waitingCount}: Chosen): readonly number[] => [
	waitSeconds === 0 && waitingCount === 0 ? 0 : 1,
	waitSeconds,
	waitingCount,
];

/**
@param wanted - What is asked for; its ids count on whatever box it is.
@param answers - In the order of preference: of equals the first is chosen.
*/
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

/**
Whether a request that waits on one box, and holds nothing there, is served at once on another: enough GPUs are free there, and no one waits.
Anything less would cost it the position that it has.

@param wanted - As in {@link chooseHost}.
@param current - The box on which it waits.
*/
export function hostToMoveTo(wanted: Wanted, current: string, answers: readonly HostAnswer[]): string | undefined {
	const others = answers.filter(
		(answer) => answer.host !== current && 'waitingCount' in answer && answer.waitingCount === 0,
	);
	const choice = chooseHost(wanted, others);
	return choice.kind === 'chosen' && choice.waitSeconds === 0 ? choice.host : undefined;
}
