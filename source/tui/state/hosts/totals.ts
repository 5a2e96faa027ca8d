import {freeAmong} from '../../../format/free-gpus.js';
import {remembering} from '../memo.js';
import type {State} from '../state.js';
import {isOwnLast, allHostLines, namedHost, type GpuLine, type GpuTotals, type TotalLine} from './lines.js';

export const hostNamesOf = ({settings}: State): readonly string[] => [
	...(settings.hasNoPool === true ? [] : [settings.hostname]),
	...(settings.otherHosts ?? []),
];

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function totalsOf(lines: readonly GpuLine[]): GpuTotals {
	const percents = lines.flatMap(({gpu}) => gpu.utilization ?? []);
	return {
		free: freeAmong(lines.flatMap((line) => (line.state === 'available' ? line.gpu : []))),
		gpuCount: lines.length,
		utilization: percents.length === 0 ? undefined : sum(percents) / percents.length / 100,
		memoryUsedMiB: sum(lines.flatMap(({gpu}) => (gpu.memory_total_mb === undefined ? [] : (gpu.memory_used_mb ?? [])))),
		memoryTotalMiB: sum(lines.flatMap(({gpu}) => gpu.memory_total_mb ?? [])),
	};
}

const currentGpuLines = (state: State): readonly GpuLine[] =>
	allHostLines(state).filter((line) => line.kind === 'gpu' && !line.isLast) as readonly GpuLine[];

const ownWaiting = ({connection, snapshot}: State): number =>
	connection.kind === 'lost' ? 0 : (snapshot?.queue.length ?? 0);

/** The totals of all hosts that answer. Excludes other hosts, because their values may be outdated. */
export const hostTotals = remembering(
	(state: State) => [allHostLines(state), state.seenHosts, state.snapshot?.queue, state.connection.kind],
	(state) => {
		const lines = currentGpuLines(state);
		const count = (...wanted: ReadonlyArray<(typeof lines)[number]['state']>): number =>
			lines.filter(({state: each}) => wanted.includes(each)).length;
		const known = state.seenHosts;
		const isOwnFailing = state.settings.hasNoPool !== true && isOwnLast(state);
		const failing = known.filter(({answer}) => 'error' in answer).length + Number(isOwnFailing);
		const names = hostNamesOf(state).length;
		const asking = (state.settings.otherHosts?.length ?? 0) - known.length;
		return {
			...totalsOf(lines),
			mine: count('mine'),
			others: count('in-use', 'idle', 'waiting'),
			unreserved: count('unreserved'),
			drained: count('drained'),
			errors: count('error', 'unknown'),
			failing,
			asking,
			answering: names - failing - asking,
			// Some hosts do not report their waiting requests.
			waiting: sum([
				ownWaiting(state),
				...known.flatMap(({answer}) => ('status' in answer ? (answer.status.waitingCount ?? 0) : [])),
			]),
		};
	},
);

/** Returns the subtotals of each host with several GPUs, by the shown name of the host. Empty if only one host has GPUs. */
export const hostSubtotals = remembering(
	(state: State) => [allHostLines(state), state.seenHosts, state.snapshot?.queue, state.connection.kind],
	(state): ReadonlyMap<string, TotalLine> => {
		const byHost = Map.groupBy(currentGpuLines(state), (line) => namedHost(line));
		const waitingOn = new Map(
			state.seenHosts.map(({name, answer}) => [name, 'status' in answer ? answer.status.waitingCount : undefined]),
		);
		const totals = [...byHost].map(([name, lines]): [string, TotalLine] => {
			const {host, isOwn, gpu} = lines[0]!;
			// A cluster has one queue for all of its nodes, so a node has no number of waiting requests of its own.
			const waiting = isOwn ? (gpu.node === undefined ? ownWaiting(state) : undefined) : waitingOn.get(host);
			return [name, {kind: 'total', key: `${name} total`, host: name, isOwn, totals: totalsOf(lines), waiting}];
		});
		return new Map(byHost.size > 1 ? totals.filter(([, line]) => line.totals.gpuCount > 1) : []);
	},
);
