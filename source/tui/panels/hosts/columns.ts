import type {Column, GrowthRound, Sacrifice} from '../../../format/text/columns.js';
import {markerWidth} from '../../table/data-table.js';
import {loadColumns} from '../../table/load-columns.js';
import {leastWithBar, numberWidth} from '../shared/readings.js';

export type HostColumnName =
	'host' | 'gpu' | 'state' | 'owner' | 'ends' | 'utilization' | 'memory' | 'temperature' | 'model' | 'process';

export const hostTitles: Readonly<Record<HostColumnName, string>> = {
	host: 'HOST',
	gpu: 'GPU',
	state: 'STATE',
	owner: 'OWNER',
	ends: 'ENDS',
	utilization: 'UTIL',
	memory: 'MEM',
	temperature: 'TEMP ',
	model: 'MODEL',
	process: 'PROCESS',
};

const leastColumns: ReadonlyArray<Column<HostColumnName>> = [
	{name: 'host', width: 12},
	{name: 'gpu', width: 3, align: 'end'},
	{name: 'state', width: 10},
	{name: 'owner', width: 8},
	{name: 'ends', width: 7},
	{name: 'utilization', width: leastWithBar},
	{name: 'memory', width: leastWithBar},
	{name: 'temperature', width: 5, align: 'end'},
	{name: 'model', width: 10},
	{name: 'process', width: 14},
];

/** Columns that shrink or disappear if space is short, in this order. The host and the state are always shown. */
const sacrifices: ReadonlyArray<Sacrifice<HostColumnName>> = [
	['process', 0],
	['memory', 8, 'at once'],
	['utilization', 4, 'at once'],
	['temperature', 0],
	['model', 0],
];

const growth: ReadonlyArray<GrowthRound<HostColumnName>> = [
	{host: 15},
	{owner: 10},
	{host: 20, process: 20},
	{host: 24, owner: 16, model: 16, process: 30},
	{utilization: 12 + numberWidth, memory: 12 + numberWidth, model: 24},
	{utilization: 20 + numberWidth, memory: 20 + numberWidth, process: 60},
];

export const hostColumns = (width: number): ReadonlyArray<Column<HostColumnName>> =>
	loadColumns(leastColumns, {width: width - markerWidth, gap: 1}, {sacrifices, growth, last: ['process', 'host']});
