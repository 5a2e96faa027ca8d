/** Limits how much is read from a database, so that reads end soon even if an account of a shared pool writes endless rows and texts to its file. */
import type {DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync} from 'node:sqlite';
import {changedByHand, databaseProblem} from './failures.js';

/** Maximum length of a text to read, in bytes. The longest text of this program is a scan with a million characters. */
const longestText = 4 * 2 ** 20;

/** Maximum number of rows to read at once. The audit log and the longest queue have far fewer. */
const mostRows = 100_000;

const mostCharacters = 64 * 2 ** 20;

/** Returns SQL for a column. If a text is too long, the column is NULL, and SQLite does not load the text. */
export const boundedColumn = (name: string, longestBytes = longestText, as = name): string =>
	`CASE WHEN octet_length(${name}) <= ${longestBytes} THEN ${name} END AS ${as}`;

type Row = Record<string, SQLOutputValue>;

export type BoundedStatement = {
	readonly run: (...parameters: SQLInputValue[]) => ReturnType<StatementSync['run']>;
	readonly get: (...parameters: SQLInputValue[]) => Row | undefined;
	readonly all: (...parameters: SQLInputValue[]) => Row[];
};

/** Returns the number of characters in a row. Throws a CanhazgpuError for a row that this program never writes. */
function checkRow(row: Row, path: string): number {
	let characters = 0;
	for (const value of Object.values(row)) {
		if (value === null) {
			throw databaseProblem(path, [`contains text of more than ${longestText} bytes`, changedByHand]);
		}

		if (typeof value === 'string') {
			characters += value.length;
		} else if (typeof value !== 'number') {
			throw databaseProblem(path, ['contains bytes where canhazgpu writes text', changedByHand]);
		}
	}

	return characters;
}

/** Node's errors for stored values that JavaScript cannot represent, such as a 64-bit number or a text that is too long. */
const valueErrors: ReadonlySet<string | undefined> = new Set(['ERR_OUT_OF_RANGE', 'ERR_STRING_TOO_LONG']);

/** Runs a read. Turns {@link valueErrors} into problems of the file, because such errors are not bugs of this program. */
function within<Result>(path: string, read: () => Result): Result {
	try {
		return read();
	} catch (error) {
		if (valueErrors.has((error as NodeJS.ErrnoException).code)) {
			throw databaseProblem(path, ['contains a value that canhazgpu does not write', changedByHand], error);
		}

		throw error;
	}
}

type Ordered = (parameters: readonly SQLInputValue[]) => readonly SQLInputValue[];

/** Compiles a statement with numbered parameters such as `?1`. Node before 22.20 and 24.7 cannot bind by number, so parameters are reordered. */
function compile(database: DatabaseSync, text: string): {readonly statement: StatementSync; readonly inOrder: Ordered} {
	const numbers = Array.from(text.matchAll(/\?(?<number>\d+)/gv), ({groups}) => Number(groups!['number']));
	return numbers.length === 0
		? {statement: database.prepare(text), inOrder: (parameters) => parameters}
		: {
				statement: database.prepare(text.replaceAll(/\?\d+/gv, '?')),
				inOrder: (parameters) => numbers.map((number) => parameters[number - 1]!),
			};
}

/** Compiles a statement that throws a CanhazgpuError about the database at `path` if it would read more than the limits. */
export function bounded(database: DatabaseSync, text: string, path: string): BoundedStatement {
	const {statement, inOrder} = compile(database, text);
	return {
		run: (...parameters) => statement.run(...inOrder(parameters)),
		get: (...parameters) =>
			within(path, () => {
				const row = statement.get(...inOrder(parameters));
				if (row !== undefined) {
					checkRow(row, path);
				}

				return row;
			}),
		all: (...parameters) =>
			within(path, () => {
				const rows: Row[] = [];
				let characters = 0;
				for (const row of statement.iterate(...inOrder(parameters))) {
					characters += checkRow(row, path);
					rows.push(row);
					if (rows.length > mostRows || characters > mostCharacters) {
						throw databaseProblem(path, ['contains more than canhazgpu ever writes', changedByHand]);
					}
				}

				return rows;
			}),
	};
}
