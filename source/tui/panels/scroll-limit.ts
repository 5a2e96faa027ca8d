/** How far the panel with the focus can be scrolled. */
import type {Action} from '../state/actions.js';
import type {State} from '../state/state.js';
import type {ScrollingPanel} from '../state/panels/state.js';
import {pageRowsOf, roomOf} from '../layout.js';
import {windowOf} from '../widgets/scroll.js';
import {detailLines} from './detail.js';
import {eventCount} from './events.js';
import {currentReport} from './report.js';

function lineCountOf(state: State, panel: ScrollingPanel): number {
	switch (panel) {
		case 'detail': {
			return detailLines(state, roomOf(state, panel)).length;
		}

		case 'report': {
			const report = currentReport(state);
			return report?.kind === 'made' ? report.report.rows.length : 0;
		}

		case 'events': {
			return eventCount(state);
		}
	}
}

/** What happens when scrolling went further than there are lines to draw. Undefined: it did not. */
export function scrollLimit(state: State): Action | undefined {
	const {focus: panel, scroll} = state.panels;
	if (panel === 'table' || panel === 'processes' || panel === 'queue' || panel === 'hosts' || scroll[panel] === 0) {
		return undefined;
	}

	const beyond = scroll[panel];
	const {from: first} = windowOf(beyond, {total: lineCountOf(state, panel), shown: pageRowsOf(state, panel)});
	return first === beyond ? undefined : {kind: 'scroll-limited', panel, beyond, first};
}
