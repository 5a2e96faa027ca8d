/** Holds the state outside React, so that keys typed in one burst and answers that arrive between frames see the newest. */
import type {Dispatch} from './actions.js';
import {reduce} from './reducer.js';
import type {State} from './state.js';

export type StateStore = {
	readonly getState: () => State;
	readonly dispatch: Dispatch;
	/** Returns a function that unsubscribes. */
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
