/** How many lines a panel has to show, and how many of them it shows at once. */
import type {ScrollingPanel} from '../panels/state.js';
import type {State} from '../state.js';
import {layoutOf} from './layout.js';

export type Extent = {readonly total: number; readonly shown: number};

export const extentOf = (state: State, _panel: ScrollingPanel): Extent => ({
	total: 0,
	shown: layoutOf(state).detailRows,
});

/** Places of the line that are shown at once. */
export const queueRowsOf = (state: State): number => layoutOf(state).queueRows ?? 0;
