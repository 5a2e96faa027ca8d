/** The visible rows of the GPU table, and the targets of actions. */
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {remembering} from '../memo.js';
import {rowsOf, type State} from '../state.js';
import {isFolded} from '../../layout.js';
import {owns} from '../../../core/rules/leases/ownership.js';
import type {Requester} from '../../../core/model/types.js';
import {sanitize} from '../../../format/text/text.js';
import {tagOf, wordsOfFilter, type Filter, type SortKey} from './state.js';
import {folded, membersOf, type TableRow} from './fold.js';
import {byUrgency, monitorStateOf, stateName} from './row-state.js';
import {inOrder, type SortValue} from './order.js';

/** GPUs that match the filter, by index. */
export const filteredRows = remembering(
	(state: State) => [rowsOf(state), state.table.filter, state.settings.requester],
	(state: State): readonly StatusRow[] => {
		const {table, settings, observation} = state;
		const isScanned = observation !== undefined;
		return rowsOf(state).filter((row) => isShown(row, table.filter, settings.requester, isScanned));
	},
);

/** Screen readers get each GPU by itself. */
const hasFolds = (state: State): boolean => !state.settings.isLinear && isFolded(state);

/** Rows after filtering, sorting and folding. */
export const visibleRows = remembering(
	(state: State) => [filteredRows(state), state.table.sort, hasFolds(state)],
	(state: State): readonly TableRow[] => {
		const rows = filteredRows(state);
		return sorted(hasFolds(state) ? folded(rows) : rows, state);
	},
);

/** Returns the row that contains a GPU. */
export const rowWith = (state: State, gpu: number | undefined): TableRow | undefined =>
	visibleRows(state).find((row) => membersOf(row).some(({index}) => index === gpu));

/** Returns the row of the selected GPU, or undefined if no row matches the filter. */
export const selectedRow = (state: State): StatusRow | undefined =>
	state.selectedGpu === undefined ? undefined : rowsOf(state)[state.selectedGpu];

/** Returns the current indices of the tagged GPUs, in order, including filtered ones. */
export const taggedGpus = (state: State): readonly number[] =>
	rowsOf(state)
		.filter((row) => state.table.tags.has(tagOf(row.index, row.reading)))
		.map(({index}) => index);

/** Returns the GPUs of the selected row. */
export const selectedGpus = (state: State): readonly number[] => {
	const {selectedGpu} = state;
	const row = rowWith(state, selectedGpu);
	return row === undefined ? (selectedGpu === undefined ? [] : [selectedGpu]) : membersOf(row).map(({index}) => index);
};

/** Returns the targets of an action: the tagged GPUs, or else those of the selected row. */
export function chosenGpus(state: State): readonly number[] {
	const tagged = taggedGpus(state);
	return tagged.length > 0 || state.selectedGpu === undefined ? tagged : selectedGpus(state);
}

/** Returns the accounts that hold or use the GPU. */
const usersOf = ({owner, shares = [], processes}: StatusRow): readonly string[] => [
	...(owner === undefined ? [] : [owner]),
	...shares.map((share) => share.owner),
	...processes.map(({user}) => user).filter((user) => user !== undefined),
];

/** Returns the holder of the GPU, or else its user. */
export const userOfRow = (row: StatusRow): string | undefined => row.owner ?? row.unreservedUsers[0] ?? usersOf(row)[0];

/** Returns the searchable text of a row. */
const wordsOf = (row: StatusRow, requester: Requester, isScanned: boolean): string =>
	[
		`gpu${row.index}`,
		stateName(row, requester, isScanned),
		row.label,
		row.lease?.type,
		row.lease?.note,
		...(row.shares ?? []).flatMap(({label, lease}) => [label, lease.type, lease.note]),
		row.reading?.name,
		row.reading?.uuid,
		row.reading?.place && `${row.reading.place.node}:${row.reading.place.gpu}`,
		row.problem,
		...usersOf(row),
		...row.processes.flatMap(({pid, name, commandLine}) => [String(pid), name, commandLine]),
	]
		.map((word) => sanitize(word ?? ''))
		.join(' ')
		.toLowerCase();

/** Whether a row contains all of these words, ignoring case. */
export function rowHolds(row: StatusRow, words: readonly string[], requester: Requester, isScanned: boolean): boolean {
	const held = words.length === 0 ? '' : wordsOf(row, requester, isScanned);
	return words.every((word) => held.includes(word));
}

function isShown(row: StatusRow, filter: Filter, requester: Requester, isScanned: boolean): boolean {
	const {user, isMine} = filter;
	if (
		(isMine && !usersOf(row).includes(requester.account) && !(row.lease && owns(requester, row.lease))) ||
		(user !== undefined && !usersOf(row).includes(user))
	) {
		return false;
	}

	return rowHolds(row, wordsOfFilter(filter), requester, isScanned);
}

const endOf = ({lease, remainingSeconds}: StatusRow): SortValue =>
	lease === undefined ? undefined : (remainingSeconds ?? Infinity);

const valuesFor = ({
	settings: {requester},
	observation,
}: State): Readonly<Record<SortKey, (row: StatusRow) => SortValue>> => ({
	gpu: ({index}) => index,
	state: (row) => byUrgency.indexOf(monitorStateOf(row, requester, observation !== undefined)),
	owner: ({owner, shares, unreservedUsers}) => owner ?? shares?.[0]?.owner ?? unreservedUsers[0],
	held: ({heldSeconds}) => heldSeconds,
	ends: endOf,
	utilization: ({reading}) => reading?.utilizationPercent,
	memory: ({reading}) => reading?.memoryUsedMiB,
	temperature: ({reading}) => reading?.temperatureCelsius,
	power: ({reading}) => reading?.powerWatts,
});

/** Maps each reservation's id to its first GPU. */
function firstOfLeases(rows: readonly StatusRow[]): ReadonlyMap<string, number> {
	const first = new Map<string, number>();
	for (const {lease, index} of rows) {
		const id = lease?.leaseId;
		if (id !== undefined) {
			first.set(id, Math.min(index, first.get(id) ?? Infinity));
		}
	}

	return first;
}

/** Returns the rows in order. When sorted by owner, a reservation's GPUs stay together. */
function sorted<Row extends StatusRow>(rows: readonly Row[], state: State): readonly Row[] {
	const {sort} = state.table;
	const valueOf = valuesFor(state);
	const byIndex = (a: StatusRow, b: StatusRow): number => a.index - b.index;
	if (sort.by !== 'owner') {
		return inOrder(rows, sort, valueOf, byIndex);
	}

	const first = firstOfLeases(rows);
	const positionOf = ({lease, index}: StatusRow): number => first.get(lease?.leaseId ?? '') ?? index;
	return inOrder(rows, sort, valueOf, (a, b) => {
		const order = positionOf(a) - positionOf(b);
		return order === 0 ? byIndex(a, b) : order;
	});
}
