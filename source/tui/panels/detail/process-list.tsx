/** Lists the processes of one GPU, one on each line. */
import {useMemo, type ReactElement, type ReactNode} from 'react';
import {Box} from 'ink';
import type {GpuProcess} from '../../../core/model/types.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {byMemory, processText} from '../../../format/readings.js';
import {sanitize} from '../../../format/text/text.js';
import {truncate} from '../../../format/text/width.js';
import {asTree} from '../../state/processes/rows.js';
import {storeNow} from '../../state/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import {Label} from '../../widgets/label.js';
import {Branch, processCells, type ProcessCellName} from '../shared/process-cells.js';

type Column = {
	readonly name: ProcessCellName;
	readonly title: string;
	readonly width: number;
	/** The minimum width of the panel for this column to be shown. */
	readonly from?: number;
};

const columns: readonly Column[] = [
	{name: 'pid', title: 'PID', width: 7},
	{name: 'user', title: 'USER', width: 6},
	{name: 'load', title: '%SM', width: 3, from: 44},
	{name: 'memory', title: 'MEM', width: 5},
	{name: 'cpu', title: 'CPU', width: 5, from: 56},
	{name: 'time', title: 'TIME', width: 6, from: 50},
];

/** Minimum width of the panel for longer names and wider gaps. */
const wide = 60;
/** Minimum width of the panel for full names. */
const veryWide = 100;

type LineProperties = {
	readonly cells: Readonly<Record<ProcessCellName, string>>;
	readonly width: number;
	readonly isHead?: boolean;
	readonly isSquatter?: boolean;
	readonly children: ReactNode;
};

function Line({cells, width, isHead = false, isSquatter = false, children}: LineProperties): ReactElement {
	const isWide = width >= wide;
	const tone = isHead ? 'heading' : isSquatter ? 'warning' : 'plain';
	const userWidth = isWide ? (width >= veryWide ? 12 : 8) : 6;
	return (
		<Box gap={isWide ? 2 : 1} flexShrink={0}>
			{columns
				.filter(({from = 0}) => width >= from)
				.map(({name, width: columnWidth}) => (
					<Box
						key={name}
						width={name === 'user' ? userWidth : columnWidth}
						flexShrink={0}
						justifyContent={name === 'pid' || name === 'user' ? 'flex-start' : 'flex-end'}
					>
						<Label tone={tone}>{cells[name]}</Label>
					</Box>
				))}
			{children}
		</Box>
	);
}

const titles = Object.fromEntries(columns.map(({name, title}) => [name, title])) as Readonly<
	Record<ProcessCellName, string>
>;

type PlacedProcess = {
	readonly process: GpuProcess;
	readonly depth: number;
};

/** Returns the processes of a GPU, either sorted with the largest first or as a tree. */
export function usePlacedProcesses({index, processes}: StatusRow): readonly PlacedProcess[] {
	const isTree = useMonitor(({panels}) => panels.isTree);
	return useMemo(() => {
		const ordered = byMemory(processes);
		return isTree
			? asTree(ordered.map((process) => ({process, gpu: index}))).map(({row: {process}, depth}) => ({process, depth}))
			: ordered.map((process) => ({process, depth: 0}));
	}, [index, processes, isTree]);
}

export const ProcessHead = ({width}: {readonly width: number}): ReactElement => (
	<Line isHead cells={titles} width={width}>
		<Label tone="heading">COMMAND</Label>
	</Line>
);

type Properties = PlacedProcess & {
	/** Whether the process uses the GPU although its user does not hold the GPU. */
	readonly isSquatter: boolean;
	readonly width: number;
};

export function ProcessLine({process, depth, isSquatter, width}: Properties): ReactElement {
	const now = useMonitor(storeNow);
	const container = process.containerId === undefined ? undefined : truncate(sanitize(process.containerId), 12);
	return (
		<Line cells={processCells(process, now)} width={width} isSquatter={isSquatter}>
			<Label tone={isSquatter ? 'warning' : 'plain'}>
				<Branch depth={depth} />
				{isSquatter ? 'not the holder: ' : ''}
				{processText(process)}
				{container === undefined ? undefined : <Label tone="dim"> in {container}</Label>}
			</Label>
		</Line>
	);
}
