import {withFlash, type State} from '../state.js';

/** Listens to the mouse, or leaves it to the terminal. */
export function toggleMouse(state: State): State {
	const {hasMouse, isInGnuScreen} = state.settings;
	if (hasMouse !== true) {
		return withFlash(state, 'warning', 'This terminal is not known to have a mouse');
	}

	const isMouseOn = state.isMouseOn !== true;
	const text = isMouseOn
		? isInGnuScreen === true
			? 'The mouse clicks and scrolls here; meanwhile screen holds Escape back until the next key'
			: 'The mouse clicks and scrolls here; with Shift it selects text'
		: 'The mouse is left to the terminal; M takes it back';
	return withFlash({...state, isMouseOn}, 'ok', text);
}
