import {storeNow, type State} from './state.js';

const secondsPerDay = 86_400;

/** Returns a time of day: `14:44`, or `14:44+2d` if it is two days later. `seconds` are since the epoch, on the store's clock. */
export function clockText(seconds: number, state: State): string {
	const days = Math.floor((seconds - (storeNow(state) ?? seconds)) / secondsPerDay);
	return state.settings.formatTime(seconds).slice(0, 5) + (days > 0 ? `+${days}d` : '');
}
