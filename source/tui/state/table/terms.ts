/**
The terms of a filter or a search, separated by spaces:

- `word`: the row's text contains this word
- `user:ada`, `gpu:3`: a column contains this text, or equals this number
- `temp>60`, `mem>=20G`, `ends<1h`: a column is compared with this number
- `!term`: the row does not match the term
*/
import {parseDuration} from '../../../core/rules/leases/durations.js';
import {shareMiBOf} from '../../../core/rules/request/memory-size.js';
import {CanhazgpuError, messageOf, quoted} from '../../../errors.js';
import type {SortValue} from './order.js';

/** Other names for columns, in lower case. A name stands for the first column in its list that the table has. */
const aliases: Readonly<Record<string, readonly string[]>> = {
	user: ['owner', 'user'],
	util: ['utilization', 'load'],
	mem: ['memory'],
	temp: ['temperature'],
	rss: ['hostmemory'],
	cmd: ['command'],
};

/** Columns in which a missing value means that nobody holds the GPU. In other columns, a missing value is an unknown reading. */
const emptyIfFree: ReadonlySet<string> = new Set(['held', 'ends']);

function plainNumber(text: string, name: string): number {
	if (!/^\d+(?:\.\d+)?%?$/v.test(text)) {
		throw new CanhazgpuError('usage', `${name}: ${quoted(text)} is not a number`);
	}

	return Number(text.replace('%', ''));
}

/** Parsers for columns whose values have a unit. They return MiB or seconds. */
const parsers: Readonly<Record<string, (text: string, name: string) => number>> = {
	memory: shareMiBOf,
	hostmemory: shareMiBOf,
	held: parseDuration,
	ends: parseDuration,
};

const comparisons: Readonly<Record<string, (value: number, operand: number) => boolean>> = {
	'<': (value, operand) => value < operand,
	'<=': (value, operand) => value <= operand,
	'>': (value, operand) => value > operand,
	'>=': (value, operand) => value >= operand,
};

/** The text of a row, in which words are searched for, and its values by column. The text and the names of columns are in lower case. */
export type Matchable = {
	readonly text: string;
	readonly valueOf: (column: string) => SortValue;
	/** Returns the text, in lower case, of a column that is sorted by another value. An empty text means that there is no value. */
	readonly wordsOf: (column: string) => string | undefined;
};

/** Checks whether a row matches a term. Returns undefined if the reading for the term is unknown. */
type Test = (row: Matchable) => boolean | undefined;

function comparisonWith(column: string, test: (value: number | string) => boolean): Test {
	return ({valueOf, wordsOf}) => {
		const value = wordsOf(column) ?? valueOf(column);
		return value === undefined ? (emptyIfFree.has(column) ? false : undefined) : test(value);
	};
}

/** Returns the check for a term. Throws `usage` if no value of the column can match the comparison. */
function testOf(term: string, columns: ReadonlySet<string>): Test {
	const {
		field = '',
		operator = '',
		operand = '',
	} = /^(?<field>[a-z]+)(?<operator>[<>]=?|[:=])(?<operand>[^=].*)$/v.exec(term)?.groups ?? {};
	const column = (aliases[field] ?? [field]).find((name) => columns.has(name));
	if (column === undefined) {
		return ({text}) => text.includes(term);
	}

	const compare = comparisons[operator];
	if (compare === undefined) {
		const equal = Number(operand);
		// Sizes and durations on the screen are rounded, so a row that shows `26G` would hardly ever equal `26G`.
		if (Object.hasOwn(parsers, column) && Number.isNaN(equal)) {
			throw new CanhazgpuError(
				'usage',
				`${field}: = needs an exact number. Use < or >, such as ${quoted(`${field}>${operand}`)}`,
			);
		}

		return comparisonWith(column, (value) =>
			typeof value === 'string' ? value.toLowerCase().includes(operand) : value === equal,
		);
	}

	const number = (parsers[column] ?? plainNumber)(operand, field);
	return comparisonWith(column, (value) => typeof value === 'number' && compare(value, number));
}

/**
Returns a function that checks whether a row matches all terms, or the reason why no row can match. If a reading is unknown, the row matches neither
the condition nor its negation.

@param terms - In lower case.
*/
export function matcherOf(
	terms: readonly string[],
	columns: ReadonlySet<string>,
): ((row: Matchable) => boolean) | string {
	try {
		const tests = terms.map((term) => {
			const isNegated = term.startsWith('!') && term.length > 1;
			return {isNegated, test: testOf(isNegated ? term.slice(1) : term, columns)};
		});
		return (row) =>
			tests.every(({isNegated, test}) => {
				const matched = test(row);
				return matched !== undefined && matched !== isNegated;
			});
	} catch (error) {
		return messageOf(error);
	}
}
