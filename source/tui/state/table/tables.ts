import {layoutOf, tableRowsOf} from '../../layout.js';
import {gpuTable} from '../gpus/rows.js';
import {hostTable} from '../hosts/rows.js';
import {jobTable} from '../jobs/rows.js';
import {processTable} from '../processes/rows.js';
import {queueTable} from '../queue/rows.js';
import type {TableName} from '../panels/state.js';
import type {State} from '../state.js';
import type {FieldChange} from '../text-field.js';
import {tableChanges, type TableIntent} from './reduce.js';
import {withTyped, type TableState} from './state.js';

export const tables = {
	gpus: gpuTable,
	processes: processTable,
	queue: queueTable,
	hosts: hostTable,
	jobs: jobTable,
} as const satisfies Readonly<Record<TableName, unknown>>;

export const isTableName = (name: string): name is TableName => Object.hasOwn(tables, name);

/** Returns the table on which keys act: the focused table or, if the focused panel has no table, the GPU table. */
export const focusedTable = ({panels}: Pick<State, 'panels'>): (typeof tables)[TableName] =>
	isTableName(panels.focus) ? tables[panels.focus] : gpuTable;

export const promptOf = (state: State): TableState['prompt'] => state[focusedTable(state).name].prompt;

export function changeFilter(state: State, change: FieldChange): State {
	const {name} = focusedTable(state);
	return {...state, [name]: withTyped(state[name], change)};
}

/** Selects the GPU to the left or right of the selected one, if the table shows GPUs side by side. */
function focusColumn(state: State, by: 1 | -1): State {
	const {tableColumns} = layoutOf(state);
	const target = (gpuTable.selectedIndex(state) ?? 0) + by * (tableRowsOf(state) / tableColumns);
	return tableColumns === 1 || target < 0 || target >= gpuTable.shown(state).length
		? state
		: gpuTable.change(state, {kind: 'select', index: target});
}

const intents = Object.keys(tableChanges) as readonly TableIntent[];

export const tableIntents = {
	...(Object.fromEntries(
		intents.map((intent) => [intent, (state: State): State => focusedTable(state).change(state, intent)]),
	) as Record<TableIntent, (state: State) => State>),
	'focus-left-column': (state: State) => focusColumn(state, -1),
	'focus-right-column': (state: State) => focusColumn(state, 1),
};

/** Keeps the selected row of each table selected and in view after a change of the state. */
export function settledTables(state: State): State {
	let settled = state;
	for (const table of Object.values(tables)) {
		settled = table.settled(settled);
	}

	return settled;
}
