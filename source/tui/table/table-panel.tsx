/** A panel that one table fills. Its title shows the order, the filter and the number of tagged rows. */
import type {ReactElement} from 'react';
import type {SortBy} from '../state/table/order.js';
import {tables} from '../state/table/tables.js';
import type {State} from '../state/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {Label} from '../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../panels/shared/panel-frame.js';
import {TableOrder} from '../panels/shared/table-order.js';
import {DataTable, type DataColumn} from './data-table.js';
import {useTable, type RowOf} from './use-table.js';

type Name = 'processes' | 'jobs';

type Titles = Readonly<Record<string, string>>;

function Order({name, titles}: {readonly name: Name; readonly titles: Titles}): ReactElement {
	const sort = useMonitor((state): SortBy<string> => state[name].sort);
	const filter = useMonitor((state) => state[name].filter);
	const tagged = useMonitor((state) => tables[name].tagged(state).length);
	return <TableOrder sort={sort} filter={filter} tagged={tagged} titleOf={(column) => titles[column]!} />;
}

type Properties<Table extends Name> = PanelProperties & {
	readonly name: Table;
	readonly columns: ReadonlyArray<DataColumn<RowOf<Table>>>;
	/** The titles of all columns, also of those that do not fit. */
	readonly titles: Titles;
	/** Returns the text that is shown if there are no rows. */
	readonly emptyText: (state: State) => string;
};

export function TablePanel<Table extends Name>({
	name,
	columns,
	titles,
	emptyText,
	width,
	rows: height,
}: Properties<Table>): ReactElement {
	const innerWidth = useInnerWidth(width);
	const empty = useMonitor(emptyText);
	const {table, range} = useTable(name, height - 1);
	return (
		<PanelFrame name={name} beside={<Order name={name} titles={titles} />} end={range} width={width} rows={height}>
			<DataTable
				{...table}
				columns={columns}
				height={height}
				width={innerWidth}
				empty={<Label tone="dim">{empty}</Label>}
			/>
		</PanelFrame>
	);
}
