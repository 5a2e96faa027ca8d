/** Hooks that keep the state up to date for as long as the monitor is shown. */
import {useEffect, useRef, type RefObject} from 'react';
import type {World} from '../../core/model/ports.js';
import {startStoreFeed, type Feed} from '../../core/live/store-feed.js';
import type {Dispatch} from '../state/actions.js';
import {startScanner, type Scanner, type Watched} from './scanner.js';

type Broken = (error: unknown) => void;

/** Follows the store. */
export function useStoreFeed(world: World, dispatch: Dispatch, broken: Broken): RefObject<Feed | undefined> {
	const feed = useRef<Feed>(undefined);
	useEffect(() => {
		const nowMs = (): number => world.clock.monotonicMs();
		feed.current = startStoreFeed(world, {
			arrived(snapshot) {
				dispatch({kind: 'snapshot-arrived', snapshot, nowMs: nowMs()});
			},
			lost(reason) {
				dispatch({kind: 'store-lost', reason, nowMs: nowMs()});
			},
			broken,
		});
		return () => {
			feed.current?.stop();
		};
	}, [world, dispatch, broken]);
	return feed;
}

/**
Scans the GPUs, and again at once when `holders` changes: whoever got or gave back a GPU wants to see it.
*/
export function useScan(
	watched: Watched,
	{intervalMs, holders}: {readonly intervalMs: number; readonly holders: string},
	dispatch: Dispatch,
	broken: Broken,
): RefObject<Scanner | undefined> {
	const scanner = useRef<Scanner>(undefined);
	useEffect(() => {
		scanner.current = startScanner(
			watched,
			intervalMs,
			(observation) => {
				dispatch({kind: 'scan-arrived', observation, nowMs: watched.clock.monotonicMs()});
			},
			broken,
		);
		return () => {
			scanner.current?.stop();
		};
	}, [watched, intervalMs, dispatch, broken]);
	useEffect(() => {
		if (holders !== '') {
			scanner.current?.poke();
		}
	}, [holders]);
	return scanner;
}

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
