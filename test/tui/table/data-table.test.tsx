import type {ComponentProps, ReactElement} from 'react';
import {Box, Text} from 'ink';
import {render} from 'ink-testing-library';
import {expect, test, vi} from 'vitest';
import {createMouseTargets, MouseContext} from '../../../source/tui/mouse/mouse-context.js';
import {blockWidthOf, DataTable, type CellProperties, type DataColumn} from '../../../source/tui/table/data-table.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {drawn, lines, painted} from '../_drawn.js';

type Job = {readonly id: number; readonly owner: string; readonly note?: string};

const jobs: readonly Job[] = [
	{id: 1, owner: 'alice'},
	{id: 2, owner: 'bob'},
	{id: 10, owner: 'carol', note: 'cannot be read'},
	{id: 11, owner: 'a very long name'},
];

const columns: ReadonlyArray<DataColumn<Job>> = [
	{name: 'id', title: 'ID', width: 3, align: 'end', Cell: ({row}) => <Label>{row.id}</Label>},
	{name: 'owner', title: 'OWNER', width: 8, gap: 2, Cell: ({row}) => <Label>{row.owner}</Label>},
];

type Table = ComponentProps<typeof DataTable<Job>>;

const table = (more: Partial<Table> = {}): ReactElement => (
	<DataTable columns={columns} rows={jobs} firstRow={0} height={5} width={16} {...more} />
);

test('DataTable draws a head and aligned columns, and cuts a cell that is too long', () => {
	expect(drawn(table())).toBe(lines('   ID  OWNER', '    1  alice', '    2  bob', '   10  carol', '   11  a very …'));
});

test('DataTable draws as many rows as fit below the head, beginning with the first visible row', () => {
	expect(drawn(table({firstRow: 1, height: 3}))).toBe(lines('   ID  OWNER', '    2  bob', '   10  carol'));
});

test('DataTable without a head uses the first line for a row', () => {
	expect(drawn(table({hasHead: false, height: 2}))).toBe(lines('    1  alice', '    2  bob'));
});

test('DataTable is as high as requested, with blank lines below the last row', () => {
	const framed = (
		<Box flexDirection="column">
			{table({rows: jobs.slice(0, 1), height: 3})}
			<Label>below</Label>
		</Box>
	);
	expect(drawn(framed)).toBe(lines('   ID  OWNER', '    1  alice', '', 'below'));
});

test('DataTable marks the selected row and tagged rows before their cells', () => {
	const marked = table({selected: 1, isTagged: ({id}) => id === 2 || id === 10});
	expect(drawn(marked)).toBe(lines('   ID  OWNER', '    1  alice', '>*  2  bob', ' * 10  carol', '   11  a very …'));
});

test('DataTable draws the mark of the selected row inverted and the text of the row bold', () => {
	const row = (selected?: number): string =>
		painted(table({rows: jobs.slice(0, 1), hasHead: false, height: 1, selected}), 'dark');
	const expected = (
		<Box>
			<Text inverse>{'> '}</Text>
			<Text>{'  '}</Text>
			<Text bold>1</Text>
			<Text>{'  '}</Text>
			<Text bold>alice</Text>
		</Box>
	);
	expect(row(0)).toBe(painted(expected, 'dark'));
	expect(row()).not.toContain(painted(<Text bold>alice</Text>, 'dark'));
});

test('DataTable draws a cell dimmed if it repeats the cell above, except in the selected row', () => {
	const repeating: ReadonlyArray<DataColumn<Job>> = [
		{
			...columns[1]!,
			emphasisOf: ({row, above}: CellProperties<Job>) => (row.owner === above?.owner ? 'repeated' : 'normal'),
		},
	];
	const rows = [
		{id: 1, owner: 'alice'},
		{id: 2, owner: 'alice'},
	];
	const last = (more: Partial<Table> = {}): string =>
		painted(table({columns: repeating, rows, hasHead: false, height: 2, ...more}), 'dark')
			.split('\n')
			.at(-1)!;
	const name = {
		plain: 'alice',
		faint: painted(<Text dimColor>alice</Text>, 'dark'),
		bold: painted(<Text bold>alice</Text>, 'dark'),
	};
	expect(last().endsWith(name.faint)).toBe(true);
	expect(last({selected: 1}).endsWith(name.bold)).toBe(true);
	// The first row in view has no cell above.
	expect(last({firstRow: 1, height: 1}).endsWith(name.plain)).toBe(true);
});

