/** The order of rows by one column and, among equals, by another. What is unknown comes last, whichever way round. */

type OneSort<Key extends string> = {readonly by: Key; readonly isInverted: boolean};

export type SortBy<Key extends string> = OneSort<Key> & {
	/** Among equals. Without one, they stand in an order of their own that never changes. */
	readonly second?: OneSort<Key>;
};

/** A value to sort by. */
export type SortValue = number | string | undefined;

/** In these columns, of whichever table, the largest is what people look for: it comes first, unless the order is turned round. */
const largestFirst: ReadonlySet<string> = new Set([
	'held',
	'utilization',
	'memory',
	'temperature',
	'power',
	'load',
	'cpu',
	'hostMemory',
	'time',
]);

const isDescending = ({by, isInverted}: OneSort<string>): boolean => largestFirst.has(by) !== isInverted;

/** Behind the title of a column: `^` where the values go up from row to row, `v` where they go down. */
export const arrowOf = (sort: OneSort<string>): string => (isDescending(sort) ? 'v' : '^');

/** Which of two values comes first in a column that is sorted like this. */
export function compareIn(sort: OneSort<string>, a: SortValue, b: SortValue): number {
	if (a === undefined || b === undefined) {
		return a === b ? 0 : a === undefined ? 1 : -1;
	}

	return a === b ? 0 : (a < b ? -1 : 1) * (isDescending(sort) ? -1 : 1);
}

/**
The rows in another order.

@param tie - Compares rows that are equal in both columns; two rows never are equal in it, so that rows do not jump.
*/
export function inOrder<Row, Key extends string>(
	rows: readonly Row[],
	sort: SortBy<Key>,
	valueOf: Readonly<Record<Key, (row: Row) => SortValue>>,
	tie: (a: Row, b: Row) => number,
): readonly Row[] {
	const {by, second} = sort;
	// Each value is made once: a comparison is made many times.
	const valued = rows.map((row) => ({
		row,
		value: valueOf[by](row),
		next: second === undefined ? undefined : valueOf[second.by](row),
	}));
	return valued
		.toSorted((a, b) => {
			const order = compareIn(sort, a.value, b.value);
			const nextOrder = order === 0 && second !== undefined ? compareIn(second, a.next, b.next) : order;
			return nextOrder === 0 ? tie(a.row, b.row) : nextOrder;
		})
		.map(({row}) => row);
}

/** Sorted by this column; if it was the second one, it is that no more. */
export const sortedBy = <Key extends string>({second}: SortBy<Key>, by: Key): SortBy<Key> => ({
	by,
	isInverted: false,
	second: second?.by === by ? undefined : second,
});

/** Sorted by the next column, or by the one before it. */
export const sortedByNext = <Key extends string>(keys: readonly Key[], sort: SortBy<Key>, step: 1 | -1): SortBy<Key> =>
	sortedBy(sort, keys[(keys.indexOf(sort.by) + step + keys.length) % keys.length]!);

/** The next second column: none is one of them, the first column is not. */
export function withNextSecond<Key extends string>(keys: readonly Key[], sort: SortBy<Key>, step: 1 | -1): SortBy<Key> {
	const choices: ReadonlyArray<Key | undefined> = [undefined, ...keys.filter((key) => key !== sort.by)];
	const index = choices.indexOf(sort.second?.by);
	const next = choices[(index + step + choices.length) % choices.length];
	return {...sort, second: next === undefined ? undefined : {by: next, isInverted: false}};
}

/** The other way round. */
export const withInverted = <Key extends string>(sort: SortBy<Key>): SortBy<Key> => ({
	...sort,
	isInverted: !sort.isInverted,
});

/** The second column the other way round. Undefined where there is none. */
export const withSecondInverted = <Key extends string>({second, ...sort}: SortBy<Key>): SortBy<Key> | undefined =>
	second && {...sort, second: {...second, isInverted: !second.isInverted}};

export const noSecondSort = 'There is no second column to invert: . chooses one to sort equals by';
