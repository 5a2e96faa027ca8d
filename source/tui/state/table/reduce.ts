/** The reducer that all tables share: selecting, scrolling, sorting, filtering and tagging. */
import {fieldOf} from '../text-field.js';
import {sortedBy, sortedByNext, withNextSecond, type SortBy} from './order.js';
import {membersIn, selectedIndexIn, tagsOf, type Keyed} from './rows.js';
import {isFiltered, noFilter, type Filter, type TableState} from './state.js';

export type TableView<Row> = {
	readonly rows: readonly Row[];
	/** All rows, including those that the filter hides. */
	readonly all: readonly Row[];
	/** The number of rows that are in view at once, at least 1. */
	readonly height: number;
	readonly rules: Keyed<Row> & {
		readonly noun: string;
		readonly sortKeys: readonly string[];
		readonly userOf: (row: Row) => string | undefined;
		/** The message for a row that belongs to no user. */
		readonly noUser: string;
		/** Whether the selected row is kept in the middle of the view. Otherwise, the view moves as little as possible. */
		readonly isCentered?: boolean;
	};
	/** Whether the view follows the selected row. Otherwise, it begins with the first row. */
	readonly isFollowed: boolean;
};

/** Returns the new state of a table, or the reason why it cannot be changed. */
type Change = <Row>(table: TableState, view: TableView<Row>) => TableState | string;

export const noRowText = (noun: string, filter: Filter): string =>
	isFiltered(filter) ? `No ${noun} is shown: Esc clears the filter` : `No ${noun} is shown`;

const clamped = (value: number, most: number): number => Math.max(0, Math.min(value, most));

/** Selects the row with this index. If there is no such row, selects the nearest row. */
export function selectRow<Row>(table: TableState, {rows, rules}: TableView<Row>, wanted: number): TableState {
	const index = clamped(wanted, rows.length - 1);
	const row = rows[index];
	if (row === undefined) {
		return table;
	}

	const [member] = membersIn(rules, row);
	return {...table, selected: {keys: rules.keysOf(member!), place: rules.placeOf?.(member!, index) ?? index}};
}

export const moveSelection = <Row>(table: TableState, view: TableView<Row>, by: number): TableState =>
	selectRow(table, view, (selectedIndexIn(view.rows, table.selected, view.rules) ?? 0) + by);

function selectedRowIn<Row>(table: TableState, {rows, rules}: TableView<Row>): Row | undefined {
	const index = selectedIndexIn(rows, table.selected, rules);
	return index === undefined ? undefined : rows[index];
}

const withFilter = (table: TableState, more: Partial<Filter>): TableState => ({
	...table,
	filter: {...table.filter, ...more},
});

const inverted = <Sort extends Pick<SortBy, 'isInverted'>>(sort: Sort): Sort => ({
	...sort,
	isInverted: !sort.isInverted,
});

const sorting =
	(change: (keys: readonly string[], sort: SortBy) => SortBy): Change =>
	(table, {rules}) => ({...table, sort: change(rules.sortKeys, table.sort)});

