/** Which columns the table has at a width, and how wide each is. */

export type ColumnName =
	| 'gpu'
	| 'state'
	| 'owner'
	| 'kind'
	| 'held'
	| 'ends'
	| 'utilization'
	| 'memory'
	| 'temperature'
	| 'power'
	| 'history'
	| 'process';

export type Column = {
	readonly name: ColumnName;
	readonly width: number;
	readonly align: 'start' | 'end';
	/** Width of the bar in it; undefined: the number alone. */
	readonly barWidth?: number;
};

/** What is left out, in this order, when there is no room for all. */
type Dropped = 'history' | 'power' | 'kind' | 'held' | 'memory bar' | 'utilization bar' | 'process';

const dropOrder: readonly Dropped[] = ['history', 'power', 'kind', 'held', 'memory bar', 'utilization bar', 'process'];

/** The mark of the selected row, and that of a tagged one. */
export const markerWidth = 2;
const gap = 1;
const leastProcess = 14;
const leastOwner = 8;
const mostOwner = 16;
const leastHistory = 8;
const mostHistory = 30;
/** Behind a bar: ` 100%`. */
const numberWidth = 5;

/** The columns with their least widths. */
function leastColumns(dropped: ReadonlySet<Dropped>, barWidth: number): readonly Column[] {
	const columns: ReadonlyArray<Column | undefined> = [
		{name: 'gpu', width: 3, align: 'start'},
		{name: 'state', width: 10, align: 'start'},
		{name: 'owner', width: leastOwner, align: 'start'},
		dropped.has('kind') ? undefined : {name: 'kind', width: 6, align: 'start'},
		dropped.has('held') ? undefined : {name: 'held', width: 6, align: 'end'},
		{name: 'ends', width: 7, align: 'start'},
		dropped.has('utilization bar')
			? {name: 'utilization', width: 4, align: 'end'}
			: {name: 'utilization', width: barWidth + numberWidth, align: 'start', barWidth},
		dropped.has('memory bar')
			? {name: 'memory', width: 8, align: 'end'}
			: {name: 'memory', width: barWidth + numberWidth, align: 'start', barWidth},
		{name: 'temperature', width: 5, align: 'end'},
		dropped.has('power') ? undefined : {name: 'power', width: 4, align: 'end'},
		dropped.has('history') ? undefined : {name: 'history', width: leastHistory, align: 'start'},
		dropped.has('process') ? undefined : {name: 'process', width: leastProcess, align: 'start'},
	];
	return columns.filter((column) => column !== undefined);
}

export const columnsWidth = (columns: readonly Column[]): number =>
	markerWidth + columns.reduce((sum, {width}) => sum + width, 0) + gap * (columns.length - 1);

const widen = (columns: readonly Column[], name: ColumnName, by: number): readonly Column[] =>
	columns.map((column) => (column.name === name ? {...column, width: column.width + by} : column));

/** Hands out what is left over: to the owner and the history a little, to the process the rest. */
function stretch(columns: readonly Column[], spare: number): readonly Column[] {
	const has = (name: ColumnName): boolean => columns.some((column) => column.name === name);
	if (!has('process')) {
		return widen(columns, 'owner', spare);
	}

	const forOwner = Math.min(mostOwner - leastOwner, Math.floor(spare / 4));
	const forHistory = has('history') ? Math.min(mostHistory - leastHistory, Math.floor(spare / 4)) : 0;
	const wider = widen(widen(columns, 'owner', forOwner), 'history', forHistory);
	return widen(wider, 'process', spare - forOwner - forHistory);
}

/** The most that fits into `width`, in the order in which the screen narrows. */
export function columnsFor(width: number): readonly Column[] {
	const barWidth = width >= 160 ? 20 : width >= 100 ? 12 : 10;
	for (let drops = 0; drops <= dropOrder.length; drops++) {
		const columns = leastColumns(new Set(dropOrder.slice(0, drops)), barWidth);
		const spare = width - columnsWidth(columns);
		if (spare >= 0) {
			return stretch(columns, spare);
		}
	}

	return leastColumns(new Set(dropOrder), barWidth);
}
