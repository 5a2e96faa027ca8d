/** Connects a panel's table to its state. */
import type {TableName} from '../state/panels/state.js';
import {firstRowIn} from '../state/table/reduce.js';
import {tables} from '../state/tables.js';
import {useDispatch, useMonitor} from '../state/use-monitor.js';

type TableInView = {
	/** Index of the first row in view. */
	readonly firstRow: number;
	/** Index of the selected row. */
	readonly selected: number | undefined;
	readonly onRow: (index: number) => void;
	readonly onTitle: (title: string) => void;
};

/**
Returns the properties that a table needs besides its columns and rows.

@param height - Number of rows in view at once.
*/
export function useTable(name: TableName, height: number): TableInView {
	const dispatch = useDispatch();
	const table = tables[name];
	const rows = useMonitor(table.shown);
	const before = useMonitor((state) => state[name].firstRow);
	const selected = useMonitor(table.selectedIndex);
	const isFollowed = useMonitor(table.isFollowed);
	return {
		firstRow: firstRowIn(before, selected, {rows, height: Math.max(1, height), isFollowed, rules: table}),
		selected,
		onRow(index) {
			dispatch({kind: 'pointed', at: {on: 'row', panel: name, index}});
		},
		onTitle(key) {
			dispatch({kind: 'pointed', at: {on: 'heading', panel: name, key}});
		},
	};
}
