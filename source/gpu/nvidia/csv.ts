/** Parses CSV of `nvidia-smi --format=csv,nounits`: a header, rows of unquoted cells separated by `, `, and warnings between the rows. */
type CsvLine = CsvRow | {readonly kind: 'other'; readonly text: string};

export type CsvRow = {
	readonly kind: 'row';
	readonly text: string;
	readonly cells: ReadonlyMap<string, string>;
};

type Options = {
	/** The header is the first line with all of these columns. */
	readonly required: readonly string[];
	/** The column whose text can contain commas. */
	readonly freeText: string;
};

/**
Returns the separator of cells: a comma and a space, or only a comma before an empty last cell. A number with a decimal comma, such as `1,5`, then
stays one cell, which is no number. If the header has no spaces, a comma alone separates cells in all lines.
*/
const separatorOf = (header: string): RegExp => (header.includes(', ') ? /,(?:\s+|$)/v : /,/v);

/** Splits the text into rows. The header names the columns, in any order. Other lines become `other`. Undefined if there is no header. */
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

/** The first name of each column with several names (`nvidia-smi --help-query-gpu`). nvidia-smi prints it, other tools print the requested name. */
const firstNames: ReadonlyMap<string, string> = new Map([
	['used_memory', 'used_gpu_memory'],
	['clocks.sm', 'clocks.current.sm'],
	['clocks.mem', 'clocks.current.memory'],
]);

/** Returns the name of a column without the unit: `memory.used [MiB]` becomes `memory.used`. */
const columnName = (cell: string): string => {
	const [name = ''] = cell.split('[', 1);
	const plain = name.trim().toLowerCase();
	return firstNames.get(plain) ?? plain;
};

/** Returns the cells by column. Undefined if there are too few cells, or too many cells and no column whose text can contain commas. */
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

/** Reads a number, with or without a unit. Undefined for anything else (`[N/A]`, `[Unknown Error]`, `ERR!`, empty): numbers are never guessed. */
export const readNumber = (text: string): number | undefined => {
	const number = /^(?<number>\d{1,12}(?:\.\d{1,6})?)(?:\s*(?:MiB|MHz|[%CW]))?$/v.exec(text)?.groups?.['number'];
	return number === undefined ? undefined : Number(number);
};

export const isMarker = (text: string): boolean => /^\[.*\]$|^n\/a$|^err!$|^$/iv.test(text);

export const readAnswer = (text: string): boolean | undefined => ({yes: true, no: false})[text.toLowerCase()];
