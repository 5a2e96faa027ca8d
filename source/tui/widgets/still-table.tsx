/** A small table without scrolling, sorting or selection. It is drawn by the library ink-table. */
import type {PropsWithChildren, ReactElement} from 'react';
import {Box} from 'ink';
import {Table, type CellProps} from 'ink-table';
import {widthOf} from '../../format/text/width.js';
import type {Tone} from '../themes/tones.js';
import {Label} from './label.js';

export type StillColumn = {
	/** The title of the column, under which each row stores its value. */
	readonly title: string;
	readonly align?: 'left' | 'right';
	readonly tone?: Tone;
};

type Properties = {
	readonly columns: readonly StillColumn[];
	/** The rows. Each row has a value of one line for each title. */
	readonly rows: ReadonlyArray<Readonly<Record<string, string>>>;
};

/** Omits the lines between rows, because they would halve the number of visible rows. */
const NoLines = ({children}: PropsWithChildren): ReactElement | undefined =>
	children === '│' ? <Label> </Label> : undefined;

export function StillTable({columns, rows}: Properties): ReactElement {
	const widths = columns.map(({title}) =>
		Math.max(...[title, ...rows.map((row) => row[title] ?? '')].map((text) => widthOf(text))),
	);
	/** Returns a component for cells. Sets the width, because ink-table counts characters, although some take two terminal columns. */
	const cellIn = (toneOf: (column: StillColumn) => Tone) =>
		function Cell({children, column}: CellProps): ReactElement {
			const {align = 'left'} = columns[column]!;
			return (
				<Box width={widths[column]! + 2} paddingX={1} justifyContent={align === 'left' ? 'flex-start' : 'flex-end'}>
					<Label tone={toneOf(columns[column]!)}>{(children as string).trim()}</Label>
				</Box>
			);
		};

	return (
		<Table
			data={[...rows]}
			columns={columns.map(({title, align = 'left'}) => ({key: title, align}))}
			header={cellIn(() => 'heading') as (properties: PropsWithChildren) => ReactElement}
			cell={cellIn(({tone = 'plain'}) => tone)}
			skeleton={NoLines}
		/>
	);
}
