/** Where each panel stands on the screen, as body.tsx draws them: what the mouse points at. A test compares both. */
import {layoutOf, queueWidthOf} from './layout.js';
import type {PanelName} from './state/panels/state.js';
import type {State} from './state/state.js';

export type Region = {
	readonly panel: PanelName;
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
const headRows = 2;

/** One below another, from this line on; those without lines are not there. */
function stacked(
	panels: ReadonlyArray<readonly [panel: PanelName, rows: number]>,
	place: Pick<Region, 'left' | 'width' | 'side' | 'top'>,
	isRuleKept: (panel: PanelName) => boolean = () => false,
): readonly Region[] {
	let {top} = place;
	return panels.flatMap(([panel, rows]) => {
		if (rows === 0 && !isRuleKept(panel)) {
			return [];
		}

		const region = {...place, panel, top, rows};
		top += rows + 1;
		return [region];
	});
}

export function regionsOf(state: State): readonly Region[] {
	const layout = layoutOf(state);
	const {
		alone,
		isFramed,
		isWide,
		hasColumns,
		below,
		bodyRows,
		tableRows,
		detailRows,
		queueRows,
		eventRows,
		processRows,
		loads,
	} = layout;
	const {columns} = state.size;
	const whole = {left: 0, width: columns, side: isFramed ? 1 : 0};
	if (alone !== undefined) {
		return [{...whole, panel: alone, top: headRows, rows: bodyRows - 2}];
	}

	const table: Region = {...whole, panel: 'table', top: headRows, rows: tableRows + 1};
	const next = table.top + table.rows + 1;
	if (below !== undefined) {
		const panels = [[below, below === 'queue' ? queueRows : processRows] as const, ['events', eventRows] as const];
		return [table, ...stacked(panels, {...whole, top: next})];
	}

	if (!isFramed) {
		const others = [
			['detail', detailRows],
			['queue', queueRows],
			['events', eventRows],
		] as const;
		return [table, ...stacked(others, {...whole, top: next}, (panel) => panel === 'detail')];
	}

	const left = queueWidthOf(columns, isWide);
	const leftSide = {left: 0, width: left, side: 1, top: next};
	const rightSide = {left: left - 1, width: columns - left + 1, side: 1, top: next};
	if (hasColumns) {
		return [
			table,
			...stacked([['queue', queueRows]], leftSide),
			// The graphs of all GPUs are between them, with an edge of their own.
			...stacked([['events', eventRows]], {
				...leftSide,
				top: next + queueRows + 1 + (loads === undefined ? 0 : loads.rows + 1),
			}),
			...stacked(
				[
					['detail', detailRows],
					['processes', processRows],
				],
				rightSide,
			),
		];
	}

	return detailRows === 0
		? [table]
		: [
				table,
				...stacked([['queue', queueRows]], leftSide),
				...stacked([['detail', detailRows]], rightSide),
				...stacked([['events', eventRows]], {...whole, top: next + detailRows + 1}),
			];
}

/** The panel at this column and row, and the line in it: 0 is its title. */
export function panelAt(
	state: State,
	column: number,
	row: number,
): {readonly region: Region; readonly line: number} | undefined {
	const region = regionsOf(state).find(
		({left, width, top, rows}) => column >= left && column < left + width && row >= top && row <= top + rows,
	);
	return region && {region, line: row - region.top};
}
