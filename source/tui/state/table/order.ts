/** Sorting by one or two columns. Unknown values come last in both directions. */

type OneSort<Key extends string> = {readonly by: Key; readonly isInverted: boolean};

export type SortBy<Key extends string> = OneSort<Key> & {
	/** The second column. Without it, rows with equal values are in a fixed order. */
	readonly second?: OneSort<Key>;
};

export type SortValue = number | string | undefined;

/** Columns in which the largest value comes first, unless the order is inverted. */
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

/** Returns the mark after the title of a sorted column: `^` if values increase from row to row, `v` if they decrease. */
export const arrowOf = (sort: OneSort<string>): string => (isDescending(sort) ? 'v' : '^');

/** Compares two values of a column in the direction in which it is sorted. */
export function compareIn(sort: OneSort<string>, a: SortValue, b: SortValue): number {
	if (a === undefined || b === undefined) {
		return a === b ? 0 : a === undefined ? 1 : -1;
	}

	return a === b ? 0 : (a < b ? -1 : 1) * (isDescending(sort) ? -1 : 1);
}

/**
Returns the rows in sorted order.

@param tie - Compares rows that are equal in both columns. It must never return 0, so that rows do not jump.
*/
export function inOrder<Row, Key extends string>(
	rows: readonly Row[],
	sort: SortBy<Key>,
	valueOf: Readonly<Record<Key, (row: Row) => SortValue>>,
	tie: (a: Row, b: Row) => number,
): readonly Row[] {
	const {by, second} = sort;
	// Computes each value only once, not for each comparison.
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

/** Sorts by this column. If this column was the second one, there is no second column any longer. */
export const sortedBy = <Key extends string>({second}: SortBy<Key>, by: Key): SortBy<Key> => ({
	by,
	isInverted: false,
	second: second?.by === by ? undefined : second,
});

export const sortedByNext = <Key extends string>(keys: readonly Key[], sort: SortBy<Key>, step: 1 | -1): SortBy<Key> =>
	sortedBy(sort, keys[(keys.indexOf(sort.by) + step + keys.length) % keys.length]!);

/** Chooses the next column as the second one. The choices include no column, but not the first column. */
export function withNextSecond<Key extends string>(keys: readonly Key[], sort: SortBy<Key>, step: 1 | -1): SortBy<Key> {
	const choices: ReadonlyArray<Key | undefined> = [undefined, ...keys.filter((key) => key !== sort.by)];
	const index = choices.indexOf(sort.second?.by);
	const next = choices[(index + step + choices.length) % choices.length];
	return {...sort, second: next === undefined ? undefined : {by: next, isInverted: false}};
}

export const withInverted = <Key extends string>(sort: SortBy<Key>): SortBy<Key> => ({
	...sort,
	isInverted: !sort.isInverted,
});

/** Inverts the direction of the second column. Returns undefined if there is none. */
export const withSecondInverted = <Key extends string>({second, ...sort}: SortBy<Key>): SortBy<Key> | undefined =>
	second && {...sort, second: {...second, isInverted: !second.isInverted}};

export const noSecondSort = 'There is no second sort column to reverse: . chooses one';
