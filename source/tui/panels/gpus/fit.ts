/** Chooses the columns of the GPU table that fit, and their widths. */
import {gpuColumnNames, usualGpuColumns, type GpuColumnName} from '../../../format/monitor-settings.js';
import type {Column, GrowthRound, Sacrifice} from '../../../format/text/columns.js';
import {fitColumns} from '../../table/fit-columns.js';
import {gpuColumns} from './columns.js';

/**
Columns that shrink or disappear if space is short, in this order. The GPU, its state, its owner and its load always stay. A load of 8 or 4 terminal
columns is only a number, without a bar.
*/
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

/** The rounds in which the columns share spare width. A column without a width for a round doesn't grow in it. */
const growth = Array.from(
	{length: Math.max(...gpuColumnNames.map((name) => gpuColumns[name].growth?.length ?? 0))},
	(_, round): GrowthRound<GpuColumnName> =>
		Object.fromEntries(gpuColumnNames.map((name) => [name, gpuColumns[name].growth?.[round]])),
);

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
export function fittingColumns(
	width: number,
	{chosen = usualGpuColumns, gpu = 0, model = gpuColumns.model.width}: GpuColumnNeeds = {},
): ReadonlyArray<Column<GpuColumnName>> {
	const needed: Partial<Record<GpuColumnName, number>> = {
		gpu: within(gpu, gpuColumns.gpu.width, mostGpuWidth),
		model: within(model, leastModelWidth, gpuColumns.model.width),
	};
	const least = chosen.map((name) => ({
		name,
		width: needed[name] ?? gpuColumns[name].width,
		align: gpuColumns[name].align,
	}));
	const rounds = growth.map((round) => ({...round, model: Math.min(model, mostModelWidth)}));
	return fitColumns(width, least, {sacrifices, growth: rounds, last: ['process', 'note', 'owner']});
}