export const tableChanges = {
	'toggle-tag'(table, view) {
		const row = selectedRowIn(table, view);
		if (row === undefined) {
			return noRowText(view.rules.noun, table.filter);
		}

		const chosen = new Set(tagsOf(view.rules, row));
		const tags = chosen.isSubsetOf(table.tags) ? table.tags.difference(chosen) : table.tags.union(chosen);
		return moveSelection({...table, tags}, view, 1);
	},
	'sort-next': sorting((keys, sort) => sortedByNext(keys, sort, 1)),
	'sort-previous': sorting((keys, sort) => sortedByNext(keys, sort, -1)),
	'sort-memory': sorting((keys, sort) => (keys.includes('memory') ? sortedBy(sort, 'memory') : sort)),
	'invert-sort': sorting((_, sort) => inverted(sort)),
	'second-sort-next': sorting((keys, sort) => withNextSecond(keys, sort, 1)),
	'second-sort-previous': sorting((keys, sort) => withNextSecond(keys, sort, -1)),
	'invert-second-sort'(table) {
		const {second} = table.sort;
		return second === undefined
			? 'There is no second sort column to reverse: . chooses one'
			: {...table, sort: {...table.sort, second: inverted(second)}};
	},
	'open-filter'(table) {
		const {text} = table.filter;
		return {...table, prompt: {field: fieldOf(text), before: {text, selected: table.selected}}};
	},
	'keep-filter': (table) => ({...table, prompt: undefined}),
	/** Restores the filter and the selection from before the filter was typed. */
	'drop-filter'(table) {
		const {text, selected} = table.prompt?.before ?? {text: table.filter.text, selected: table.selected};
		return {...withFilter(table, {text}), selected, prompt: undefined};
	},
	/** Shows only the rows of the selected row's user. If the table is already filtered by a user, shows the rows of all users. */
	'filter-user'(table, view) {
		if (table.filter.user !== undefined) {
			return withFilter(table, {user: undefined});
		}

		const row = selectedRowIn(table, view);
		const user = row === undefined ? undefined : view.rules.userOf(row);
		return user === undefined ? view.rules.noUser : withFilter(table, {user});
	},
	'filter-mine': (table) => withFilter(table, {isMine: !table.filter.isMine}),
} as const satisfies Readonly<Record<string, Change>>;

export type TableIntent = keyof typeof tableChanges;

/** Clears the tags. If there are none, clears the filter. Returns undefined if there is nothing to clear. */
export function clearedTable(table: TableState): TableState | undefined {
	return table.tags.size > 0
		? {...table, tags: new Set()}
		: isFiltered(table.filter)
			? {...table, filter: noFilter}
			: undefined;
}

/** Sorts by a column whose title was clicked. A second click on the title inverts the direction. */
export const sortByTitle = (table: TableState, by: string): TableState => ({
	...table,
	sort: table.sort.by === by ? inverted(table.sort) : sortedBy(table.sort, by),
});

export function firstRowIn<Row>(
	before: number,
	selected: number | undefined,
	{height, isFollowed, rows, rules}: TableView<Row>,
): number {
	if (!isFollowed || selected === undefined) {
		return 0;
	}

	const first =
		rules.isCentered === true
			? selected - Math.floor(height / 2)
			: Math.max(Math.min(before, selected), selected - height + 1);
	return clamped(first, rows.length - height);
}

/** Replaces the weak keys of tags, such as a GPU's index, by strong keys, such as its UUID, when these become known. */
function settledTags<Row>(tags: ReadonlySet<string>, all: readonly Row[], {keysOf}: Keyed<Row>): ReadonlySet<string> {
	const known = new Map(
		(tags.size === 0 ? [] : all).flatMap((row) => {
			const [strong, ...weak] = keysOf(row);
			return weak.filter((key) => tags.has(key)).map((key) => [key, strong!]);
		}),
	);
	return known.size === 0 ? tags : new Set([...tags].map((tag) => known.get(tag) ?? tag));
}

/** Keeps the selected row selected and in view after the rows have changed. */
export function settledTable<Row>(table: TableState, view: TableView<Row>): TableState {
	const index = selectedIndexIn(view.rows, table.selected, view.rules);
	const firstRow = firstRowIn(table.firstRow, index, view);
	const tags = settledTags(table.tags, view.all, view.rules);
	const {selected: now} = index === undefined ? table : selectRow(table, view, index);
	// Keeps the strong key of the selected row while this key is temporarily unknown.
	const isSame = now.keys.every((key) => table.selected.keys.includes(key)) && now.keys.length > 0;
	const keys = isSame ? table.selected.keys : now.keys;
	const isUnchanged = keys === table.selected.keys && now.place === table.selected.place;
	return isUnchanged && firstRow === table.firstRow && tags === table.tags
		? table
		: {...table, firstRow, tags, selected: isUnchanged ? table.selected : {keys, place: now.place}};
}
