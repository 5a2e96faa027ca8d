/** The rows of the process table. */
import {processRights, rightOf} from '../../../core/rules/pool/process-right.js';
import {sanitize} from '../../../format/text/text.js';
import {processRightText} from '../../../format/process-right.js';
import {processText} from '../../../format/readings.js';
import {remembering} from '../memo.js';
import {rowsOf, withFlash, type State} from '../state.js';
import type {ValuesOf} from '../table/order.js';
import {noRowIn, tableOf} from '../table/table.js';
import type {GpuProcess} from '../../../core/model/types.js';
import {keyedProcesses, type ProcessRow} from './state.js';

/** All processes, without the filter. A process has a row for each GPU that it uses. */
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

const textOf = ({process, row, right}: ProcessRow): string => {
	const {pid, user, name, commandLine, containerId} = process;
	return [`gpu${row.index}`, String(pid), user, processRightText[right].short, name, commandLine, containerId]
		.map((word) => sanitize(word ?? ''))
		.join(' ');
};

const values: ValuesOf<ProcessRow> = {
	gpu: ({row}) => row.index,
	pid: ({process}) => process.pid,
	user: ({process}) => process.user,
	right: ({right}) => processRights.indexOf(right),
	load: ({process}) => process.utilizationPercent,
	memory: ({process}) => process.memoryUsedMiB,
	cpu: ({process}) => process.cpuPercent,
	hostMemory: ({process}) => process.hostMemoryMiB,
	// The values are negative, so that the process that has run longest comes first.
	time: ({process}) => (process.startTime === undefined ? undefined : -process.startTime),
	container: ({process}) => process.containerId,
	command: ({process}) => processText(process),
};

/** The process table. Its rows are sorted only while the table is shown, because there can be hundreds. */
export const processTable = tableOf<ProcessRow>({
	name: 'processes',
	noun: 'process',
	plural: 'processes',
	rowsOf: allProcesses,
	keysOf: ({key}) => [key],
	textOf,
	isOf: ({process}, account) => process.user === account,
	isMine: ({process}, {settings}) => process.user === settings.requester.account,
	userOf: ({process}) => process.user,
	noUser: 'The user of this process is unknown: select another process',
	valuesOf: () => values,
	wordsOf: ({right}) => ({right: processRightText[right].short}),
	tieOf: () => (a, b) => (a.process.pid === b.process.pid ? a.row.index - b.row.index : a.process.pid - b.process.pid),
	nest: (rows, {panels}) =>
		panels.isTree
			? asTree(rows.map((row) => ({...row, gpu: row.row.index}))).map(({row, depth}) => ({...row, depth}))
			: rows,
	partsOf: ({panels}) => [panels.isTree],
	isAtTopUnfocused: true,
});

export const selectedProcess = processTable.selected;

export function openProcess(state: State): State {
	const shown = selectedProcess(state);
	return shown === undefined
		? withFlash(state, 'warning', noRowIn(processTable, state))
		: {...state, dialog: {kind: 'process', shown}};
}

type OnGpu = {readonly process: GpuProcess; readonly gpu: number};

/**
Returns each process below its parent on the same GPU. If the parent is not on that GPU, the process is below the parent's first row. Siblings keep
their order. `depth` is the number of ancestors above the process.
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
		// Uses a loop instead of recursion, because a chain of processes can be long.
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

	// Adds processes without a root last. They form a cycle: according to their data, each is an ancestor of the others.
	for (const root of [...(children.get(undefined) ?? []), ...rows]) {
		place(root);
	}

	return placed;
}
