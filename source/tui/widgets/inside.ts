/** The room inside each panel. */
import type {PanelName} from '../panels/state.js';
import type {State} from '../state/state.js';
import {layoutOf, type Layout} from '../layout.js';

export type Room = {readonly rows: number; readonly width: number};

/** The queue stands beside the detail, which gets the rest. */
export const queueWidthOf = (columns: number): number => Math.max(columns >= 116 ? 50 : 44, Math.floor(columns * 0.34));

const rowsOf = (layout: Layout, panel: PanelName): number => {
	switch (panel) {
		case 'table': {
			return layout.tableRows + 1;
		}

		case 'detail': {
			return layout.detailRows;
		}

		case 'queue': {
			return layout.queueRows;
		}

		case 'events': {
			return layout.eventRows;
		}

		case 'report': {
			return 0;
		}
	}
};

/** The table's rows include its head, and so do the queue's where it has one. */
export function roomOf(state: Pick<State, 'size' | 'snapshot' | 'panels'>, panel: PanelName): Room {
	const layout = layoutOf(state);
	const {columns} = state.size;
	const sides = layout.isFramed ? 2 : 0;
	if (layout.alone === panel) {
		return {rows: layout.bodyRows - 2, width: columns - sides};
	}

	const queueWidth = layout.isFramed ? queueWidthOf(columns) : columns;
	const width = panel === 'queue' ? queueWidth : panel === 'detail' && layout.isFramed ? columns - queueWidth : columns;
	return {rows: rowsOf(layout, panel), width: width - sides};
}

/** Beside others without sides, the queue does without a head. */
export const hasQueueHead = (state: Pick<State, 'size' | 'snapshot' | 'panels'>): boolean => {
	const {isFramed, alone} = layoutOf(state);
	return isFramed || alone === 'queue';
};
