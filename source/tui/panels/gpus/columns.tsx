/** The columns of the GPU table. Their order is in `format/monitor-settings.ts`. The order in which they disappear is in `gpus-panel.tsx`. */
import type {GpuColumnName} from '../../../format/monitor-settings.js';
import {shortBusId, shortModel} from '../../../format/readings.js';
import {shortDuration} from '../../../format/text/durations.js';
import type {TableRow} from '../../state/gpus/fold.js';
import {leastWithBar, Memory, numberWidth, Temperature, Utilization, Value} from '../shared/readings.js';
import {EndTime, noteText, StateWord} from '../shared/row-words.js';
import type {TableColumn} from '../../table/table-panel.js';
import {GpuNumbers, History, Owner} from './cells.js';
import {ProcessCell} from './process-cell.js';

type GpuColumn = Omit<TableColumn<TableRow>, 'emphasisOf'> & {
	/** The description in the column chooser. */
	readonly meaning: string;
	/** Maximum widths, one for each round in which the columns share spare width. */
	readonly growth?: readonly number[];
	/** The source of the values: the store or the GPU tool. Values are old while their source does not answer. */
	readonly source?: 'store' | 'tool';
	/** Whether all GPUs of a reservation have the same value. */
	readonly isOfReservation?: boolean;
};

const rounded = (value: number | undefined, unit: string): string | undefined =>
	value === undefined ? undefined : `${Math.round(value)}${unit}`;

const barGrowth = [leastWithBar, 12 + numberWidth, 16 + numberWidth, 20 + numberWidth];

export const gpuColumns: Readonly<Record<GpuColumnName, GpuColumn>> = {
	gpu: {
		title: 'GPU',
		meaning: 'index',
		width: 3,
		Cell: GpuNumbers,
	},
	model: {
		title: 'MODEL',
		meaning: 'model, shown if the models differ',
		width: 8,
		source: 'tool',
		Cell: ({row: {reading}}) => <Value>{reading?.name === undefined ? undefined : shortModel(reading.name)}</Value>,
	},
	state: {
		title: 'STATE',
		meaning: 'free, reserved, mine and so on',
		width: 10,
		source: 'store',
		Cell: StateWord,
	},
	owner: {
		title: 'OWNER',
		meaning: 'who holds or uses it',
		width: 9,
		growth: [12, 16, 20],
		source: 'store',
		isOfReservation: true,
		Cell: Owner,
	},
	kind: {
		title: 'KIND',
		meaning: 'a job (RUN) or by hand (MANUAL)',
		width: 6,
		source: 'store',
		isOfReservation: true,
		Cell: ({row: {lease}}) => <Value>{lease && (lease.type === 'run' ? 'RUN' : 'MANUAL')}</Value>,
	},
	held: {
		title: 'HELD',
		meaning: 'how long it has been held',
		width: 6,
		align: 'end',
		source: 'store',
		isOfReservation: true,
		Cell: ({row: {heldSeconds}}) => <Value>{heldSeconds === undefined ? undefined : shortDuration(heldSeconds)}</Value>,
	},
	ends: {
		title: 'ENDS',
		meaning: 'when the reservation ends',
		width: 7,
		source: 'store',
		isOfReservation: true,
		Cell: EndTime,
	},
	utilization: {
		title: 'UTIL',
		meaning: 'utilization',
		width: leastWithBar,
		growth: barGrowth,
		source: 'tool',
		Cell: ({row: {reading}, width}) => <Utilization percent={reading?.utilizationPercent} width={width} />,
	},
	memory: {
		title: 'MEM',
		meaning: 'memory in use',
		width: leastWithBar,
		growth: barGrowth,
		source: 'tool',
		Cell: ({row: {reading}, width}) => (
			<Memory usedMiB={reading?.memoryUsedMiB} totalMiB={reading?.memoryTotalMiB} width={width} />
		),
	},
	temperature: {
		title: 'TEMP ',
		meaning: 'temperature',
		width: 5,
		align: 'end',
		source: 'tool',
		Cell: ({row: {reading}}) => <Temperature celsius={reading?.temperatureCelsius} />,
	},
	power: {
		title: 'PWR',
		meaning: 'power',
		width: 5,
		align: 'end',
		source: 'tool',
		Cell: ({row: {reading}}) => <Value>{rounded(reading?.powerWatts, 'W')}</Value>,
	},
	history: {
		title: '5-MIN',
		meaning: 'utilization of the last five minutes',
		width: 8,
		growth: [8, 8, 12, 20],
		source: 'tool',
		Cell: History,
	},
	note: {
		title: 'NOTE',
		meaning: 'note of the reservation',
		width: 16,
		growth: [16, 20, 30, 44],
		source: 'store',
		isOfReservation: true,
		Cell: ({row}) => <Value>{noteText(row)}</Value>,
	},
	process: {
		title: 'PROCESS',
		meaning: 'largest process, or what is wrong',
		width: 19,
		growth: [24, 34, 50, 80],
		source: 'tool',
		Cell: ProcessCell,
	},
	fan: {
		title: 'FAN',
		meaning: 'fan speed',
		width: 4,
		align: 'end',
		source: 'tool',
		Cell: ({row: {reading}}) => <Value>{rounded(reading?.fanPercent, '%')}</Value>,
	},
	clock: {
		title: 'CLOCK',
		meaning: 'clock of the processors',
		width: 7,
		align: 'end',
		source: 'tool',
		Cell: ({row: {reading}}) => <Value>{rounded(reading?.smClockMHz, 'MHz')}</Value>,
	},
	pci: {
		title: 'PCI',
		meaning: 'address on the PCI bus',
		width: 12,
		source: 'tool',
		Cell: ({row: {reading}}) => (
			<Value>{reading?.pciBusId === undefined ? undefined : shortBusId(reading.pciBusId)}</Value>
		),
	},
	numa: {
		title: 'NUMA',
		meaning: 'NUMA node',
		width: 4,
		align: 'end',
		source: 'tool',
		Cell: ({row: {reading}}) => <Value>{reading?.numaNode?.toString()}</Value>,
	},
};
