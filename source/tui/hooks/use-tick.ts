import {useEffect} from 'react';
import type {World} from '../../core/model/ports.js';
import type {Dispatch} from '../state/actions.js';

/** Lets times go on where nothing else does: whatever comes in brings its time with it. */
export function useTick(world: World, nowMs: number, dispatch: Dispatch): void {
	useEffect(() => {
		const timer = setInterval(() => {
			dispatch({kind: 'ticked', nowMs: world.clock.monotonicMs()});
		}, 1000);
		return () => {
			clearInterval(timer);
		};
	}, [world, nowMs, dispatch]);
}
