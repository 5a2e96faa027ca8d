/** Takes scrolling back to the last line that was drawn, so that the next key up moves at once. */
import {useEffect} from 'react';
import type {Dispatch} from '../state/actions.js';
import type {State} from '../state/state.js';
import {scrollLimit} from '../panels/scroll-limit.js';

export function useScrollLimit(state: State, dispatch: Dispatch): void {
	useEffect(() => {
		const limit = scrollLimit(state);
		if (limit !== undefined) {
			dispatch(limit);
		}
	}, [state, dispatch]);
}
