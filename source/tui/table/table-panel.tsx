/** The panel of a table, with the order, the filter and the tags of the table in its title. */
import {useMemo, type ComponentType, type ReactElement, type ReactNode} from 'react';
import {grown, shrunk, type Column, type GrowthRound, type Sacrifice} from '../../format/text/columns.js';
import {sanitize} from '../../format/text/text.js';
import {PanelFrame, rangeText, useInnerWidth, type PanelProperties} from '../panels/shared/panel-frame.js';
import {leastWithBar} from '../panels/shared/readings.js';
import type {TableName} from '../state/panels/state.js';
import {arrowOf, type SortBy} from '../state/table/order.js';
import {isFiltered} from '../state/table/state.js';
import type {Table} from '../state/table/table.js';
import {tables} from '../state/table/tables.js';
import {useDispatch, useMonitor} from '../state/use-monitor.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {DataTable, markerWidth, type CellProperties, type DataColumn} from './data-table.js';

type RowOf<Name extends TableName> = (typeof tables)[Name] extends Table<infer Row> ? Row : never;

/** Returns the properties of a table except its columns, and which rows are in view. `height` is the number of rows that are in view at once. */
export function useTable<Name extends TableName>(name: Name, height: number) {
	const dispatch = useDispatch();
	const table = tables[name] as unknown as Table<RowOf<Name>>;
	const rows = useMonitor(table.drawn);
	const tags = useMonitor((state) => state[name].tags);
	const selected = useMonitor(table.selectedIndex);
	const isMarked = useMonitor(({panels}) => panels.focus === name) || name === 'gpus';
	const firstRow = useMonitor((state) => table.firstRow(state, height));
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

const isLoad = (name: string): boolean => name === 'utilization' || name === 'memory';

export type Fit<Name extends string> = {
	/** Columns that shrink or disappear if space is short, in this order. */
	readonly sacrifices: ReadonlyArray<Sacrifice<Name>>;
	/** The maximum widths of columns. If there is enough space, columns grow in several rounds. */
	readonly growth: ReadonlyArray<GrowthRound<Name>>;
	/** The first of these columns that is visible gets the remaining space. */
	readonly last: readonly Name[];
	/** Number of blanks between columns. Defaults to 1. */
	readonly gap?: number;
};

/** Returns the columns that fit, with bars as long as possible. A load column that has no room for a bar is not widened. */
export function fitColumns<Name extends string>(
	width: number,
	least: ReadonlyArray<Column<Name>>,
	{sacrifices, growth, last, gap = 1}: Fit<Name>,
): ReadonlyArray<Column<Name>> {
	const room = {width: width - markerWidth, gap};
	const columns = shrunk(least, room, sacrifices);
	const isNumber = (column: Column<Name>): boolean => isLoad(column.name) && column.width < leastWithBar;
	const growing = new Set(columns.filter((column) => !isNumber(column)).map(({name}) => name));
	const rounds = growth.map(
		(round) => Object.fromEntries([...growing].map((name) => [name, round[name]])) as GrowthRound<Name>,
	);
	const rest = last.find((name) => columns.some((column) => column.name === name)) ?? columns.at(-1)?.name;
	return grown(columns, room, rounds, rest).map((column) => (isNumber(column) ? {...column, align: 'end'} : column));
}

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
			{tagged > 0 ? <FixedLabel tone="warning">tagged {tagged}</FixedLabel> : undefined}
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
	/** A text for a table without rows. If undefined, the table is only as high as its rows, and `children` are below the rows. */
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
				lineOf={lineOf && ((row): ReactNode => lineOf(row, fitting))}
				onTitle={sortsByTitle ? table.onTitle : undefined}
				empty={empty === undefined ? undefined : <Label tone="dim">{empty}</Label>}
			/>
			{children}
		</PanelFrame>
	);
}
