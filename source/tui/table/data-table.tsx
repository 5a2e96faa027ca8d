/** The component that draws the tables of GPUs, processes, hosts, queue entries and events. */
import {memo, type ComponentType, type ReactElement, type ReactNode} from 'react';
import {Box} from 'ink';
import {useMouse} from '../mouse/mouse-context.js';
import {EmphasisContext, Label, type Emphasis} from '../widgets/label.js';

export type CellProperties<Row> = {
	readonly row: Row;
	readonly width: number;
	/** The row above, if it is in view. `below` is the row below. */
	readonly above?: Row;
	readonly below?: Row;
};

export type DataColumn<Row> = {
	readonly name: string;
	readonly title: string;
	readonly width: number;
	readonly align?: 'start' | 'end';
	/** Number of blanks before the column. Defaults to 1. */
	readonly gap?: number;
	readonly Cell: ComponentType<CellProperties<Row>>;
	readonly emphasisOf?: (cell: CellProperties<Row>) => Emphasis;
};

type Cells<Row> = {readonly columns: ReadonlyArray<DataColumn<Row>>};

type RowProperties<Row> = Cells<Row> &
	Omit<CellProperties<Row>, 'width'> & {
		readonly isSelected: boolean;
		readonly isTagged: boolean;
		readonly line?: ReactNode;
	};

/** Width of the marks before the cells: `>` for the selected row, `*` for tagged rows. */
export const markerWidth = 2;

const gapOf = (index: number, gap = 1): number => (index === 0 ? 0 : gap);

function Cell({
	align = 'start',
	width,
	index,
	gap,
	children,
}: Pick<DataColumn<never>, 'align' | 'width' | 'gap'> & {readonly index: number; readonly children: ReactNode}) {
	return (
		<Box
			width={width}
			flexShrink={0}
			marginLeft={gapOf(index, gap)}
			justifyContent={align === 'end' ? 'flex-end' : 'flex-start'}
		>
			{children}
		</Box>
	);
}

function UncachedRow<Row>({columns, isSelected, isTagged, line, ...cell}: RowProperties<Row>): ReactElement {
	return (
		<Box>
			<Box width={markerWidth} flexShrink={0}>
				{isSelected || isTagged ? (
					<Label tone={isSelected ? 'marked' : 'key'}>
						{isSelected ? '>' : ' '}
						{isTagged ? '*' : ' '}
					</Label>
				) : undefined}
			</Box>
			{line === undefined ? undefined : (
				// Fills the rest of the row, so that a long line does not shrink the marks.
				<Box flexGrow={1} flexBasis={0}>
					{line}
				</Box>
			)}
			{(line === undefined ? columns : []).map(({name, width, align, gap, Cell: Content, emphasisOf}, index) => {
				const properties = {...cell, width};
				const own = emphasisOf?.(properties) ?? 'normal';
				return (
					<EmphasisContext key={name} value={isSelected && own !== 'old' ? 'selected' : own}>
						<Cell width={width} align={align} gap={gap} index={index}>
							<Content {...properties} />
						</Cell>
					</EmphasisContext>
				);
			})}
		</Box>
	);
}

/** Draws a row. Renders again only if the row, its neighbors, its marks or the columns change. */
const DataRow = memo(UncachedRow) as typeof UncachedRow;

function Head<Row>({columns}: Cells<Row>): ReactElement {
	return (
		<Box marginLeft={markerWidth}>
			{columns.map(({name, title, width, align, gap}, index) => (
				<Cell key={name} width={width} align={align} gap={gap} index={index}>
					<Label tone="heading">{title}</Label>
				</Cell>
			))}
		</Box>
	);
}

type Properties<Row> = Cells<Row> & {
	/** All rows, in order. */
	readonly rows: readonly Row[];
	readonly firstRow: number;
	/** Lines of the panel, including the head. */
	readonly height: number;
	readonly width: number;
	readonly selected?: number;
	readonly isTagged?: (row: Row) => boolean;
	/** Returns content that is shown in place of the cells of a row. Returns undefined to show the cells. */
	readonly lineOf?: (row: Row) => ReactNode;
	readonly hasHead?: boolean;
	/** Number of blocks side by side. Rows fill one block after another, and each block has a head. */
	readonly blocks?: number;
	readonly empty?: ReactNode;
	/** Called when a row is clicked, with its index among all rows. */
	readonly onRow?: (index: number) => void;
	readonly onTitle?: (name: string) => void;
};

/** Number of blanks on each side of the line between two blocks. */
const blockGap = 1;

export const blockWidthOf = (width: number, blocks: number): number =>
	Math.floor((width - (2 * blockGap + 1) * (blocks - 1)) / blocks);

/** Returns the column at a horizontal position, counted from the left edge of the table. */
function columnAt<Row>(columns: ReadonlyArray<DataColumn<Row>>, x: number): string | undefined {
	let end = markerWidth;
	for (const [index, {name, width, gap}] of columns.entries()) {
		end += gapOf(index, gap) + width;
		if (x < end) {
			return name;
		}
	}

	return undefined;
}

type BlockProperties<Row> = Omit<Properties<Row>, 'blocks' | 'empty'>;

function Block<Row>({
	columns,
	rows,
	firstRow,
	height,
	width,
	selected,
	isTagged,
	lineOf,
	hasHead = true,
	onRow,
	onTitle,
}: BlockProperties<Row>): ReactElement {
	const headRows = hasHead ? 1 : 0;
	const shown = rows.slice(firstRow, firstRow + height - headRows);
	const ref = useMouse({
		onClick({x, y}) {
			const index = firstRow + y - headRows;
			const title = y < headRows ? columnAt(columns, x) : undefined;
			if (title !== undefined && onTitle !== undefined) {
				onTitle(title);
				return true;
			}

			if (y >= headRows && index < rows.length && onRow !== undefined) {
				onRow(index);
				return true;
			}

			return false;
		},
	});
	return (
		<Box ref={ref} flexDirection="column" flexShrink={0} width={width} height={height}>
			{hasHead ? <Head columns={columns} /> : undefined}
			{shown.map((row, index) => (
				<DataRow
					key={firstRow + index}
					row={row}
					above={index === 0 ? undefined : shown[index - 1]}
					below={rows[firstRow + index + 1]}
					columns={columns}
					isSelected={firstRow + index === selected}
					isTagged={isTagged?.(row) ?? false}
					line={lineOf?.(row)}
				/>
			))}
		</Box>
	);
}

/** Draws as many rows as fit. The selection and the scroll position come from `useTable`. */
export function DataTable<Row>({blocks = 1, empty, ...table}: Properties<Row>): ReactElement {
	const {rows, firstRow, height, width, hasHead = true} = table;
	const rowsInBlock = height - (hasHead ? 1 : 0);
	return (
		<Box flexDirection="column" flexShrink={0}>
			<Box>
				{Array.from({length: blocks}, (_, block) => (
					<Box
						key={block}
						borderStyle="single"
						borderTop={false}
						borderBottom={false}
						borderRight={false}
						borderLeft={block > 0}
						borderDimColor
						marginLeft={block > 0 ? blockGap : 0}
						paddingLeft={block > 0 ? blockGap : 0}
					>
						<Block {...table} firstRow={firstRow + block * rowsInBlock} width={blockWidthOf(width, blocks)} />
					</Box>
				))}
			</Box>
			{rows.length === 0 ? (
				<Box position="absolute" top={hasHead ? 1 : 0} left={markerWidth}>
					{empty}
				</Box>
			) : undefined}
		</Box>
	);
}
