/** The pause: the screen stands still, while updates continue behind it. */
import type {Shown, State} from './state.js';

const shownOf = ({snapshot, snapshotAtMs, observation, scanFailure, history, processHistory}: State): Shown => ({
	snapshot,
	snapshotAtMs,
	observation,
	scanFailure,
	history,
	processHistory,
});

/** Starts a pause, or ends it and shows the newest values. */
export const togglePause = (state: State): State =>
	state.pause === undefined
		? {...state, pause: {sinceMs: state.nowMs, latest: shownOf(state)}}
		: {...state, ...state.pause.latest, pause: undefined};

/** The current state, even during a pause. */
export const latestOf = (state: State): Shown => state.pause?.latest ?? state;

/** Applies a live update behind the paused screen. */
export function behindPause(state: State, change: (state: State) => State): State {
	const {pause} = state;
	if (pause === undefined) {
		return change(state);
	}

	const next = change({...state, ...pause.latest, pause: undefined});
	return {...next, ...shownOf(state), pause: {...pause, latest: shownOf(next)}};
}
