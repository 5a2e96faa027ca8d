/** Where each panel stands on the screen, and how its frame meets those of its neighbours: what body.tsx draws, and what the mouse points at. */
import {
	frameSides,
	graphRowsOf,
	hasQueueHead,
	layoutOf,
	queueWidthOf,
	reportRowsWithin,
	tableRowsOf,
	type Laid,
	type Layout,
} from './layout.js';
import type {PanelName} from './state/panels/state.js';
import type {State} from './state/state.js';
import type {Corners} from './widgets/panel-frames.js';

export type Region = {
	/** `loads`: the graphs of all GPUs, to which no key speaks. */
	readonly panel: PanelName | 'loads';
	/** The sides belong to it; cells count from 0. */
	readonly left: number;
	readonly width: number;
	/** The line of its title, from 0. */
	readonly top: number;
	/** Lines below the title. */
	readonly rows: number;
	/** Cells before its text. */
	readonly side: number;
};

/** The header and the summary. */
export const headRows = 2;

type Place = Pick<Region, 'left' | 'width' | 'side'>;

/** One below another, from this line on; those without lines are not there. Without frames, the rule of the detail stays. */
function stacked(
	panels: ReadonlyArray<readonly [panel: Region['panel'], rows: number]>,
	place: Place,
	from: number,
): readonly Region[] {
	let top = from;
	return panels.flatMap(([panel, rows]) => {
		if (rows === 0 && !(panel === 'detail' && place.side === 0)) {
			return [];
		}

		const region = {...place, panel, top, rows};
		top += rows + 1;
		return [region];
	});
}

function belowTable(layout: Layout, columns: number, whole: Place, top: number): readonly Region[] {
	const {isFramed, isWide, hasColumns, below, detailRows, queueRows, eventRows, processRows, loads} = layout;
	if (below !== undefined) {
		const rows = below === 'queue' ? queueRows : processRows;
		return stacked(
			[
				[below, rows],
				['events', eventRows],
			],
			whole,
			top,
		);
	}

	if (!isFramed) {
		return stacked(
			[
				['detail', detailRows],
				['queue', queueRows],
				['events', eventRows],
			],
			whole,
			top,
		);
	}

	const leftWidth = queueWidthOf(columns, isWide);
	const left = {left: 0, width: leftWidth, side: 1};
	// Both have a side in common.
	const right = {left: leftWidth - 1, width: columns - leftWidth + 1, side: 1};
	return hasColumns
		? [
				...stacked(
					[
						['queue', queueRows],
						['loads', loads?.rows ?? 0],
						['events', eventRows],
					],
					left,
					top,
				),
				...stacked(
					[
						['detail', detailRows],
						['processes', processRows],
					],
					right,
					top,
				),
			]
		: [
				...stacked([['queue', queueRows]], left, top),
				...stacked([['detail', detailRows]], right, top),
				...stacked([['events', eventRows]], whole, top + detailRows + 1),
			];
}

/** From above, and from left to right. */
export function regionsOf(state: Laid): readonly Region[] {
	const layout = layoutOf(state);
	const {alone, isFramed, bodyRows, tableRows} = layout;
	const {columns} = state.size;
	const whole = {left: 0, width: columns, side: isFramed ? 1 : 0};
	if (alone !== undefined) {
		return [{...whole, panel: alone, top: headRows, rows: bodyRows - 2}];
	}

	const table: Region = {...whole, panel: 'table', top: headRows, rows: tableRows + 1};
	return [table, ...belowTable(layout, columns, whole, table.top + table.rows + 1)];
}

/** The line of its lower edge, which may be the upper one of those below. */
const bottomOf = ({top, rows}: Region): number => top + rows + 1;
const rightOf = ({left, width}: Region): number => left + width - 1;

/** What a frame has in common with those around it. */
type Neighbours = {
	readonly corners: Corners;
	readonly bottomCorners: Corners;
	/** The upper edge of those below is its lower one. */
	readonly hasBelow: boolean;
	/** Those whose lower edge is its upper one, from left to right. */
	readonly above: readonly Region[];
};

/** What stands where frames meet, by the lines that lead away from there: up, down, left, right. */
const cornerNames: Readonly<Record<string, Corners[number]>> = {
	dr: 'topLeft',
	dl: 'topRight',
	ur: 'bottomLeft',
	ul: 'bottomRight',
	udr: 'leftJoint',
	udl: 'rightJoint',
	dlr: 'downJoint',
	ulr: 'upJoint',
	udlr: 'cross',
};

function cornerAt(regions: readonly Region[], column: number, row: number): Corners[number] {
	const upright = regions.filter((region) => region.left === column || rightOf(region) === column);
	const level = regions.filter((region) => region.top === row || bottomOf(region) === row);
	const lines = [
		upright.some((region) => region.top < row && bottomOf(region) >= row) ? 'u' : '',
		upright.some((region) => region.top <= row && bottomOf(region) > row) ? 'd' : '',
		level.some((region) => region.left < column && rightOf(region) >= column) ? 'l' : '',
		level.some((region) => region.left <= column && rightOf(region) > column) ? 'r' : '',
	];
	return cornerNames[lines.join('')]!;
}

const isAbove = (region: Region, other: Region): boolean =>
	bottomOf(region) === other.top && region.left < rightOf(other) && other.left < rightOf(region);

/** How the frame of one of these meets the others. */
export function neighboursOf(region: Region, regions: readonly Region[]): Neighbours {
	const cornersAt = (row: number): Corners => [
		cornerAt(regions, region.left, row),
		cornerAt(regions, rightOf(region), row),
	];
	return {
		corners: cornersAt(region.top),
		bottomCorners: cornersAt(bottomOf(region)),
		hasBelow: regions.some((other) => isAbove(region, other)),
		above: regions.filter((other) => isAbove(other, region)),
	};
}

/** The room inside a panel. */
export type Room = {readonly rows: number; readonly width: number};

export const roomIn = ({rows, width, side}: Pick<Region, 'rows' | 'width' | 'side'>): Room => ({
	rows,
	width: width - frameSides * side,
});

/** The room of a panel, none where it is not shown. */
export function roomOf(state: Laid, panel: PanelName): Room {
	const region = regionsOf(state).find((shown) => shown.panel === panel);
	return roomIn(region ?? {rows: 0, width: state.size.columns, side: layoutOf(state).isFramed ? 1 : 0});
}

/** What a panel shows at once: its page. */
export function pageRowsOf(state: State, panel: PanelName): number {
	const {rows} = roomOf(state, panel);
	const belowHead = Math.max(0, rows - 1);
	return {
		table: tableRowsOf(state),
		queue: hasQueueHead(state) ? belowHead : rows,
		detail: rows - graphRowsOf(rows),
		report: reportRowsWithin(rows),
		events: rows,
		hosts: belowHead,
		processes: belowHead,
	}[panel];
}

/** What stands at this column and row. */
export const regionAt = (state: Laid, column: number, row: number): Region | undefined =>
	regionsOf(state).find(
		({left, width, top, rows}) => column >= left && column < left + width && row >= top && row <= top + rows,
	);
