/** Cells about a process, for the detail panel of a GPU and for the process table. */
import type {ReactElement} from 'react';
import type {GpuProcess} from '../../../core/model/types.js';
import {gibibytes} from '../../../format/readings.js';
import {shortDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {Label} from '../../widgets/label.js';

export type ProcessCellName = 'pid' | 'user' | 'load' | 'memory' | 'cpu' | 'time';

const percent = (value: number | undefined): string => (value === undefined ? '-' : String(Math.round(value)));

export const processCells = (
	process: GpuProcess,
	now: number | undefined,
): Readonly<Record<ProcessCellName, string>> => ({
	pid: String(process.pid),
	user: sanitize(process.user ?? '?'),
	load: percent(process.utilizationPercent),
	memory: process.memoryUsedMiB === undefined ? 'N/A' : gibibytes(process.memoryUsedMiB),
	cpu: process.cpuPercent === undefined ? '-' : `${percent(process.cpuPercent)}%`,
	time: process.startTime === undefined || now === undefined ? '-' : shortDuration(now - process.startTime),
});

/** Maximum indentation of the process tree. */
const deepest = 8;

/** Draws the line from a parent process to its child. */
export function Branch({depth}: {readonly depth: number}): ReactElement | undefined {
	const {isAscii} = useDrawing();
	return depth === 0 ? undefined : (
		<Label tone="dim">
			{' '.repeat(2 * Math.min(depth, deepest) - 2)}
			{isAscii ? '`-' : '└─'}{' '}
		</Label>
	);
}
