import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
	clearedTable,
	moveSelection,
	selectRow,
	settledTable,
	sortByTitle,
	tableChanges,
	type TableIntent,
	type TableView,
} from '../../../source/tui/state/table/reduce.js';
import {compareIn} from '../../../source/tui/state/table/order.js';
import {filteredRows, selectedIndexIn, sortedRows, type RowRules} from '../../../source/tui/state/table/rows.js';
import {initialTableBy, isFiltered, withTyped, type TableState} from '../../../source/tui/state/table/state.js';

type Key = 'size' | 'user';

/** A row, or a group of rows. The strong key is unknown at times, and two rows may have the same. */
type Row = {
	readonly index: number;
	readonly name?: string;
	readonly user: string;
	readonly size?: number;
	readonly members?: readonly Row[];
};

const sortKeys: readonly Key[] = ['size', 'user'];
const membersOf = (row: Row): readonly Row[] => row.members ?? [row];

const rules: RowRules<Row, string> & TableView<Row>['rules'] = {
	keysOf: ({index, name}) => (name === undefined ? [`#${index}`] : [name, `#${index}`]),
	membersOf,
	placeOf: ({index}) => index,
	textOf: ({name = '', user}) => `${name} ${user}`,
	isOf: ({user}, account) => user === account,
	isMine: ({user}, account) => user === account,
	valuesOf: () => ({size: ({size}) => size, user: ({user}) => user}),
	noun: 'row',
	sortKeys,
	userOf: ({user}) => (user === 'nobody' ? undefined : user),
	noUser: 'no user',
};

const users = ['alice', 'bob', 'nobody'];

const anyRows = fc
	.array(
		fc.record({
			name: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), {nil: undefined}),
			user: fc.constantFrom(...users),
			size: fc.option(fc.nat(3), {nil: undefined}),
		}),
		{maxLength: 14},
	)
	.map((rows): readonly Row[] => rows.map((row, index) => ({...row, index})));

type Step =
	| TableIntent
	| 'clear'
	| 'fold'
	| {readonly index: number}
	| {readonly by: number}
	| {readonly title: Key}
	| {readonly typed: string}
	| {readonly rows: readonly Row[]}
	| {readonly height: number};

const anyStep: fc.Arbitrary<Step> = fc.oneof(
	fc.constantFrom<Step>(...(Object.keys(tableChanges) as readonly TableIntent[]), 'clear', 'fold'),
	fc.integer({min: -3, max: 20}).map((index) => ({index})),
	fc.integer({min: -20, max: 20}).map((by) => ({by})),
	fc.constantFrom(...sortKeys).map((title) => ({title})),
	fc.constantFrom('a', 'b', 'z', ' ', 'ALICE').map((typed) => ({typed})),
	anyRows.map((rows) => ({rows})),
	fc.integer({min: 1, max: 9}).map((height) => ({height})),
);

type Shown = {
	readonly table: TableState;
	readonly all: readonly Row[];
	readonly height: number;
	readonly isFolded: boolean;
	readonly isCentered: boolean;
};

/** Folds the rows of a user into one. */
const folded = (rows: readonly Row[]): readonly Row[] =>
	Map.groupBy(rows, ({user}) => user)
		.values()
		.map((members) => (members.length === 1 ? members[0]! : {...members[0]!, members}))
		.toArray();

const filteredOf = ({table, all}: Shown): readonly Row[] => filteredRows(all, table.filter, rules, 'alice');

const rowsOf = (shown: Shown): readonly Row[] => {
	const rows = filteredOf(shown);
	return sortedRows(shown.isFolded ? folded(rows) : rows, shown.table.sort, rules, 'alice');
};

const viewOf = (shown: Shown): TableView<Row> => ({
	rows: rowsOf(shown),
	all: shown.all,
	height: shown.height,
	rules: {...rules, isCentered: shown.isCentered},
	isFollowed: true,
});

const changed = (shown: Shown, step: Step): Shown => {
	const {table} = shown;
	const view = viewOf(shown);
	if (step === 'clear') {
		return {...shown, table: clearedTable(table) ?? table};
	}

	if (step === 'fold') {
		return {...shown, isFolded: !shown.isFolded};
	}

	if (typeof step === 'string') {
		const next = tableChanges[step](table, view);
		return typeof next === 'string' ? shown : {...shown, table: next};
	}

	if ('rows' in step) {
		return {...shown, all: step.rows};
	}

	if ('height' in step) {
		return {...shown, height: step.height};
	}

	return {
		...shown,
		table:
			'index' in step
				? selectRow(table, view, step.index)
				: 'by' in step
					? moveSelection(table, view, step.by)
					: 'title' in step
						? sortByTitle(table, step.title)
						: withTyped(table, {text: step.typed}),
	};
};

const settled = (shown: Shown): Shown => ({...shown, table: settledTable(shown.table, viewOf(shown))});

/** The rows without their groups. */
const flat = (rows: readonly Row[]): readonly Row[] => rows.flatMap((row) => membersOf(row));

const byIndex = (rows: readonly Row[]): readonly Row[] => rows.toSorted((a, b) => a.index - b.index);

