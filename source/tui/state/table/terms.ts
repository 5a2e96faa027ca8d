/**
The terms of a filter or a search, separated by spaces:

- `word`: the text of the row contains it
- `user:ada`, `gpu:3`: a column contains a text, or equals a number
- `temp>60`, `mem>=20G`, `ends<1h`: a column is compared with a number
- `!term`: the row does not match the term
*/
import type {SortValue} from './order.js';

/** Other names of columns. The values are names of sort columns; the first one that the table has is meant. */
const aliases: Readonly<Record<string, readonly string[]>> = {
	user: ['owner', 'user'],
	util: ['utilization', 'load'],
	mem: ['memory'],
	temp: ['temperature'],
	rss: ['hostmemory'],
	cmd: ['command'],
};

/** Sizes are in MiB and durations in seconds, like the values of the columns. */
const units: Readonly<Record<string, Readonly<Record<string, number>>>> = {
	memory: {m: 1, g: 1024, t: 1024 ** 2},
	hostmemory: {m: 1, g: 1024, t: 1024 ** 2},
	held: {s: 1, m: 60, h: 3600, d: 86_400},
	ends: {s: 1, m: 60, h: 3600, d: 86_400},
};

const conditionPattern = /^(?<field>[a-z]+)(?<operator>[<>]=?|[:=])(?<operand>[^=].*)$/v;
const numberPattern = /^(?<digits>\d+(?:\.\d+)?)(?<unit>[a-z]{0,3}|%)$/v;

const comparisons: Readonly<Record<string, (value: number, operand: number) => boolean>> = {
	'<': (value, operand) => value < operand,
	'<=': (value, operand) => value <= operand,
	'>': (value, operand) => value > operand,
	'>=': (value, operand) => value >= operand,
	':': (value, operand) => value === operand,
	'=': (value, operand) => value === operand,
};

/** Returns a number in the unit of its column, or undefined if it is not a number. `g`, `gb` and `gib` are the same. */
function numberIn(column: string, text: string): number | undefined {
	const {digits, unit = ''} = numberPattern.exec(text)?.groups ?? {};
	const factor = unit === '' || unit === '%' ? 1 : units[column]?.[unit[0]!];
	return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

/** The text of a row, and its values by the names of the columns. */
export type Matchable = {
	/** In lower case. */
	readonly text: string;
	/** The value of a column, by its name in lower case. */
	readonly valueOf: (column: string) => SortValue;
	readonly columns: ReadonlySet<string>;
	readonly isOf: (account: string) => boolean;
};

/** Returns whether a row matches a term without `!`. Undefined if the reading that it asks for is unknown. */
function matchesPlain(term: string, {text, valueOf, columns, isOf}: Matchable): boolean | undefined {
	const {field = '', operator = '', operand = ''} = conditionPattern.exec(term)?.groups ?? {};
	const column = (aliases[field] ?? [field]).find((name) => columns.has(name));
	if (column === undefined) {
		return text.includes(term);
	}

	const isEquality = operator === ':' || operator === '=';
	// The value of a state is its place in an order, so its name is looked for in the text.
	if (isEquality && column === 'state') {
		return text.includes(operand);
	}

	if (isEquality && (column === 'owner' || column === 'user') && isOf(operand)) {
		return true;
	}

	const value = valueOf(column);
	if (value === undefined) {
		return undefined;
	}

	if (typeof value === 'string') {
		return isEquality && value.toLowerCase().includes(operand);
	}

	const number = numberIn(column, operand);
	return number !== undefined && comparisons[operator]!(value, number);
}

/** Whether a row matches a term in lower case. An unknown reading matches neither a condition nor its negation. */
export function matchesTerm(term: string, row: Matchable): boolean {
	const isNegated = term.startsWith('!') && term.length > 1;
	const matched = matchesPlain(isNegated ? term.slice(1) : term, row);
	return matched !== undefined && matched !== isNegated;
}
