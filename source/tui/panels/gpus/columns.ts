/** The columns of the table of GPUs: which there are at a width, and how wide each is. */
import {usualGpuColumns, type GpuColumnName} from '../../../format/monitor-settings.js';
import {totalWidth, type Column, type GrowthRound, type Sacrifice} from '../../../format/text/columns.js';
import {barNumberWidth, leastWithBar, loadColumns, type LoadColumn} from '../shared/load-cells.js';

export type ColumnName = GpuColumnName;

export type GpuColumn = LoadColumn<ColumnName>;

/** The mark of the selected row, and that of a tagged one. */
export const markerWidth = 2;
const gap = 1;

/** The least widths, those of a bar with it. */
const leastWidths: Readonly<Record<ColumnName, Omit<Column, 'name'>>> = {
	gpu: {width: 3},
	model: {width: 8},
	state: {width: 10},
	owner: {width: 8},
	kind: {width: 6},
	held: {width: 6, align: 'end'},
	ends: {width: 7},
	utilization: {width: leastWithBar},
	memory: {width: leastWithBar},
	temperature: {width: 5, align: 'end'},
	power: {width: 5, align: 'end'},
	history: {width: 8},
	note: {width: 16},
	process: {width: 14},
	fan: {width: 4, align: 'end'},
	clock: {width: 7, align: 'end'},
	pci: {width: 12},
	numa: {width: 4, align: 'end'},
};

/** What goes first when there is no room for all. Bars leave the number alone. */
const sacrifices: ReadonlyArray<Sacrifice<ColumnName>> = [
	['note', 0],
	['history', 0],
	['power', 0],
	['kind', 0],
	['held', 0],
	['memory', 8, 'at once'],
	['utilization', 4, 'at once'],
	['process', 0],
	// These are there because someone chose them, or because models differ.
	['pci', 0],
	['numa', 0],
	['clock', 0],
	['fan', 0],
	['model', 0],
	['temperature', 0],
	['ends', 0],
	['owner', 4],
];

/** The last round is for screens much wider than most. */
const growth: ReadonlyArray<GrowthRound<ColumnName>> = [
	{owner: 12, process: 20, model: 12},
	{owner: 16, utilization: 12 + barNumberWidth, memory: 12 + barNumberWidth, history: 15, note: 20, process: 30},
	{utilization: 20 + barNumberWidth, memory: 20 + barNumberWidth, history: 30, note: 30, process: 44},
	{history: 60, note: 44, process: 60},
];

export const columnsWidth = (columns: readonly Column[]): number => markerWidth + totalWidth(columns, gap);

/** Which columns are wanted. */
type WantedColumns = {
	/** In their order; undefined for the usual ones. */
	readonly chosen?: readonly ColumnName[];
	/** What the cells of these columns need. */
	readonly needs?: Partial<Needs>;
};

/** The width of the longest cell: the GPUs that a row stands for, the model, who holds it, what is noted. */
export type Needs = Readonly<Record<'gpu' | 'model' | 'owner' | 'note', number>>;

/** By what was asked; every row of a frame asks for the same. */
const known = new Map<string, readonly GpuColumn[]>();
/** A user who tries many columns at many sizes leaves no more than these. */
const mostKnown = 100;

/** The most of the wanted columns that fits into `width`, in the order in which the screen narrows. */
export function columnsFor(
	width: number,
	{
		chosen = usualGpuColumns,
		needs: {gpu = 0, model = leastWidths.model.width, owner = 0, note = Infinity} = {},
	}: WantedColumns = {},
): readonly GpuColumn[] {
	const key = [width, gpu, model, owner, note, ...chosen].join(' ');
	let columns = known.get(key);
	if (columns === undefined) {
		columns = fittingColumns(width, chosen, {gpu, model, owner, note});
		if (known.size >= mostKnown) {
			known.clear();
		}

		known.set(key, columns);
	}

	return columns;
}

/** A list of GPUs that is longer is cut off: how many they are comes first. */
const mostGpuWidth = 14;

/** In a narrow table, too, a name of this length is whole. */
const leastWholeOwner = 10;

/** A longer name of an account, or of a model, is cut off. */
const mostNameWidth = 24;

const within = (width: number, least: number, most: number): number => Math.max(least, Math.min(width, most));

/** The title of the column. */
const leastModel = 5;

/** The least widths, as far as the cells need them. */
const leastNeeded = ({gpu, model, owner}: Omit<Needs, 'note'>): Partial<Record<ColumnName, number>> => ({
	gpu: within(gpu, leastWidths.gpu.width, mostGpuWidth),
	model: within(model, leastModel, leastWidths.model.width),
	owner: within(owner, leastWidths.owner.width, leastWholeOwner),
});

/** What takes the room that is left: what is longest, or where no process is shown the owner. */
const spacious = ['process', 'note', 'owner'] as const satisfies readonly ColumnName[];

function fittingColumns(width: number, names: readonly ColumnName[], needs: Needs): readonly GpuColumn[] {
	const needed = leastNeeded(needs);
	const least = names.map((name) => ({name, ...leastWidths[name], width: needed[name] ?? leastWidths[name].width}));
	const longest = {model: Math.min(needs.model, mostNameWidth), owner: Math.min(needs.owner, mostNameWidth)};
	const rounds = growth.map(({owner = 0, note = 0, model = 0, ...others}, round) => ({
		...others,
		// What the notes do not need is room for commands.
		note: Math.min(note, needs.note),
		// Names are whole before bars get longer.
		owner: round === 0 ? owner : Math.max(owner, longest.owner),
		model: round === 0 ? Math.min(model, longest.model) : longest.model,
	}));
	return loadColumns<ColumnName>(
		least,
		{width: width - markerWidth, gap},
		{sacrifices, growth: rounds, last: spacious},
	);
}

type Title = {
	/** Above the column. */
	readonly short: string;
	/** What stands in it, for the list of all columns. */
	readonly meaning: string;
};

export const gpuTitles: Readonly<Record<GpuColumnName, Title>> = {
	gpu: {short: 'GPU', meaning: 'index'},
	model: {short: 'MODEL', meaning: 'model, by itself on a mixed box'},
	state: {short: 'STATE', meaning: 'free, reserved, mine and so on'},
	owner: {short: 'OWNER', meaning: 'who holds or uses it'},
	kind: {short: 'KIND', meaning: 'a job (RUN) or by hand (MANUAL)'},
	held: {short: 'HELD', meaning: 'for how long'},
	ends: {short: 'ENDS', meaning: 'when the reservation ends'},
	utilization: {short: 'UTIL', meaning: 'load of its processors'},
	memory: {short: 'MEM', meaning: 'memory in use'},
	temperature: {short: 'TEMP ', meaning: 'temperature'},
	power: {short: 'PWR', meaning: 'power'},
	history: {short: '5-MIN', meaning: 'load of the last five minutes'},
	note: {short: 'NOTE', meaning: 'note of the reservation'},
	process: {short: 'PROCESS', meaning: 'largest process, or what is wrong'},
	fan: {short: 'FAN', meaning: 'fan'},
	clock: {short: 'CLOCK', meaning: 'clock of its processors'},
	pci: {short: 'PCI', meaning: 'address on the PCI bus'},
	numa: {short: 'NUMA', meaning: 'NUMA node'},
};