test('DataTable draws a cell with outdated values dimmed, even in the selected row', () => {
	const old: ReadonlyArray<DataColumn<Job>> = [{...columns[1]!, emphasisOf: () => 'old'}];
	const row = painted(table({columns: old, rows: jobs.slice(0, 1), hasHead: false, height: 1, selected: 0}), 'dark');
	const expected = (
		<Box>
			<Text inverse>{'> '}</Text>
			<Text dimColor>alice</Text>
		</Box>
	);
	expect(row).toBe(painted(expected, 'dark'));
});

test('DataTable draws a row that has a text as its marks and the text, without cells', () => {
	const lineOf = ({note}: Job) => (note === undefined ? undefined : <Label>{note}</Label>);
	expect(drawn(table({lineOf, selected: 2, width: 20}))).toBe(
		lines('   ID  OWNER', '    1  alice', '    2  bob', '> cannot be read', '   11  a very …'),
	);
});

test('DataTable without rows shows its text for an empty table below the head', () => {
	const empty = <Label>no jobs</Label>;
	expect(drawn(table({rows: [], empty}))).toBe(lines('   ID  OWNER', '  no jobs', '', '', ''));
	expect(drawn(table({rows: [], empty, hasHead: false, height: 2}))).toBe(lines('  no jobs', ''));
	expect(drawn(table({empty}))).not.toContain('no jobs');
});

test('DataTable with two blocks draws a head above each block, and fills the first block before the second', () => {
	expect(blockWidthOf(35, 2)).toBe(16);
	expect(drawn(table({blocks: 2, width: 35, height: 3, selected: 2}))).toBe(
		lines('   ID  OWNER     │    ID  OWNER', '    1  alice     │ >  10  carol', '    2  bob       │    11  a very …'),
	);
	expect(drawn(table({blocks: 2, width: 35, height: 4}))).toBe(
		lines(
			'   ID  OWNER     │    ID  OWNER',
			'    1  alice     │    11  a very …',
			'    2  bob       │',
			'   10  carol     │',
		),
	);
});

test('DataTable reports clicks on rows and on column titles', async () => {
	const targets = createMouseTargets();
	const clicked: Array<number | string> = [];
	const add = (at: number | string): void => {
		clicked.push(at);
	};

	const {unmount} = render(
		<MouseContext value={targets}>{table({blocks: 2, width: 35, height: 3, onRow: add, onTitle: add})}</MouseContext>,
	);
	const click = (column: number, row: number): boolean => targets.send({kind: 'click', column, row});
	await vi.waitFor(
		() => {
			expect(click(5, 1)).toBe(true);
		},
		{timeout: patienceMs},
	);
	expect([click(5, 2), click(22, 1), click(22, 2)]).toEqual([true, true, true]);
	expect(clicked).toEqual([0, 1, 2, 3]);
	clicked.length = 0;
	expect([click(3, 0), click(8, 0), click(22, 0), click(28, 0)]).toEqual([true, true, true, true]);
	expect(clicked).toEqual(['id', 'owner', 'id', 'owner']);
	clicked.length = 0;
	// The clicks are after the last title, on the line between the blocks, and below the table.
	expect([click(15, 0), click(17, 1), click(5, 3)]).toEqual([false, false, false]);
	expect(clicked).toEqual([]);
	unmount();
});

test('DataTable does not handle a click below the last row', async () => {
	const targets = createMouseTargets();
	const onRow = vi.fn<(index: number) => void>();
	const {unmount} = render(<MouseContext value={targets}>{table({firstRow: 2, height: 5, onRow})}</MouseContext>);
	const click = (row: number): boolean => targets.send({kind: 'click', column: 5, row});
	await vi.waitFor(
		() => {
			expect(click(2)).toBe(true);
		},
		{timeout: patienceMs},
	);
	expect(onRow).toHaveBeenCalledExactlyOnceWith(3);
	expect(click(3)).toBe(false);
	expect(onRow).toHaveBeenCalledOnce();
	unmount();
});

test('DataTable renders a row again only when the row, a neighbor or its marks change', () => {
	const renders: number[] = [];
	const counted: ReadonlyArray<DataColumn<Job>> = [
		{
			...columns[1]!,
			Cell({row}) {
				renders.push(row.id);
				return <Label>{row.owner}</Label>;
			},
		},
	];
	const {rerender, unmount} = render(table({columns: counted}));
	expect(renders).toEqual([1, 2, 10, 11]);
	renders.length = 0;
	rerender(table({columns: counted}));
	expect(renders).toEqual([]);
	rerender(table({columns: counted, selected: 1}));
	expect(renders).toEqual([2]);
	renders.length = 0;
	rerender(table({columns: counted, selected: 1, rows: jobs.with(3, {id: 11, owner: 'dave'})}));
	expect(renders).toEqual([10, 11]);
	unmount();
});
