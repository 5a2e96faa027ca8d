import {inOrder, type SortBy, type ValuesOf} from './order.js';
import {isFiltered, termsIn, type Filter, type Selection} from './state.js';
import {matcherOf} from './terms.js';

/** Describes the rows of a table. `Context` is what the texts and values of a row depend on besides the row itself. */
export type RowRules<Row, Context> = {
	/** Returns the keys of a row that is not folded, strongest first. A weaker key is used only if no row has the stronger key. */
	readonly keysOf: (row: Row) => readonly string[];
	/** Returns the rows that are folded into a row. By default, only the row itself. */
	readonly membersOf?: (row: Row) => readonly Row[];
	/** Returns the place of a row in the unsorted table. By default, its index. */
	readonly placeOf?: (row: Row, index: number) => number;
	readonly textOf: (row: Row, context: Context) => string;
	/** Whether an account holds or uses what the row shows. */
	readonly isOf: (row: Row, account: string) => boolean;
	readonly isMine: (row: Row, context: Context) => boolean;
	readonly valuesOf: (context: Context, rows: readonly Row[]) => ValuesOf<Row>;
	/** Returns the texts of columns that are sorted by a value other than their text. An empty text means that there is no value. */
	readonly wordsOf?: (row: Row, context: Context) => Readonly<Partial<Record<string, string>>>;
	/** Returns the order of rows that are equal in all sorted columns. By default, they stay in the order of the unsorted table. */
	readonly tieOf?: (rows: readonly Row[], sort: SortBy) => (a: Row, b: Row) => number;
};

export type Keyed<Row> = Pick<RowRules<Row, never>, 'keysOf' | 'membersOf' | 'placeOf'>;

export const membersIn = <Row>({membersOf}: Keyed<Row>, row: Row): readonly Row[] => membersOf?.(row) ?? [row];

export const tagsOf = <Row>(rules: Keyed<Row>, row: Row): readonly string[] =>
	membersIn(rules, row).map((member) => rules.keysOf(member)[0]!);

/** Returns a function that checks whether a row, or a row that is folded into it, matches the terms of a filter or search. */
export function rowMatcher<Row, Context>(
	rows: readonly Row[],
	text: string,
	rules: RowRules<Row, Context>,
	context: Context,
): (row: Row) => boolean {
	const values = new Map(
		Object.entries(rules.valuesOf(context, rows)).map(([key, valueOf]) => [key.toLowerCase(), valueOf]),
	);
	const matches = matcherOf(termsIn(text), new Set(values.keys()));
	if (typeof matches === 'string') {
		return () => false;
	}

	return (row) =>
		membersIn(rules, row).some((member) => {
			const words = rules.wordsOf?.(member, context);
			return matches({
				text: rules.textOf(member, context).toLowerCase(),
				valueOf: (column) => values.get(column)?.(member),
				wordsOf: (column) => words?.[column]?.toLowerCase(),
			});
		});
}

/** Returns the rows that match the filter, in the order of the unsorted table. */
export function filteredRows<Row, Context>(
	rows: readonly Row[],
	filter: Filter,
	rules: RowRules<Row, Context>,
	context: Context,
): readonly Row[] {
	const {user, isMine, text} = filter;
	const matches = rowMatcher(rows, text, rules, context);
	return isFiltered(filter)
		? rows.filter(
				(row) =>
					(!isMine || rules.isMine(row, context)) && (user === undefined || rules.isOf(row, user)) && matches(row),
			)
		: rows;
}

export const sortedRows = <Row, Context>(
	rows: readonly Row[],
	sort: SortBy,
	{valuesOf, tieOf}: RowRules<Row, Context>,
	context: Context,
): readonly Row[] => inOrder(rows, sort, valuesOf(context, rows), tieOf?.(rows, sort) ?? (() => 0));

/** Returns the index of the selected row or, if that row is gone, of the row nearest to its last place. Undefined if there are no rows. */
export function selectedIndexIn<Row>(
	rows: readonly Row[],
	{keys, place}: Selection,
	rules: Keyed<Row>,
): number | undefined {
	// Two GPUs may have the same UUID, so a row that has all keys is preferred.
	for (const wanted of keys.length > 1 ? [keys, ...keys.map((key) => [key])] : keys.map((key) => [key])) {
		const index = rows.findIndex((row) =>
			membersIn(rules, row).some((member) => {
				const own = rules.keysOf(member);
				return wanted.every((key) => own.includes(key));
			}),
		);
		if (index !== -1) {
			return index;
		}
	}

	let nearest: {readonly index: number; readonly distance: number} | undefined;
	for (const [index, row] of rows.entries()) {
		const distance = Math.min(
			...membersIn(rules, row).map((member) => Math.abs((rules.placeOf?.(member, index) ?? index) - place)),
		);
		if (nearest === undefined || distance < nearest.distance) {
			nearest = {index, distance};
		}
	}

	return nearest?.index;
}
