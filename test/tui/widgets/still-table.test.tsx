import {expect, test} from 'vitest';
import {StillTable, type StillColumn} from '../../../source/tui/widgets/still-table.js';
import {drawn, lines} from '../_drawn.js';

const columns: readonly StillColumn[] = [{title: 'USER'}, {title: 'GPU-HOURS', align: 'right'}];

test('StillTable aligns titles and values in columns', () => {
	const rows = [
		{USER: 'alice', 'GPU-HOURS': '1.5'},
		{USER: 'bob', 'GPU-HOURS': '10000.25'},
	];
	expect(drawn(<StillTable columns={columns} rows={rows} />)).toBe(
		lines('  USER    GPU-HOURS', '  alice         1.5', '  bob      10000.25'),
	);
});

test('StillTable leaves a cell blank if the row has no value for it', () => {
	const rows = [{USER: 'alice'}, {USER: 'bob', 'GPU-HOURS': '2.0'}];
	expect(drawn(<StillTable columns={columns} rows={rows as ReadonlyArray<Record<string, string>>} />)).toBe(
		lines('  USER    GPU-HOURS', '  alice', '  bob           2.0'),
	);
});

test('StillTable aligns its columns after wide characters', () => {
	const rows = [
		{USER: 'alice', 'GPU-HOURS': '1.5'},
		{USER: '訓練', 'GPU-HOURS': '100.0'},
	];
	expect(drawn(<StillTable columns={columns} rows={rows} />)).toBe(
		lines('  USER    GPU-HOURS', '  alice         1.5', '  訓練        100.0'),
	);
});
