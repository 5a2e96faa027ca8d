import {useEffect, useRef, type RefObject} from 'react';
import {startLiveView, type LiveView} from '../../core/live/live-view.js';
import type {Watched} from '../../core/live/scan-loop.js';
import type {World} from '../../core/model/ports.js';
import type {Dispatch} from '../state/actions.js';
import {mostEvents} from '../state/state.js';

type Options = {
	readonly world: World;
	/** What is shown of the GPUs. */
	readonly watched: Watched;
	readonly scanIntervalMs: number;
	/** A monitor that is read-only tells the audit log nothing. */
	readonly isReadonly: boolean;
	/** There is no pool to be read. */
	readonly hasNoPool: boolean;
};

/** Brings the store, the GPUs and the audit log into the state for as long as the monitor is shown. */
export function useLiveView(
	{world, watched, scanIntervalMs, isReadonly, hasNoPool}: Options,
	dispatch: Dispatch,
	broken: (error: unknown) => void,
): RefObject<LiveView | undefined> {
	const view = useRef<LiveView>(undefined);
	useEffect(() => {
		if (hasNoPool) {
			return undefined;
		}

		const nowMs = (): number => world.clock.monotonicMs();
		const started = startLiveView(world, {
			watched,
			intervals: {watchedMs: scanIntervalMs, unwatchedMs: scanIntervalMs},
			mostEvents,
			recordsAlerts: !isReadonly,
			broken,
		});
		view.current = started;
		started.subscribe(({now, snapshot, lastScan, lost, events, eventsProblem}, change) => {
			if (change === 'snapshot' && snapshot !== undefined) {
				dispatch({kind: 'snapshot-arrived', snapshot, nowMs: nowMs()});
			} else if (change === 'store-lost' && lost !== undefined) {
				const ageMs = (now - lost.since) * 1000;
				dispatch({kind: 'store-lost', reason: lost.reason, nowMs: nowMs(), sinceMs: nowMs() - ageMs});
			} else if (change === 'scan' && lastScan !== undefined) {
				dispatch({kind: 'scan-arrived', observation: lastScan, nowMs: nowMs()});
			} else if (change === 'events') {
				dispatch(
					eventsProblem === undefined
						? {kind: 'events-arrived', entries: events}
						: {kind: 'events-lost', reason: eventsProblem},
				);
			}
		});
		return started.stop;
	}, [world, watched, scanIntervalMs, isReadonly, hasNoPool, dispatch, broken]);
	return view;
}
