/** Where a dialog stands on the screen. */
import type {State} from '../state/state.js';
import {glyphsOf} from '../widgets/glyphs.js';
import type {DialogView} from '../widgets/dialog-parts.js';
import {dialogView} from './dialog.js';

export type PlacedDialog = DialogView & {
	/** In cells from 0, its frame included. */
	readonly top: number;
	readonly left: number;
	readonly height: number;
};

/** Undefined where there is none, and for the command line, which stands at the foot of the screen. */
export function placedDialog(state: State): PlacedDialog | undefined {
	const {dialog, size} = state;
	const view = dialog && dialogView(dialog, state, glyphsOf(state));
	if (view === undefined) {
		return undefined;
	}

	const width = Math.min(view.width, size.columns - 2);
	const height = Math.min(size.rows, view.lines.length + 2);
	return {
		...view,
		width,
		height,
		top: Math.max(0, Math.floor((size.rows - height) / 2) - (size.rows > 18 ? 1 : 0)),
		left: Math.floor((size.columns - width) / 2),
	};
}
