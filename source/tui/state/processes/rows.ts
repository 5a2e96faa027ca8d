/** The rows of the table of processes as they are shown now, and which of them an action is about. */
import {processRights, rightOf} from '../../../core/rules/pool/process-right.js';
import {sanitize} from '../../../format/text/text.js';
import {processRightText} from '../../../format/process-right.js';
import {processText} from '../../../format/readings.js';
import {remembering} from '../memo.js';
import {rowsOf, type State} from '../state.js';
import {inOrder, type SortValue} from '../table/order.js';
import {indexOfSelected} from '../table/alike.js';
import {wordsOfFilter, type Filter} from '../table/state.js';
import type {GpuProcess} from '../../../core/model/types.js';
import {keyedProcesses, type ProcessRow, type ProcessSortKey} from './state.js';

/** Each process on each of its GPUs, whatever the filter. */
export const allProcesses = remembering(
	(state: State) => [rowsOf(state)],
	(state): readonly ProcessRow[] =>
		keyedProcesses(rowsOf(state)).map(({key, gpu: row, process}) => ({
			key,
			process,
			row,
			right: rightOf(row, process),
			depth: 0,
		})),
);

/** All that a person could look for. */
const wordsOf = ({process, row, right}: ProcessRow): string => {
	const {pid, user, name, commandLine, containerId} = process;
	return [`gpu${row.index}`, String(pid), user, processRightText[right].short, name, commandLine, containerId]
		.map((word) => sanitize(word ?? ''))
		.join(' ')
		.toLowerCase();
};

/** Whether a row holds all of these words, in any case. */
export function holdsWords(row: ProcessRow, words: readonly string[]): boolean {
	const held = words.length === 0 ? '' : wordsOf(row);
	return words.every((word) => held.includes(word));
}

function isShown(row: ProcessRow, {user, isMine}: Filter, words: readonly string[], account: string): boolean {
	const {process} = row;
	return (
		(!isMine || process.user === account) && (user === undefined || process.user === user) && holdsWords(row, words)
	);
}

const valueOf: Readonly<Record<ProcessSortKey, (row: ProcessRow) => SortValue>> = {
	gpu: ({row}) => row.index,
	pid: ({process}) => process.pid,
	user: ({process}) => process.user,
	right: ({right}) => processRights.indexOf(right),
	load: ({process}) => process.utilizationPercent,
	memory: ({process}) => process.memoryUsedMiB,
	cpu: ({process}) => process.cpuPercent,
	hostMemory: ({process}) => process.hostMemoryMiB,
	// Who has run for longest comes first.
	time: ({process}) => (process.startTime === undefined ? undefined : -process.startTime),
	container: ({process}) => process.containerId,
	command: ({process}) => processText(process),
};

/** Filtered and in order, or as a tree in which children of one parent are in order. */
export const visibleProcesses = remembering(
	(state: State) => [
		allProcesses(state),
		state.processes.filter,
		state.processes.sort,
		state.panels.isTree,
		state.settings.requester,
	],
	(state): readonly ProcessRow[] => {
		const {processes, panels, settings} = state;
		const {filter, sort} = processes;
		const words = wordsOfFilter(filter);
		const shown = allProcesses(state).filter((row) => isShown(row, filter, words, settings.requester.account));
		const ordered = inOrder(shown, sort, valueOf, (a, b) =>
			a.process.pid === b.process.pid ? a.row.index - b.row.index : a.process.pid - b.process.pid,
		);
		return panels.isTree
			? asTree(ordered.map((row) => ({...row, gpu: row.row.index}))).map(({row, depth}) => ({...row, depth}))
			: ordered;
	},
);

export function selectedProcessIndex(state: State): number | undefined {
	const {selectedKey, position} = state.processes;
	return indexOfSelected(visibleProcesses(state), ({key}) => key === selectedKey, position);
}

export function selectedProcess(state: State): ProcessRow | undefined {
	const index = selectedProcessIndex(state);
	return index === undefined ? undefined : visibleProcesses(state)[index];
}

/** Those that are tagged and still run, whatever the filter hides. */
export const taggedProcesses = (state: State): readonly ProcessRow[] =>
	state.processes.tags.size === 0 ? [] : allProcesses(state).filter(({key}) => state.processes.tags.has(key));

/** What an action is about: the tagged processes, or else the selected one. */
export function chosenProcesses(state: State): readonly ProcessRow[] {
	const tagged = taggedProcesses(state);
	const selected = selectedProcess(state);
	return tagged.length > 0 || selected === undefined ? tagged : [selected];
}

type OnGpu = {readonly process: GpuProcess; readonly gpu: number};

/**
Each below the one that started it: on the same GPU, or else where that one stands first. Among equals the order stays.

@returns Each with the number of ancestors above it.
*/
export function asTree<Row extends OnGpu>(
	rows: readonly Row[],
): ReadonlyArray<{readonly row: Row; readonly depth: number}> {
	const byPid = Map.groupBy(rows, ({process}) => process.pid);
	const parentOf = ({process: {pid, parentPid}, gpu}: Row): Row | undefined => {
		const parents = parentPid === undefined || parentPid === pid ? [] : (byPid.get(parentPid) ?? []);
		return parents.find((parent) => parent.gpu === gpu) ?? parents[0];
	};

	const children = Map.groupBy(rows, (row) => parentOf(row));
	const placed: Array<{readonly row: Row; readonly depth: number}> = [];
	const seen = new Set<Row>();
	const place = (root: Row): void => {
		// Without recursion: each process of a long chain may have started the next.
		const waiting = [{row: root, depth: 0}];
		for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
			const {row, depth} = next;
			if (seen.has(row)) {
				continue;
			}

			seen.add(row);
			placed.push(next);
			waiting.push(...(children.get(row) ?? []).map((child) => ({row: child, depth: depth + 1})).toReversed());
		}
	};

	// Two that claim to have started each other have no root: they are placed last.
	for (const root of [...(children.get(undefined) ?? []), ...rows]) {
		place(root);
	}

	return placed;
}
