import {expect, test} from 'vitest';
import {summaryTable} from '../../source/format/tables/host-tables.js';
import {createPaint} from '../../source/format/text/paint.js';

test('status --summary counts free GPUs in MIG mode separately', () => {
	const rows = [
		{gpu_id: 0, status: 'AVAILABLE'},
		{gpu_id: 1, status: 'AVAILABLE', mig_instances: [{profile: '3g.40gb'}]},
		{gpu_id: 2, status: 'IN_USE', mig_instances: [{profile: '3g.40gb'}]},
	];
	const countsOf = (some: typeof rows) =>
		summaryTable([{host: 'a', rows: some}], createPaint(false, {}))
			.split('\n')
			.at(-1);
	expect(countsOf(rows)).toMatch(/│ ✓ 1 \+1 MIG +│ 1 *$/v);
	expect(countsOf(rows.slice(1))).toMatch(/│ ✓ 0 \+1 MIG +│ 1 *$/v);
	expect(countsOf(rows.slice(0, 1))).toMatch(/│ ✓ 1 +│ 0 *$/v);
	// A GPU in MIG mode without instances is not whole either.
	expect(countsOf([rows[0]!, {...rows[1]!, mig_instances: []}])).toMatch(/│ ✓ 1 \+1 MIG +│ 0 *$/v);
	expect(countsOf(rows.slice(2))).toMatch(/│ ✗ 0 +│ 1 *$/v);
});