const selectedIndex = (shown: Shown): number | undefined => selectedIndexIn(rowsOf(shown), shown.table.selected, rules);

const anyRun = fc.record({
	rows: anyRows,
	height: fc.integer({min: 1, max: 9}),
	isCentered: fc.boolean(),
	steps: fc.array(anyStep, {maxLength: 30, size: 'max'}),
});

/** Every state of a run, with the state before and the step between. */
const statesOf = ({
	rows,
	height,
	isCentered,
	steps,
}: {
	readonly rows: readonly Row[];
	readonly height: number;
	readonly isCentered: boolean;
	readonly steps: readonly Step[];
}): ReadonlyArray<{readonly before: Shown; readonly step: Step; readonly after: Shown}> => {
	let before = settled({table: initialTableBy('size'), all: rows, height, isFolded: false, isCentered});
	return steps.map((step) => {
		const after = settled(changed(before, step));
		const state = {before, step, after};
		before = after;
		return state;
	});
};

test('the selected row of a table exists and is in view after any steps and row changes', () => {
	fc.assert(
		fc.property(anyRun, (run) => {
			for (const {after} of statesOf(run)) {
				const {table, height} = after;
				const rows = rowsOf(after);
				const index = selectedIndex(after);
				expect(index === undefined).toBe(rows.length === 0);
				expect(table.firstRow).toBeGreaterThanOrEqual(0);
				expect(table.firstRow).toBeLessThanOrEqual(Math.max(0, rows.length - height));
				if (index !== undefined) {
					const row = membersOf(rows[index]!)[0]!;
					expect(table.selected.keys).toEqual(expect.arrayContaining([...rules.keysOf(row)]));
					expect(table.selected.place).toBe(row.index);
					expect(index).toBeGreaterThanOrEqual(table.firstRow);
					expect(index).toBeLessThan(table.firstRow + height);
				}

				// A settled state stays the same object.
				expect(settled(after).table).toBe(table);
			}
		}),
	);
});

test('filtering, folding and sorting a table neither lose nor duplicate rows', () => {
	fc.assert(
		fc.property(anyRun, (run) => {
			for (const {after} of statesOf(run)) {
				const {filter} = after.table;
				const words = filter.text.toLowerCase().split(' ').filter(Boolean);
				const wanted = after.all.filter(
					({name = '', user}) =>
						(filter.user === undefined || user === filter.user) &&
						(!filter.isMine || user === 'alice') &&
						words.every((word) => `${name} ${user}`.includes(word)),
				);
				expect(byIndex(flat(rowsOf(after)))).toEqual(wanted);
				expect(isFiltered(filter) || wanted.length === after.all.length).toBe(true);
			}
		}),
	);
});

test('the rows of a table are in the order of the sorted column, with unknown values last', () => {
	fc.assert(
		fc.property(anyRun, (run) => {
			for (const {after} of statesOf(run)) {
				const {by, isInverted} = after.table.sort;
				const values = rowsOf(after).map((row) => row[by as Key]);
				const known = values.filter((value) => value !== undefined);
				const ascending = known.toSorted((a, b) => compareIn({by: '', isInverted: false}, a, b));
				expect(values.slice(0, known.length)).toEqual(isInverted ? ascending.toReversed() : ascending);
			}
		}),
	);
});

test('the selection of a table follows its row while rows change, even if the key of the row is unknown at times', () => {
	fc.assert(
		fc.property(anyRun, (run) => {
			for (const {before, step, after} of statesOf(run)) {
				const index = selectedIndex(before);
				const [strong] = before.table.selected.keys;
				const isThere = flat(rowsOf(after)).some(({name}) => name === strong);
				if (index === undefined || typeof step === 'string' || !('rows' in step) || !isThere) {
					continue;
				}

				const row = rowsOf(after)[selectedIndex(after)!]!;
				expect(membersOf(row).map((member) => rules.keysOf(member)[0])).toContain(strong);
			}
		}),
	);
});

test('a tag stays with its row, and canceling a filter restores the selection', () => {
	fc.assert(
		fc.property(anyRun, anyRun, (run, {steps}) => {
			const {after: start} = statesOf({...run, steps: [...run.steps, 'keep-filter', 'clear', 'clear']}).at(-1)!;
			const tags = (shown: Shown): readonly number[] =>
				shown.all.filter((row) => shown.table.tags.has(rules.keysOf(row)[0]!)).map(({index}) => index);
			const tagged = settled(changed(start, 'toggle-tag'));
			const typing: readonly Step[] = [
				'open-filter',
				...steps.filter((step) => typeof step === 'object' && ('typed' in step || 'by' in step)),
			];
			let typed = tagged;
			for (const step of typing) {
				typed = settled(changed(typed, step));
			}

			const dropped = settled(changed(typed, 'drop-filter'));
			expect(tags(dropped)).toEqual(tags(tagged));
			expect(dropped.table.selected).toEqual(tagged.table.selected);
			expect(dropped.table.filter).toEqual(tagged.table.filter);
			expect(dropped.table.prompt).toBeUndefined();
		}),
	);
});
