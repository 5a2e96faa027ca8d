/** The rows of the GPU table, and the GPUs that a key acts on. */
import {isDeepStrictEqual} from 'node:util';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {owns} from '../../../core/rules/leases/ownership.js';
import {shortDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {isFolded} from '../../layout.js';
import {keepingElements, remembering} from '../memo.js';
import {rowsOf, type State} from '../state.js';
import type {SortBy, SortValue} from '../table/order.js';
import {tableOf} from '../table/table.js';
import {folded, membersOf, type TableRow} from './fold.js';
import {byUrgency, monitorStateOf, stateName} from './row-state.js';

const usersOf = ({owner, shares = [], processes}: StatusRow): readonly string[] => [
	...(owner === undefined ? [] : [owner]),
	...shares.map((share) => share.owner),
	...processes.map(({user}) => user).filter((user) => user !== undefined),
];

const textOf = (row: StatusRow, {settings, observation}: State): string =>
	[
		`gpu${row.index}`,
		stateName(row, settings.requester, observation !== undefined),
		row.label,
		row.lease?.type,
		row.lease?.note,
		row.lease?.via,
		...(row.shares ?? []).flatMap(({label, lease}) => [label, lease.type, lease.note, lease.via]),
		row.reading?.name,
		row.reading?.uuid,
		row.reading?.place && `${row.reading.place.node}:${row.reading.place.gpu}`,
		row.problem,
		...usersOf(row),
		...row.processes.flatMap(({pid, name, commandLine}) => [String(pid), name, commandLine]),
	]
		.map((word) => sanitize(word ?? ''))
		.join(' ');

const endOf = ({lease, remainingSeconds}: StatusRow): SortValue =>
	lease === undefined ? undefined : (remainingSeconds ?? Infinity);

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

/** Returns a comparison of rows with equal values. It sorts by index, but keeps reservations together if the table is sorted by owner. */
function tieOf(rows: readonly StatusRow[], {by}: SortBy): (a: StatusRow, b: StatusRow) => number {
	const first = by === 'owner' ? firstOfLeases(rows) : undefined;
	const positionOf = ({lease, index}: StatusRow): number => first?.get(lease?.leaseId ?? '') ?? index;
	return (a, b) => {
		const order = positionOf(a) - positionOf(b);
		return order === 0 ? a.index - b.index : order;
	};
}

/** Whether rows are folded. For a screen reader, each GPU has its own row. */
const hasFolds = (state: State): boolean => !state.settings.isLinear && isFolded(state);

const timeText = (seconds: number | undefined): string | undefined =>
	seconds === undefined ? undefined : shortDuration(seconds);

/** Returns a row with texts instead of times, which advance every second. Leaves out times that the table does not show. */
const withTimeTexts = ({
	heartbeatAgeSeconds: _heartbeat,
	freeSeconds: _free,
	sharesSettledSeconds: _settled,
	members,
	...row
}: TableRow): object => ({
	...row,
	heldSeconds: timeText(row.heldSeconds),
	remainingSeconds: timeText(row.remainingSeconds),
	idleSeconds: timeText(row.idleSeconds),
	members: members?.map((member) => withTimeTexts(member)),
});

const looksSame = (a: TableRow, b: TableRow): boolean => isDeepStrictEqual(withTimeTexts(a), withTimeTexts(b));

/** Returns a row for each GPU, by index, for panels without the times that advance every second. A row that looks as before is the same object as before. */
export const drawnRows = keepingElements(rowsOf, looksSame);

export const gpuTable = tableOf<TableRow>({
	name: 'gpus',
	noun: 'GPU',
	rowsOf,
	keysOf: ({index, reading}) => (reading?.uuid === undefined ? [`#${index}`] : [reading.uuid, `#${index}`]),
	membersOf,
	placeOf: ({index}) => index,
	textOf,
	isOf: (row, account) => usersOf(row).includes(account),
	isMine: (row, {settings: {requester}}) =>
		usersOf(row).includes(requester.account) || (row.lease !== undefined && owns(requester, row.lease)),
	userOf: (row) => row.owner ?? row.unreservedUsers[0] ?? usersOf(row)[0],
	noUser: 'This GPU has no user: select a GPU that has one',
	valuesOf: ({settings: {requester}, observation}) => ({
		gpu: ({index}) => index,
		state: (row) => byUrgency.indexOf(monitorStateOf(row, requester, observation !== undefined)),
		owner: ({owner, shares, unreservedUsers}) => owner ?? shares?.[0]?.owner ?? unreservedUsers[0],
		held: ({heldSeconds}) => heldSeconds,
		ends: endOf,
		utilization: ({reading}) => reading?.utilizationPercent,
		memory: ({reading}) => reading?.memoryUsedMiB,
		temperature: ({reading}) => reading?.temperatureCelsius,
		power: ({reading}) => reading?.powerWatts,
	}),
	wordsOf: (row, {settings, observation}) => ({
		state: stateName(row, settings.requester, observation !== undefined),
		owner: usersOf(row)
			.map((user) => sanitize(user))
			.join(' '),
	}),
	tieOf,
	looksSame,
	group: (rows, state) => (hasFolds(state) ? folded(rows) : rows),
	partsOf: (state) => [hasFolds(state)],
	isAlwaysUsed: true,
});

/** Returns the rows that are shown: filtered, folded and sorted. */
export const visibleRows = gpuTable.shown;

/** Returns the selected GPU, which is the first GPU of a folded row. Undefined if no row matches the filter. */
export const selectedGpu = (state: State): number | undefined => gpuTable.selected(state)?.index;

export const rowWith = (state: State, gpu: number | undefined): TableRow | undefined =>
	visibleRows(state).find((row) => membersOf(row).some(({index}) => index === gpu));

export function selectedRow(state: State): StatusRow | undefined {
	const gpu = selectedGpu(state);
	return gpu === undefined ? undefined : rowsOf(state)[gpu];
}

/** Returns how a row looks in the detail panel, which shows more times than the table. */
const withAllTimeTexts = (row: StatusRow): object => ({
	...withTimeTexts(row),
	freeSeconds: timeText(row.freeSeconds),
	heartbeatAgeSeconds: timeText(row.heartbeatAgeSeconds),
});

const drawnSelection = keepingElements(
	remembering(
		(state: State) => [rowsOf(state), selectedGpu(state)],
		(state) => [selectedRow(state)].filter((row) => row !== undefined),
	),
	(a, b) => isDeepStrictEqual(withAllTimeTexts(a), withAllTimeTexts(b)),
);

/** Returns the selected row for the detail panel. A row that looks as before is the same object as before. */
export const drawnSelectedRow = (state: State): StatusRow | undefined => drawnSelection(state)[0];

const gpusOf = (row: TableRow): readonly number[] => membersOf(row).map(({index}) => index);

/** Returns the indices of the tagged GPUs, in order. Includes GPUs that the filter hides. */
export const taggedGpus = (state: State): readonly number[] => gpuTable.tagged(state).map(({index}) => index);

export function selectedGpus(state: State): readonly number[] {
	const row = gpuTable.selected(state);
	return row === undefined ? [] : gpusOf(row);
}

/** Returns the GPUs that a key acts on: the tagged GPUs, or else the GPUs of the selected row. */
export const chosenGpus = (state: State): readonly number[] => gpuTable.chosen(state).flatMap((row) => gpusOf(row));
