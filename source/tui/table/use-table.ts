import {rangeText} from '../panels/shared/panel-frame.js';
import type {TableName} from '../state/panels/state.js';
import {firstRowIn} from '../state/table/reduce.js';
import type {Table} from '../state/table/table.js';
import {tables} from '../state/table/tables.js';
import {useDispatch, useMonitor} from '../state/use-monitor.js';

export type RowOf<Name extends TableName> = (typeof tables)[Name] extends Table<infer Row> ? Row : never;

/**
Returns the properties of a table except its columns, and which rows are in view, such as `1-24 of 64`.

@param height - The number of rows that are in view at once.
*/
export function useTable<Name extends TableName>(name: Name, height: number) {
	const dispatch = useDispatch();
	const table = tables[name] as unknown as Table<RowOf<Name>>;
	const rows = useMonitor(table.shown);
	const before = useMonitor((state) => state[name].firstRow);
	const tags = useMonitor((state) => state[name].tags);
	const selected = useMonitor(table.selectedIndex);
	const isFollowed = useMonitor(table.isFollowed);
	const isMarked = useMonitor(({panels}) => panels.focus === name) || name === 'gpus';
	const firstRow = firstRowIn(before, selected, {rows, height: Math.max(1, height), isFollowed, rules: table});
	return {
		table: {
			rows,
			firstRow,
			selected: isMarked ? selected : undefined,
			isTagged: (row: RowOf<Name>) => table.isTagged(row, tags),
			onRow(index: number) {
				dispatch({kind: 'pointed', at: {on: 'row', panel: name, index}});
			},
			onTitle(key: string) {
				dispatch({kind: 'pointed', at: {on: 'heading', panel: name, key}});
			},
		},
		range: rangeText(firstRow, Math.min(rows.length, firstRow + height), rows.length),
	};
}
