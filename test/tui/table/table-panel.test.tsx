import {Box} from 'ink';
import {expect, test} from 'vitest';
import {TableOrder, TablePanel, type Fit} from '../../../source/tui/table/table-panel.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {drawn, painted} from '../_drawn.js';
import {after, stateOf, type Step} from '../_harness.js';
import {createBox} from '../_world.js';
import {rowsOf} from '../jobs/_jobs.js';

const state = await stateOf(await createBox(1), {columns: 100, rows: 30}, {}, [
	'focus-jobs',
	{kind: 'jobs-arrived', jobs: {rows: rowsOf()}},
]);

const columns = {
	id: {title: 'ID', width: 4, Cell: ({row}: {row: {id: string}}) => <Label>{row.id}</Label>},
	state: {title: 'STATE', width: 10, Cell: ({row}: {row: {state: string}}) => <Label>{row.state}</Label>},
	user: {title: 'USER', width: 8, Cell: ({row}: {row: {account: string}}) => <Label>{row.account}</Label>},
} as const;
const fit: Fit<keyof typeof columns> = {sacrifices: [['user', 0]], growth: [{id: 6}], last: ['state']};

const panel = (width: number, more = {}) => (
	<TablePanel name="jobs" columns={columns} fit={fit} width={width} rows={4} {...more} />
);

test('TablePanel shows the rows in view, the order in its title, and the selected row', () => {
	expect(drawn(panel(44), {state: after(state, 'line-down')})).toMatchInlineSnapshot(`
		"╭─ 8:Jobs  sort STATE^ ───────── 1-3 of 6 ─╮
		│  ID     STATE                   USER     │
		│  3      running                 bob      │
		│> 4      running                 alice    │
		│  5      queued                  alice    │
		╰──────────────────────────────────────────╯"
	`);
});

test('TablePanel leaves out columns that do not fit or are hidden', () => {
	expect(drawn(panel(24), {state}).split('\n', 2)[1]).toMatch(/^│ {2}ID +STATE +│$/v);
	expect(drawn(panel(44, {hidden: 'state'}), {state}).split('\n', 2)[1]).toMatch(/^│ {2}ID +USER +│$/v);
});

test('TablePanel can show a line in place of the cells of a row', () => {
	const lineOf = ({id}: {id: string}) => (id === '3' ? <Label>a whole line</Label> : undefined);
	expect(drawn(panel(44, {lineOf}), {state}).split('\n').slice(2, 4)).toMatchInlineSnapshot(`
		[
		  "│> a whole line                            │",
		  "│  4      running                 alice    │",
		]
	`);
});

test('TablePanel without rows shows why, or the content below it', () => {
	const empty = after(state, {kind: 'jobs-arrived', jobs: {rows: []}});
	expect(drawn(panel(44, {empty: 'no jobs'}), {state: empty}).split('\n', 3)[2]).toBe(`│  ${'no jobs'.padEnd(40)}│`);
	const below = panel(44, {children: <Label>below</Label>});
	expect(drawn(below, {state: empty}).split('\n', 3)[2]).toBe(`│${'below'.padEnd(42)}│`);
});

test('TablePanel shows outdated values faintly', () => {
	const faint = painted(<Label tone="dim">running</Label>, 'dark');
	expect(painted(panel(44, {isOld: true}), 'dark', {state})).toContain(faint);
	expect(painted(panel(44), 'dark', {state})).not.toContain(faint);
});

const typed = (text: string): readonly Step[] => ['open-filter', {kind: 'typed', text}, 'keep-filter'];

test.each([
	['the column of the order', [], 'sort STATE^'],
	['a reversed order', ['invert-sort'], 'sort STATEv'],
	['the filter', typed('bo\u{1B}[31mb'), 'sort STATE^  filter bob'],
	['a filter for the user', ['filter-mine'], 'sort STATE^  filter mine'],
	['the number of tagged rows', ['toggle-tag', 'toggle-tag'], 'sort STATE^  tagged 2'],
] as const)('TableOrder shows %s', (_, steps, expected) => {
	const order = (
		<Box gap={2}>
			<TableOrder name="jobs" columns={columns} />
		</Box>
	);
	expect(drawn(order, {state: after(state, ...steps)})).toBe(expected);
});

test('TableOrder shows the second column of the order', () => {
	const sort = {by: 'state', isInverted: false, second: {by: 'id', isInverted: true}} as const;
	expect(drawn(<TableOrder name="jobs" columns={columns} />, {state: {...state, jobs: {...state.jobs, sort}}})).toBe(
		'sort STATE^ then IDv',
	);
});
