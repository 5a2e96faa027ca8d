import {grown, shrunk, type Column, type GrowthRound, type Sacrifice} from '../../../format/text/columns.js';
import type {JobSortKey} from '../../state/jobs/state.js';
import {markerWidth} from '../../table/data-table.js';

export const jobTitles: Readonly<Record<JobSortKey, string>> = {
	id: 'ID',
	state: 'STATE',
	user: 'USER',
	gpus: 'GPUS',
	time: 'TIME',
	command: 'COMMAND',
	details: 'DETAILS',
};

const leastColumns: ReadonlyArray<Column<JobSortKey>> = [
	{name: 'id', width: 6},
	{name: 'state', width: 9},
	{name: 'user', width: 8},
	{name: 'gpus', width: 4, align: 'end'},
	{name: 'time', width: 6, align: 'end'},
	{name: 'command', width: 24},
	{name: 'details', width: 20},
];

/** Columns that shrink or disappear if space is short, in this order. */
const sacrifices: ReadonlyArray<Sacrifice<JobSortKey>> = [
	['command', 12],
	['details', 12],
	['gpus', 0],
	['user', 4],
	['command', 1],
];

const growth: ReadonlyArray<GrowthRound<JobSortKey>> = [{user: 12, command: 34}, {id: 10}];

/** Returns the columns that fit. */
export const jobColumns = (width: number): ReadonlyArray<Column<JobSortKey>> => {
	const room = {width: width - markerWidth, gap: 2};
	return grown(shrunk(leastColumns, room, sacrifices), room, growth, 'details');
};
