/**
The terms of a filter or a search, separated by spaces:

- `word`: the text of the row contains it
- `user:ada`, `gpu:3`: a column contains a text, or equals a number
- `temp>60`, `mem>=20G`, `ends<1h`: a column is compared with a number
- `!term`: the row does not match the term
*/
import {parseDuration} from '../../../core/rules/leases/durations.js';
import {shareMiBOf} from '../../../core/rules/request/memory-size.js';
import {CanhazgpuError, messageOf, quoted} from '../../../errors.js';
import type {SortValue} from './order.js';

/** Other names of columns. The first column that the table has is meant. All names are in lower case here. */
const aliases: Readonly<Record<string, readonly string[]>> = {
	user: ['owner', 'user'],
	util: ['utilization', 'load'],
	mem: ['memory'],
	temp: ['temperature'],
	rss: ['hostmemory'],
	cmd: ['command'],
};

/** Columns that are empty for a GPU that nobody holds. An absent value is known there, unlike an absent reading. */
const emptyIfFree: ReadonlySet<string> = new Set(['held', 'ends']);

function plainNumber(text: string, name: string): number {
	if (!/^\d+(?:\.\d+)?%?$/v.test(text)) {
		throw new CanhazgpuError('usage', `${name}: ${quoted(text)} is not a number`);
	}

	return Number(text.replace('%', ''));
}

/** Parsers of columns whose values have a unit: MiB or seconds. */
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

/** The text of a row, and its values by column. Names of columns are in lower case. */
export type Matchable = {
	/** The searchable text, in lower case. */
	readonly text: string;
	readonly valueOf: (column: string) => SortValue;
	/** The text of a column whose sort value is not its text, in lower case. Empty if there is known to be none. */
	readonly wordsOf: (column: string) => string | undefined;
};

/** Whether a row matches. Undefined if the reading that the term asks for is unknown. */
type Test = (row: Matchable) => boolean | undefined;

function comparisonWith(column: string, test: (value: number | string) => boolean): Test {
	return ({valueOf, wordsOf}) => {
		const value = wordsOf(column) ?? valueOf(column);
		return value === undefined ? (emptyIfFree.has(column) ? false : undefined) : test(value);
	};
}

/** @throws CanhazgpuError `usage` if a column is compared with something else than a number. */
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
		return comparisonWith(column, (value) =>
			typeof value === 'string' ? value.toLowerCase().includes(operand) : value === Number(operand),
		);
	}

	const number = (parsers[column] ?? plainNumber)(operand, field);
	return comparisonWith(column, (value) => typeof value === 'number' && compare(value, number));
}

/**
Returns a function that tells whether a row matches all terms, or the reason why no row can. An unknown reading matches neither a condition nor its
negation.

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
