import {usualGpuColumns, type GpuColumnName} from '../../../format/monitor-settings.js';
import type {Column, GrowthRound, Sacrifice} from '../../../format/text/columns.js';
import {markerWidth} from '../../table/data-table.js';
import {loadColumns} from '../../table/load-columns.js';
import {leastWithBar, numberWidth} from '../shared/readings.js';

type Title = {
	/** The title above the column. */
	readonly short: string;
	/** The description in the column chooser. */
	readonly meaning: string;
};

export const gpuTitles: Readonly<Record<GpuColumnName, Title>> = {
	gpu: {short: 'GPU', meaning: 'index'},
	model: {short: 'MODEL', meaning: 'model, shown if the models differ'},
	state: {short: 'STATE', meaning: 'free, reserved, mine and so on'},
	owner: {short: 'OWNER', meaning: 'who holds or uses it'},
	kind: {short: 'KIND', meaning: 'a job (RUN) or by hand (MANUAL)'},
	held: {short: 'HELD', meaning: 'how long it has been held'},
	ends: {short: 'ENDS', meaning: 'when the reservation ends'},
	utilization: {short: 'UTIL', meaning: 'utilization'},
	memory: {short: 'MEM', meaning: 'memory in use'},
	temperature: {short: 'TEMP ', meaning: 'temperature'},
	power: {short: 'PWR', meaning: 'power'},
	history: {short: '5-MIN', meaning: 'utilization of the last five minutes'},
	note: {short: 'NOTE', meaning: 'note of the reservation'},
	process: {short: 'PROCESS', meaning: 'largest process, or what is wrong'},
	fan: {short: 'FAN', meaning: 'fan speed'},
	clock: {short: 'CLOCK', meaning: 'clock of the processors'},
	pci: {short: 'PCI', meaning: 'address on the PCI bus'},
	numa: {short: 'NUMA', meaning: 'NUMA node'},
};

/** Minimum widths in terminal columns, including bars. */
const leastWidths: Readonly<Record<GpuColumnName, Omit<Column, 'name'>>> = {
	gpu: {width: 3},
	model: {width: 8},
	state: {width: 10},
	owner: {width: 9},
	kind: {width: 6},
	held: {width: 6, align: 'end'},
	ends: {width: 7},
	utilization: {width: leastWithBar},
	memory: {width: leastWithBar},
	temperature: {width: 5, align: 'end'},
	power: {width: 5, align: 'end'},
	history: {width: 8},
	note: {width: 16},
	process: {width: 19},
	fan: {width: 4, align: 'end'},
	clock: {width: 7, align: 'end'},
	pci: {width: 12},
	numa: {width: 4, align: 'end'},
};

/** Columns that shrink or disappear if space is short, in this order. A load of 8 or 4 terminal columns is only a number, without a bar. */
const sacrifices: ReadonlyArray<Sacrifice<GpuColumnName>> = [
	['note', 0],
	['history', 0],
	['power', 0],
	['kind', 0],
	['held', 0],
	['process', 14],
	['memory', 8, 'at once'],
	['utilization', 4, 'at once'],
	['process', 0],
	// These columns disappear last, because they are shown only if the user chose them or if the GPU models differ.
	['pci', 0],
	['numa', 0],
	['clock', 0],
	['fan', 0],
	['model', 0],
	['temperature', 0],
	['ends', 0],
	['owner', 4],
];

const growth: ReadonlyArray<GrowthRound<GpuColumnName>> = [
	{owner: 12, process: 24, model: 12},
	{owner: 16, utilization: 12 + numberWidth, memory: 12 + numberWidth, note: 20, process: 34},
	{owner: 20, utilization: 16 + numberWidth, memory: 16 + numberWidth, history: 12, note: 30, process: 50},
	{utilization: 20 + numberWidth, memory: 20 + numberWidth, history: 20, note: 44, process: 80},
];

/** The facts that the choice of columns depends on, besides the width. None changes when users come and go, so columns do not jump. */
export type GpuColumnNeeds = {
	readonly chosen?: readonly GpuColumnName[];
	/** Length of the longest list of GPUs in a row. */
	readonly gpu?: number;
	/** Length of the longest name of a model. */
	readonly model?: number;
};

/** Maximum width of a list of GPUs. A longer list is shortened before the number of GPUs at its end. */
const mostGpuWidth = 14;
const leastModelWidth = 5;
const mostModelWidth = 24;

const within = (width: number, least: number, most: number): number => Math.max(least, Math.min(width, most));

/** Returns as many of the chosen columns as fit into `width`, with the width of each. */
export function gpuColumns(
	width: number,
	{chosen = usualGpuColumns, gpu = 0, model = leastWidths.model.width}: GpuColumnNeeds = {},
): ReadonlyArray<Column<GpuColumnName>> {
	const needed: Partial<Record<GpuColumnName, number>> = {
		gpu: within(gpu, leastWidths.gpu.width, mostGpuWidth),
		model: within(model, leastModelWidth, leastWidths.model.width),
	};
	const least = chosen.map((name) => ({name, ...leastWidths[name], width: needed[name] ?? leastWidths[name].width}));
	const rounds = growth.map((round) => ({...round, model: Math.min(model, mostModelWidth)}));
	return loadColumns<GpuColumnName>(
		least,
		{width: width - markerWidth, gap: 1},
		{sacrifices, growth: rounds, last: ['process', 'note', 'owner']},
	);
}
