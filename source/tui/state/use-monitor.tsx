import {createContext, use, useSyncExternalStore} from 'react';
import type {Dispatch} from './actions.js';
import type {State} from './state.js';
import type {StateStore} from './store.js';

export const StoreContext = createContext<StateStore | undefined>(undefined);

/** Returns the store of the state, for callbacks that need the newest state. */
export function useStore(): StateStore {
	const store = use(StoreContext);
	if (store === undefined) {
		throw new Error('a component of the monitor needs a <StoreContext> around it');
	}

	return store;
}

/**
Returns a part of the state. The component renders again only when that part changes. `select` must therefore return the same value for the same
state: a member of the state, or the result of a cached function.
*/
export function useMonitor<Part>(select: (state: State) => Part): Part {
	const {subscribe, getState} = useStore();
	return useSyncExternalStore(subscribe, () => select(getState()));
}

export const useSettings = (): State['settings'] => useMonitor(({settings}) => settings);

export const useDispatch = (): Dispatch => useStore().dispatch;
