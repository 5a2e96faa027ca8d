/** Times of day, as far as they say enough. */
import {storeNow, type State} from '../state/state.js';

const secondsPerDay = 86_400;

/**
`14:44`; of another day `14:44+2d`, because a time of day alone would be taken for the nearest.

@param seconds - Since the epoch, on the store's clock.
*/
export function clockWords(seconds: number, state: State): string {
	const days = Math.floor((seconds - (storeNow(state) ?? seconds)) / secondsPerDay);
	return state.settings.formatTime(seconds).slice(0, 5) + (days > 0 ? `+${days}d` : '');
}
