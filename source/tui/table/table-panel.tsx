/** The panel of a table, with the order, the filter and the tags of the table in its title. */
import {useMemo, type ComponentType, type ReactElement, type ReactNode} from 'react';
import {sanitize} from '../../format/text/text.js';
import type {TableName} from '../state/panels/state.js';
import {arrowOf, type SortBy} from '../state/table/order.js';
import {isFiltered} from '../state/table/state.js';
import {tables} from '../state/table/tables.js';
import {useMonitor} from '../state/use-monitor.js';
import {DataTable, type CellProperties, type DataColumn} from './data-table.js';
import {fitColumns, type Fit} from './fit-columns.js';
import {useTable, type RowOf} from './use-table.js';
import {Label} from '../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../panels/shared/panel-frame.js';

type Titles = Readonly<Record<string, {readonly title: string}>>;

/** Shows the order, the filter and the tags of a table, such as `sort GPU^ then MEMv`, `filter bob` and `tagged 2`. */
export function TableOrder({name, columns}: {readonly name: TableName; readonly columns: Titles}): ReactElement {
	const sort = useMonitor((state): SortBy => state[name].sort);
	const filter = useMonitor((state) => state[name].filter);
	const tagged = useMonitor((state) => tables[name].tagged(state).length);
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	const title = (one: Pick<typeof sort, 'by' | 'isInverted'>): ReactElement => (
		<Label tone="strong">{columns[one.by]!.title.trim() + arrowOf(one)}</Label>
	);
	return (
		<>
			<Label>
				sort {title(sort)}
				{sort.second && <> then {title(sort.second)}</>}
			</Label>
			{isFiltered(filter) ? (
				<Label>
					filter <Label tone="warning">{sanitize(words)}</Label>
				</Label>
			) : undefined}
			{tagged > 0 ? <Label tone="warning">tagged {tagged}</Label> : undefined}
		</>
	);
}

export type TableColumn<Row> = Pick<DataColumn<Row>, 'title' | 'width' | 'align' | 'emphasisOf'> & {
	readonly Cell: ComponentType<CellProperties<Row>>;
};

type Properties<Name extends TableName, ColumnName extends string> = PanelProperties & {
	readonly name: Name;
	/** All columns, in order. Their widths are the minimum. */
	readonly columns: Readonly<Record<ColumnName, TableColumn<RowOf<Name>>>>;
	readonly fit: Fit<ColumnName>;
	/** A column that is not needed now. */
	readonly hidden?: ColumnName;
	/** Whether the values are outdated, because their source does not answer. */
	readonly isOld?: boolean;
	/** Shown if there are no rows. Without it, the table is only as high as its rows, and `children` are below them. */
	readonly empty?: string;
	readonly lineOf?: (row: RowOf<Name>, columns: ReadonlyArray<DataColumn<RowOf<Name>>>) => ReactNode;
	/** Whether a click on a title sorts by that column. Defaults to true. */
	readonly sortsByTitle?: boolean;
	readonly children?: ReactNode;
};

export function TablePanel<Name extends TableName, ColumnName extends string>({
	name,
	columns,
	fit,
	hidden,
	isOld = false,
	empty,
	lineOf,
	sortsByTitle = true,
	width,
	rows: height,
	children,
}: Properties<Name, ColumnName>): ReactElement {
	const innerWidth = useInnerWidth(width);
	const fitting = useMemo(() => {
		const least = Object.entries<TableColumn<RowOf<Name>>>(columns)
			.filter(([column]) => column !== hidden)
			.map(([column, {width: least, align}]) => ({name: column as ColumnName, width: least, align}));
		return fitColumns(innerWidth, least, fit).map((column): DataColumn<RowOf<Name>> => ({
			...columns[column.name],
			...column,
			gap: fit.gap,
			...(isOld && {emphasisOf: () => 'old'}),
		}));
	}, [columns, fit, hidden, innerWidth, isOld]);
	const {table, range} = useTable(name, height - 1);
	return (
		<PanelFrame
			name={name}
			beside={<TableOrder name={name} columns={columns} />}
			end={range}
			width={width}
			rows={height}
		>
			<DataTable<RowOf<Name>>
				{...table}
				columns={fitting}
				height={empty === undefined ? Math.min(height, table.rows.length + 1) : height}
				width={innerWidth}
				lineOf={lineOf && ((row) => lineOf(row, fitting))}
				onTitle={sortsByTitle ? table.onTitle : undefined}
				empty={empty === undefined ? undefined : <Label tone="dim">{empty}</Label>}
			/>
			{children}
		</PanelFrame>
	);
}
