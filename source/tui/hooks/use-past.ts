/** The past of the pool, read when a graph goes so far back, and continued each minute for as long as it does. */
import {useRef} from 'react';
import type {World} from '../../core/model/ports.js';
import {readPast, type Past} from '../../core/operations/history/past.js';
import {sanitize} from '../../format/text/text.js';
import {shownRangeOf} from '../layout.js';
import {ownRange} from '../state/panels/state.js';
import {storeNow, type State} from '../state/state.js';
import type {Dispatch} from '../state/actions.js';
import {useAgain} from './use-again.js';

export function usePast(world: World, state: State, dispatch: Dispatch, broken: (error: unknown) => void): void {
	const range = shownRangeOf(state);
	const isShown = range > ownRange && state.snapshot !== undefined;
	const latest = useRef(state);
	latest.current = state;
	const known = useRef<Past>(undefined);
	useAgain(
		{
			isShown,
			read: async () => readPast(world, {now: storeNow(latest.current)!, seconds: range * 60}, known.current),
			arrived(past) {
				known.current = past;
				dispatch({kind: 'past-arrived', past: {kind: 'read', past}});
			},
			failed(reason) {
				dispatch({kind: 'past-arrived', past: {kind: 'failed', reason: sanitize(reason)}});
			},
			broken,
		},
		[world, dispatch, range],
	);
}
