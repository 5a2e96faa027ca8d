/** Tables of the command line: columns with a rule under the header, no outer border. */
import Table from 'cli-table3';
import type {Paint} from './paint.js';

const outerBorder = Object.fromEntries(
	[
		'top',
		'top-mid',
		'top-left',
		'top-right',
		'bottom',
		'bottom-mid',
		'bottom-left',
		'bottom-right',
		'left',
		'left-mid',
		'right',
		'right-mid',
	].map((part) => [part, '']),
);

/** Cells are single lines and already harmless. Trailing blanks are removed. */
export function ruledTable(header: readonly string[], rows: ReadonlyArray<readonly string[]>, paint: Paint): string {
	const table = new Table({
		head: header.map((title) => paint.header(title)),
		style: {head: [], border: []},
		chars: {...outerBorder, mid: paint.dim('─'), 'mid-mid': paint.dim('┼'), middle: paint.dim('│')},
	});
	table.push(...rows.map((row) => [...row]));
	// The library rules a line between all rows; only the one under the header stays.
	return table
		.toString()
		.split('\n')
		.filter((_, line) => line < 2 || line % 2 === 0)
		.map((line) => line.trimEnd())
		.join('\n');
}
