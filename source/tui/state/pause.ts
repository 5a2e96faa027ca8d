/** The pause. The screen does not change, but updates are still received and kept until the pause ends. */
import type {Shown, State} from './state.js';

const shownOf = ({snapshot, snapshotAtMs, observation, scanFailure, history, processHistory}: State): Shown => ({
	snapshot,
	snapshotAtMs,
	observation,
	scanFailure,
	history,
	processHistory,
});

export const togglePause = (state: State): State =>
	state.pause === undefined
		? {...state, pause: {sinceMs: state.nowMs, latest: shownOf(state)}}
		: {...state, ...state.pause.latest, pause: undefined};

/** Returns the newest values, even if the screen is paused. */
export const latestOf = (state: State): Shown => state.pause?.latest ?? state;

/** Applies an update to the newest values, without changing what the paused screen shows. */
export function behindPause(state: State, change: (state: State) => State): State {
	const {pause} = state;
	if (pause === undefined) {
		return change(state);
	}

	const next = change({...state, ...pause.latest, pause: undefined});
	return {...next, ...shownOf(state), pause: {...pause, latest: shownOf(next)}};
}
