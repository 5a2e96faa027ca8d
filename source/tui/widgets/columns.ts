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
	| 'note'
	| 'process';

export type Column = {
	readonly name: ColumnName;
	readonly width: number;
	readonly align: 'start' | 'end';
	/** Width of the bar in it; undefined: the number alone. */
	readonly barWidth?: number;
};

/** What is left out, in this order, when there is no room for all. */
type Dropped = 'note' | 'history' | 'power' | 'kind' | 'held' | 'memory bar' | 'utilization bar' | 'process';

const dropOrder: readonly Dropped[] = [
	'note',
	'history',
	'power',
	'kind',
	'held',
	'memory bar',
	'utilization bar',
	'process',
];

/** The mark of the selected row, and that of a tagged one. */
export const markerWidth = 2;
const gap = 1;
/** Of a bar, in eighths of a cell. */
const leastBar = 8;
const leastProcess = 14;
/** Behind a bar: ` 100%`. */
const numberWidth = 5;

/** The columns with their least widths. */
function leastColumns(dropped: ReadonlySet<Dropped>): readonly Column[] {
	const columns: ReadonlyArray<Column | undefined> = [
		{name: 'gpu', width: 3, align: 'start'},
		{name: 'state', width: 10, align: 'start'},
		{name: 'owner', width: 8, align: 'start'},
		dropped.has('kind') ? undefined : {name: 'kind', width: 6, align: 'start'},
		dropped.has('held') ? undefined : {name: 'held', width: 6, align: 'end'},
		{name: 'ends', width: 7, align: 'start'},
		dropped.has('utilization bar')
			? {name: 'utilization', width: 4, align: 'end'}
			: {name: 'utilization', width: leastBar + numberWidth, align: 'start', barWidth: leastBar},
		dropped.has('memory bar')
			? {name: 'memory', width: 8, align: 'end'}
			: {name: 'memory', width: leastBar + numberWidth, align: 'start', barWidth: leastBar},
		{name: 'temperature', width: 5, align: 'end'},
		dropped.has('power') ? undefined : {name: 'power', width: 5, align: 'end'},
		dropped.has('history') ? undefined : {name: 'history', width: 8, align: 'start'},
		dropped.has('note') ? undefined : {name: 'note', width: 16, align: 'start'},
		dropped.has('process') ? undefined : {name: 'process', width: leastProcess, align: 'start'},
	];
	return columns.filter((column) => column !== undefined);
}

export const columnsWidth = (columns: readonly Column[]): number =>
	markerWidth + columns.reduce((sum, {width}) => sum + width, 0) + gap * (columns.length - 1);

/**
What grows with the room that is left over, in rounds: each column up to so wide, and none again before all had their turn. The last round is
for screens much wider than most.
*/
const growth: ReadonlyArray<Readonly<Partial<Record<ColumnName, number>>>> = [
	{owner: 12, process: 20},
	{owner: 16, utilization: 12 + numberWidth, memory: 12 + numberWidth, history: 15, note: 20, process: 30},
	{utilization: 20 + numberWidth, memory: 20 + numberWidth, history: 30, note: 30, process: 44},
	{history: 60, note: 44, process: 60},
];

const widenTo = (column: Column, width: number): Column => ({
	...column,
	width,
	barWidth: column.barWidth === undefined ? undefined : width - numberWidth,
});

/** Hands out what is left over, round by round; within one round each column gets the same share of what it wants. */
function stretch(columns: readonly Column[], room: number): readonly Column[] {
	let stretched = columns;
	for (const most of growth) {
		const spare = room - columnsWidth(stretched);
		const wishes = stretched.map(({name, width, barWidth}) =>
			// A number without its bar needs no more.
			(name === 'utilization' || name === 'memory') && barWidth === undefined
				? 0
				: Math.max(0, (most[name] ?? 0) - width),
		);
		const wanted = wishes.reduce((sum, wish) => sum + wish, 0);
		const share = wanted === 0 ? 0 : Math.min(1, spare / wanted);
		stretched = stretched.map((column, place) => widenTo(column, column.width + Math.floor(wishes[place]! * share)));
	}

	// The rest: to what is longest, or where no process is shown to the owner.
	const rest = room - columnsWidth(stretched);
	const last = stretched.some(({name}) => name === 'process') ? 'process' : 'owner';
	return stretched.map((column) => (column.name === last ? widenTo(column, column.width + rest) : column));
}

/** By width; every row of a frame asks for the same. */
const known = new Map<number, readonly Column[]>();

/** The most that fits into `width`, in the order in which the screen narrows. */
export function columnsFor(width: number): readonly Column[] {
	const columns = known.get(width) ?? fittingColumns(width);
	known.set(width, columns);
	return columns;
}

function fittingColumns(width: number): readonly Column[] {
	for (let drops = 0; drops <= dropOrder.length; drops++) {
		const columns = leastColumns(new Set(dropOrder.slice(0, drops)));
		if (columnsWidth(columns) <= width) {
			return stretch(columns, width);
		}
	}

	return leastColumns(new Set(dropOrder));
}
