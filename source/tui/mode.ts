import type {Mode} from './keys.js';
import type {State} from './state.js';

/** Which keys count now. */
export const modeOf = ({dialog, table, panels}: State): Mode =>
	dialog?.kind ?? (table.prompt === undefined ? panels.focus : 'filter');
