/** Which columns the table has at a width, and how wide each is. */

export type ColumnName =
	'gpu' | 'state' | 'owner' | 'kind' | 'held' | 'ends' | 'utilization' | 'memory' | 'temperature' | 'power' | 'process';

export type Column = {
	readonly name: ColumnName;
	readonly width: number;
	readonly align: 'start' | 'end';
	/** Width of the bar in it; undefined: the number alone. */
	readonly barWidth?: number;
};

/** What is left out, in this order, when there is no room for all. */
type Dropped = 'power' | 'kind' | 'held' | 'memory bar' | 'utilization bar' | 'process';

const dropOrder: readonly Dropped[] = ['power', 'kind', 'held', 'memory bar', 'utilization bar', 'process'];

/** `>` and a space before each row; a later mark for tagged rows fits there. */
export const markerWidth = 2;
const gap = 1;
const leastProcess = 14;
const leastOwner = 8;
const mostOwner = 16;

/** The columns with their least widths. */
function leastColumns(dropped: ReadonlySet<Dropped>, barWidth: number): readonly Column[] {
	const columns: ReadonlyArray<Column | undefined> = [
		{name: 'gpu', width: 4, align: 'start'},
		{name: 'state', width: 10, align: 'start'},
		{name: 'owner', width: leastOwner, align: 'start'},
		dropped.has('kind') ? undefined : {name: 'kind', width: 6, align: 'start'},
		dropped.has('held') ? undefined : {name: 'held', width: 6, align: 'end'},
		{name: 'ends', width: 7, align: 'end'},
		dropped.has('utilization bar')
			? {name: 'utilization', width: 4, align: 'end'}
			: {name: 'utilization', width: barWidth + 5, align: 'start', barWidth},
		dropped.has('memory bar')
			? {name: 'memory', width: 8, align: 'end'}
			: {name: 'memory', width: barWidth + 5, align: 'start', barWidth},
		{name: 'temperature', width: 5, align: 'end'},
		dropped.has('power') ? undefined : {name: 'power', width: 5, align: 'end'},
		dropped.has('process') ? undefined : {name: 'process', width: leastProcess, align: 'start'},
	];
	return columns.filter((column) => column !== undefined);
}

export const columnsWidth = (columns: readonly Column[]): number =>
	markerWidth + columns.reduce((sum, {width}) => sum + width, 0) + gap * (columns.length - 1);

const widen = (columns: readonly Column[], name: ColumnName, by: number): readonly Column[] =>
	columns.map((column) => (column.name === name ? {...column, width: column.width + by} : column));

/** Hands out what is left over: to the owner a little, to the process the rest. */
function stretch(columns: readonly Column[], spare: number): readonly Column[] {
	const hasProcess = columns.some(({name}) => name === 'process');
	const forOwner = hasProcess ? Math.min(mostOwner - leastOwner, Math.floor(spare / 4)) : spare;
	const wider = widen(columns, 'owner', forOwner);
	return hasProcess ? widen(wider, 'process', spare - forOwner) : wider;
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
