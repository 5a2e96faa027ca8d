/**
The CSV of `nvidia-smi --format=csv,nounits`: a header line, then a row a line, cells separated by a comma and a blank, nothing quoted.
Warnings and errors stand between the rows as plain sentences.
*/
type CsvLine = CsvRow | {readonly kind: 'other'; readonly text: string};

export type CsvRow = {
	readonly kind: 'row';
	/** The whole line. */
	readonly text: string;
	/** The cells by column name, trimmed. */
	readonly cells: ReadonlyMap<string, string>;
};

type Options = {
	/** The header is the first line that holds all of these columns. */
	readonly required: readonly string[];
	/** The column whose text may itself hold commas. */
	readonly freeText: string;
};

/**
Cells are separated by a comma with a blank, which is cut off where the last cell is empty: so `1,5` of another language stays one cell, and
is no number. Where the header has no blanks, they were taken out.
*/
const separatorOf = (header: string): RegExp => (header.includes(', ') ? /,(?:\s+|$)/v : /,/v);

/**
Splits the text into rows, by the columns its header names, in whatever order they come. Lines that are no row are kept as `other`.
Undefined when there is no header: then none of it is a table.
*/
export const parseCsv = (text: string, {required, freeText}: Options): readonly CsvLine[] | undefined => {
	let columns: readonly string[] | undefined;
	let separator = /,/v;
	const lines: CsvLine[] = [];
	for (const raw of text.split('\n')) {
		const line = raw.trim();
		if (line === '') {
			continue;
		}

		if (columns === undefined) {
			const names = line.split(',').map((cell) => columnName(cell));
			if (required.every((name) => names.includes(name))) {
				columns = names;
				separator = separatorOf(line);
				continue;
			}
		}

		const cells = columns && splitRow(line.split(separator), columns, freeText);
		lines.push(cells ? {kind: 'row', text: line, cells} : {kind: 'other', text: line});
	}

	return columns && lines;
};

/** Second names of columns (`nvidia-smi --help-query-gpu`): the tool writes the first, others write what was asked for. */
const firstNames: ReadonlyMap<string, string> = new Map([
	['used_memory', 'used_gpu_memory'],
	['clocks.sm', 'clocks.current.sm'],
	['clocks.mem', 'clocks.current.memory'],
]);

/** `memory.used [MiB]` -> `memory.used`. */
const columnName = (cell: string): string => {
	const [name = ''] = cell.split('[', 1);
	const plain = name.trim().toLowerCase();
	return firstNames.get(plain) ?? plain;
};

/** Undefined when the line has too few cells, or too many and no column to hold the surplus. */
const splitRow = (
	pieces: readonly string[],
	columns: readonly string[],
	freeText: string,
): ReadonlyMap<string, string> | undefined => {
	const cells = [...pieces];
	const surplus = cells.length - columns.length;
	const at = columns.indexOf(freeText);
	if (surplus < 0 || (at === -1 && surplus > 0)) {
		return undefined;
	}

	if (surplus > 0) {
		cells.splice(at, surplus + 1, cells.slice(at, at + surplus + 1).join(', '));
	}

	return new Map(columns.map((name, position) => [name, (cells[position] ?? '').trim()]));
};

/**
Reads a number, with or without its unit. Undefined for everything else (`[N/A]`, `[Unknown Error]`, `ERR!`, nothing at all): a
number is never made up.
*/
export const readNumber = (text: string): number | undefined => {
	const number = /^(?<number>\d{1,12}(?:\.\d{1,6})?)(?:\s*(?:MiB|MHz|[%CW]))?$/v.exec(text)?.groups?.['number'];
	return number === undefined ? undefined : Number(number);
};

/** Whether the cell holds a word for not knowing instead of a text, such as `[Not Found]` or `N/A`. */
export const isMarker = (text: string): boolean => /^\[.*\]$|^n\/a$|^err!$|^$/iv.test(text);

/** `Yes` or `No`. Undefined for everything else. */
export const readAnswer = (text: string): boolean | undefined => ({yes: true, no: false})[text.toLowerCase()];
