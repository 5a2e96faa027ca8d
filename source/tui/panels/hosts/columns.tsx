/** The columns of the table of hosts, in order. Texts from other hosts were sanitized when they arrived. */
import type {ComponentType} from 'react';
import {splitText} from '../../../format/free-gpus.js';
import {shortModel} from '../../../format/readings.js';
import {sanitize} from '../../../format/text/text.js';
import {namedHost, type GpuLine, type HostLine, type TotalLine} from '../../state/hosts/lines.js';
import type {CellProperties} from '../../table/data-table.js';
import {Label, type Emphasis} from '../../widgets/label.js';
import {leastWithBar, Memory, numberWidth, Temperature, Utilization, Value} from '../shared/readings.js';
import type {Fit, TableColumn} from '../../table/table-panel.js';
import {End, Owner, Process, State, TotalFree, TotalMemory, TotalUtilization} from './host-cells.js';

type HostColumnName =
	'host' | 'gpu' | 'state' | 'owner' | 'ends' | 'utilization' | 'memory' | 'temperature' | 'model' | 'process';

type HostColumn = Pick<TableColumn<HostLine>, 'title' | 'width' | 'align'> & {
	readonly Cell: ComponentType<{readonly line: GpuLine; readonly width: number}>;
	/** The cell in the subtotals of a host. If undefined, the subtotals leave the column empty. */
	readonly Total?: ComponentType<{readonly line: TotalLine; readonly width: number}>;
};

const columns: Readonly<Record<HostColumnName, HostColumn>> = {
	host: {
		title: 'HOST',
		width: 12,
		Cell: ({line}) => <Label tone={line.isOwn ? 'strong' : 'plain'}>{sanitize(namedHost(line))}</Label>,
		Total: ({line}) => <Label>{sanitize(line.host)}</Label>,
	},
	gpu: {
		title: 'GPU',
		width: 3,
		align: 'end',
		Cell: ({line: {gpu}}) => <Label tone="strong">{gpu.gpu_id}</Label>,
	},
	state: {
		title: 'STATE',
		width: 10,
		Cell: State,
		Total: TotalFree,
	},
	owner: {
		title: 'OWNER',
		width: 8,
		Cell: Owner,
		Total: ({line: {waiting = 0}}) => (waiting > 0 ? <Label>Queue {waiting}</Label> : undefined),
	},
	ends: {
		title: 'ENDS',
		width: 7,
		Cell: End,
		Total: ({line: {totals}}) => <Label tone="free">{splitText(totals.free)}</Label>,
	},
	utilization: {
		title: 'UTIL',
		width: leastWithBar,
		Cell: ({line: {gpu}, width}) => <Utilization percent={gpu.utilization} width={width} />,
		Total: TotalUtilization,
	},
	memory: {
		title: 'MEM',
		width: leastWithBar,
		Cell: ({line: {gpu}, width}) => (
			<Memory usedMiB={gpu.memory_used_mb} totalMiB={gpu.memory_total_mb} width={width} />
		),
		Total: TotalMemory,
	},
	temperature: {
		title: 'TEMP ',
		width: 5,
		align: 'end',
		Cell: ({line: {gpu}}) => <Temperature celsius={gpu.temperature} />,
	},
	model: {
		title: 'MODEL',
		width: 10,
		Cell: ({line: {gpu}}) => <Value>{shortModel(gpu.gpu_model ?? '')}</Value>,
	},
	process: {
		title: 'PROCESS',
		width: 14,
		Cell: Process,
	},
};

/** Returns the emphasis of a cell. Names that repeat the row above, and values of a host that does not answer, are faint. */
const emphasisOf =
	(name: string) =>
	({row, above}: CellProperties<HostLine>): Emphasis =>
		row.kind === 'total'
			? 'selected'
			: name === 'host'
				? above !== undefined && namedHost(above) === namedHost(row)
					? 'old'
					: 'normal'
				: row.kind === 'gpu' && row.isLast
					? 'old'
					: 'normal';

export const hostColumns = Object.fromEntries(
	Object.entries(columns).map(([name, {Cell, Total, ...column}]): [string, TableColumn<HostLine>] => [
		name,
		{
			...column,
			Cell: ({row, width}) =>
				row.kind === 'gpu' ? (
					<Cell line={row} width={width} />
				) : row.kind === 'total' && Total !== undefined ? (
					<Total line={row} width={width} />
				) : undefined,
			emphasisOf: emphasisOf(name),
		},
	]),
) as Readonly<Record<HostColumnName, TableColumn<HostLine>>>;

/** The host and the state are always shown. */
export const hostFit: Fit<HostColumnName> = {
	sacrifices: [
		['process', 0],
		['memory', 8, 'at once'],
		['utilization', 4, 'at once'],
		['temperature', 0],
		['model', 0],
	],
	growth: [
		{host: 15},
		{owner: 10},
		{host: 20, process: 20},
		{host: 24, owner: 16, model: 16, process: 30},
		{utilization: 12 + numberWidth, memory: 12 + numberWidth, model: 24},
		{utilization: 20 + numberWidth, memory: 20 + numberWidth, process: 60},
	],
	last: ['process', 'host'],
};
