/** How many lines a panel has to show, and how many of them it shows at once. */
import type {ScrollingPanel} from '../panels/state.js';
import type {State} from '../state/state.js';
import {detailLines, graphRowsOf} from '../view/detail.js';
import {eventCount} from '../view/events.js';
import {reportExtent} from '../view/report.js';
import {hasQueueHead, roomOf} from './inside.js';
import type {Extent} from './scroll.js';

export function extentOf(state: State, panel: ScrollingPanel): Extent {
	const room = roomOf(state, panel);
	const {rows} = room;
	switch (panel) {
		case 'detail': {
			return {total: detailLines(state, room).length, shown: rows - graphRowsOf(rows)};
		}

		case 'report': {
			return reportExtent(state, rows);
		}

		case 'events': {
			return {total: eventCount(state), shown: rows};
		}
	}
}

/** Places of the line that are shown at once. */
export const queueRowsOf = (state: State): number =>
	Math.max(0, roomOf(state, 'queue').rows - (hasQueueHead(state) ? 1 : 0));
