import {expect, test} from 'vitest';
import {GpuNumbers, History, Owner} from '../../../../source/tui/panels/gpus/cells.js';
import {drawn} from '../../_drawn.js';
import {after, stateOf} from '../../_harness.js';
import {createBox, gpuReading, lease} from '../../_world.js';
import {heldRow, statusRow} from '../_rows.js';

const box = await createBox(2);
const state = await stateOf(box, {columns: 100, rows: 30});

const foldedRow = (...gpus: readonly number[]) => ({
	...statusRow({index: gpus[0]!}),
	members: gpus.map((index) => statusRow({index})),
});

test.each([
	['one GPU', statusRow({index: 12}), 3, '12'],
	['a folded row', foldedRow(0, 1, 2, 5), 12, '0-2,5 (4)'],
	['a folded row with a long list in a narrow column', foldedRow(0, 2, 4, 6, 8), 10, '0,2,4… (5)'],
])('GpuNumbers of %s', (_, row, width, expected) => {
	expect(drawn(<GpuNumbers row={row} width={width} />)).toBe(expected);
});

const held = heldRow(lease('bob', {leaseId: 'a'}));
const other = heldRow(lease('bob', {leaseId: 'b'}));
const without = heldRow(lease('bob', {leaseId: undefined}));

test.each([
	['alone', other, held, other, false, ' bob'],
	['at the start', undefined, held, held, false, '╭bob'],
	['in the middle', held, held, held, false, '│bob'],
	['at the end', held, held, other, false, '╰bob'],
	['at the start in ASCII', undefined, held, held, true, '+bob'],
	['in the middle in ASCII', held, held, held, true, '|bob'],
	['with no id', without, without, without, false, ' bob'],
] as const)('Owner of a GPU that is %s of its reservation', (_, above, row, below, isAscii, expected) => {
	expect(drawn(<Owner row={row} above={above} below={below} width={10} />, {state, isAscii})).toBe(expected);
});

const readingOf = (index: number, utilizationPercent: number | undefined) => gpuReading(index, {utilizationPercent});

/** A state after scans one minute apart, the last of them now. */
const scanned = (...scans: ReadonlyArray<readonly [first: number | undefined, second: number | undefined]>) =>
	after(
		{...state, history: {...state.history, samples: []}},
		...scans.map(
			(percents, index) =>
				({
					kind: 'scan-arrived',
					nowMs: 1000,
					observation: {
						...state.observation!,
						takenAtMs: 1000 - 60_000 * (scans.length - 1 - index),
						gpus: percents.map((percent, gpu) => readingOf(gpu, percent)),
					},
				}) as const,
		),
	);

const row = (index: number) => statusRow({index, reading: gpuReading(index)});

test.each([
	['an idle GPU', scanned([0, 0]), row(0), '▁'],
	['a busy GPU', scanned([100, 0], [50, 0], [100, 0]), row(0), '█ ▅ █'],
	['a GPU with unknown readings', scanned([undefined, 0], [100, 0]), row(0), '█'],
	['the mean of a folded row', scanned([100, 0]), {...row(0), members: [row(0), row(1)]}, '▅'],
	['a GPU that was never read', scanned([100, 0]), statusRow({index: 7}), ''],
])('History of %s', (_, past, historyRow, expected) => {
	expect(drawn(<History row={historyRow} width={10} />, {state: past})).toBe(expected);
});
