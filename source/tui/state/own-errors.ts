/** What went wrong in this monitor is told among the events. */
import {storeNow, type State} from './state.js';

const mostErrors = 50;

/** An error stays on the screen until a key is pressed, and among the events. */
export function withOwnError(before: State, after: State): State {
	const {flash, trail} = after;
	return flash === before.flash || flash?.level !== 'error'
		? after
		: {
				...after,
				trail: {
					...trail,
					errors: [...trail.errors, {time: storeNow(after) ?? 0, text: flash.text}].slice(-mostErrors),
				},
			};
}
