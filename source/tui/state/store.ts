/** Holds the state outside React, so that keys that arrive together, and answers that arrive between two frames, always see the newest state. */
import type {Dispatch} from './actions.js';
import {reduce} from './reducer.js';
import type {State} from './state.js';

export type StateStore = {
	readonly getState: () => State;
	readonly dispatch: Dispatch;
	readonly subscribe: (listener: () => void) => () => void;
};

export function createStateStore(initial: State): StateStore {
	let state = initial;
	const listeners = new Set<() => void>();
	return {
		getState: () => state,
		dispatch(action) {
			const before = state;
			state = reduce(state, action);
			if (state !== before) {
				for (const listener of listeners) {
					listener();
				}
			}
		},
		subscribe(listener) {
			listeners.add(listener);
			return () => {
				listeners.delete(listener);
			};
		},
	};
}
