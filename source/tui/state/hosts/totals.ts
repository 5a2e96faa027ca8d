/** Totals over the GPUs of all hosts. */
import type {FreeGpus} from '../../../core/rules/pool/status.js';
import {freeAmong} from '../../../format/free-gpus.js';
import {remembering} from '../memo.js';
import type {State} from '../state.js';
import {isOwnLast, allHostLines} from './lines.js';

export type HostTotals = {
	/** The free GPUs of hosts that answer. Like all totals, excludes hosts that do not answer, whose values may be outdated. */
	readonly free: FreeGpus;
	readonly mine: number;
	readonly others: number;
	readonly unreserved: number;
	readonly drained: number;
	readonly errors: number;
	/** The number of GPUs of hosts that answer. */
	readonly gpuCount: number;
	/** The mean utilization, from 0 to 1. Undefined if no GPU reports it. */
	readonly utilization: number | undefined;
	/** The sum of the memory in use, for GPUs whose total memory is known. */
	readonly memoryUsedMiB: number;
	/** The sum of the total memory. 0 if no GPU reports it. */
	readonly memoryTotalMiB: number;
	readonly answering: number;
	readonly asking: number;
	readonly failing: number;
	/** The number of waiting requests of all hosts that report it. */
	readonly waiting: number;
};

/** Returns the names of all hosts. Includes this host if it has a pool. */
export const hostNamesOf = ({settings}: State): readonly string[] => [
	...(settings.hasNoPool === true ? [] : [settings.hostname]),
	...(settings.otherHosts ?? []),
];

export const hostTotals = remembering(
	(state: State) => [allHostLines(state), state.seenHosts, state.snapshot?.queue, state.connection.kind],
	(state): HostTotals => {
		const lines = allHostLines(state)
			.filter((line) => line.kind === 'gpu')
			.filter(({isLast}) => !isLast);
		const count = (...wanted: ReadonlyArray<(typeof lines)[number]['state']>): number =>
			lines.filter(({state: each}) => wanted.includes(each)).length;
		const percents = lines.flatMap(({gpu}) => gpu.utilization ?? []);
		const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
		const known = state.seenHosts;
		const isOwnFailing = state.settings.hasNoPool !== true && isOwnLast(state);
		const failing = known.filter(({answer}) => 'error' in answer).length + Number(isOwnFailing);
		const names = hostNamesOf(state).length;
		const asking = (state.settings.otherHosts?.length ?? 0) - known.length;
		return {
			free: freeAmong(lines.flatMap((line) => (line.state === 'available' ? line.gpu : []))),
			mine: count('mine'),
			others: count('in-use', 'idle', 'waiting'),
			unreserved: count('unreserved'),
			drained: count('drained'),
			errors: count('error', 'unknown'),
			gpuCount: lines.length,
			utilization: percents.length === 0 ? undefined : sum(percents) / percents.length / 100,
			memoryUsedMiB: sum(
				lines.flatMap(({gpu}) => (gpu.memory_total_mb === undefined ? [] : (gpu.memory_used_mb ?? []))),
			),
			memoryTotalMiB: sum(lines.flatMap(({gpu}) => gpu.memory_total_mb ?? [])),
			failing,
			asking,
			answering: names - failing - asking,
			waiting: sum([
				state.connection.kind === 'lost' ? 0 : (state.snapshot?.queue.length ?? 0),
				...known.flatMap(({answer}) => ('status' in answer ? (answer.status.waitingCount ?? 0) : [])),
			]),
		};
	},
);
