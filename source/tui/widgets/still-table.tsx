/** A small table that does not scroll, sort or select, drawn by ink-table. */
import type {PropsWithChildren, ReactElement} from 'react';
import {Table, type CellProps} from 'ink-table';
import type {Tone} from '../themes/tones.js';
import {Label} from './label.js';

export type StillColumn = {
	/** The title, and the key of the values. */
	readonly title: string;
	readonly align?: 'left' | 'right';
	readonly tone?: Tone;
};

type Properties = {
	readonly columns: readonly StillColumn[];
	/** One record for each row, with a value for each title. Values are one line of text. */
	readonly rows: ReadonlyArray<Readonly<Record<string, string>>>;
};

const Heading = ({children}: PropsWithChildren): ReactElement => <Label tone="heading">{children}</Label>;

/** Draws no lines: a line between rows would halve how many are in view. */
const NoLines = ({children}: PropsWithChildren): ReactElement | undefined =>
	children === '│' ? <Label> </Label> : undefined;

export function StillTable({columns, rows}: Properties): ReactElement {
	const Cell = ({children, column}: CellProps): ReactElement => (
		<Label tone={columns[column]?.tone ?? 'plain'}>{children}</Label>
	);
	return (
		<Table
			data={[...rows]}
			columns={columns.map(({title, align = 'left'}) => ({key: title, align}))}
			header={Heading}
			cell={Cell}
			skeleton={NoLines}
		/>
	);
}
