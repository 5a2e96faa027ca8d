/** Sorting by one or two columns. Unknown values come last in both directions. */
import {neighborOf} from '../ring.js';

type OneSort = {readonly by: string; readonly isInverted: boolean};

export type SortBy = OneSort & {
	/** The second column. If undefined, rows with equal values are in a fixed order. */
	readonly second?: OneSort;
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

const isDescending = ({by, isInverted}: OneSort): boolean => largestFirst.has(by) !== isInverted;

/** Returns the mark after the title of a sorted column: `^` if values increase from row to row, `v` if they decrease. */
export const arrowOf = (sort: OneSort): string => (isDescending(sort) ? 'v' : '^');

export function compareIn(sort: OneSort, a: SortValue, b: SortValue): number {
	if (a === undefined || b === undefined) {
		return a === b ? 0 : a === undefined ? 1 : -1;
	}

	return a === b ? 0 : (a < b ? -1 : 1) * (isDescending(sort) ? -1 : 1);
}

export type ValuesOf<Row> = Readonly<Record<string, (row: Row) => SortValue>>;

/** Returns the rows in sorted order. `tie` compares rows that are equal in both columns. If `tie` returns 0, these rows keep their order. */
export function inOrder<Row>(
	rows: readonly Row[],
	sort: SortBy,
	values: ValuesOf<Row>,
	tie: (a: Row, b: Row) => number,
): readonly Row[] {
	const sorts = sort.second === undefined ? [sort] : [sort, sort.second];
	// Computes each value only once, not for each comparison.
	const valued = rows.map((row) => ({row, values: sorts.map(({by}) => values[by]!(row))}));
	return valued
		.toSorted((a, b) => {
			for (const [index, each] of sorts.entries()) {
				const order = compareIn(each, a.values[index], b.values[index]);
				if (order !== 0) {
					return order;
				}
			}

			return tie(a.row, b.row);
		})
		.map(({row}) => row);
}

/** Sorts by this column. If this was the second column, removes the second column. */
export const sortedBy = ({second}: SortBy, by: string): SortBy => ({
	by,
	isInverted: false,
	second: second?.by === by ? undefined : second,
});

export const sortedByNext = (keys: readonly string[], sort: SortBy, step: 1 | -1): SortBy =>
	sortedBy(sort, neighborOf(keys, sort.by, step));

/** Chooses the next second column: any column except the first one, or no column. */
export function withNextSecond(keys: readonly string[], sort: SortBy, step: 1 | -1): SortBy {
	const choices = [undefined, ...keys.filter((key) => key !== sort.by)];
	const by = neighborOf(choices, sort.second?.by, step);
	return {...sort, second: by === undefined ? undefined : {by, isInverted: false}};
}
