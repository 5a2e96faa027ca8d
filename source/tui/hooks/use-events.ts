/** Keeps the events up to date: all of them once connected, then whatever is new whenever the pool was read again. */
import {useEffect, useRef} from 'react';
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../../core/model/ports.js';
import type {State} from '../state/state.js';
import {mostEvents} from '../state/events.js';
import type {Dispatch} from '../state/actions.js';

export type EventFeed = {
	/** The pool was read again. */
	readonly look: () => void;
	/** Something may have been missed: everything is read again. */
	readonly lookAfresh: () => void;
	readonly stop: () => void;
};

/** One read at a time; a look during one is answered by one more. */
export function startEventFeed(world: World, dispatch: Dispatch, broken: (error: unknown) => void): EventFeed {
	let isStopped = false;
	let isReading = false;
	let isWanted = false;
	let newestId: string | undefined;

	async function read(): Promise<void> {
		const afterId = newestId;
		try {
			const entries = await world.store.audit({afterId, newest: mostEvents});
			if (!isStopped) {
				newestId = entries.at(-1)?.id ?? afterId;
				dispatch({kind: 'events-arrived', entries, isWhole: afterId === undefined});
			}
		} catch (error) {
			if (error instanceof CanhazgpuError) {
				dispatch({kind: 'events-lost', reason: error.message});
			} else {
				broken(error);
			}
		}
	}

	async function pump(): Promise<void> {
		if (!isWanted || isReading || isStopped) {
			return;
		}

		isWanted = false;
		isReading = true;
		await read();
		isReading = false;
		void pump();
	}

	const want = (): void => {
		isWanted = true;
		void pump();
	};

	return {
		look: want,
		lookAfresh() {
			newestId = undefined;
			want();
		},
		stop() {
			isStopped = true;
		},
	};
}

/** Follows the audit log for as long as the monitor is shown. */
export function useEvents(
	world: World,
	{snapshot, connection}: State,
	dispatch: Dispatch,
	broken: (error: unknown) => void,
): void {
	const feed = useRef<EventFeed>(undefined);
	useEffect(() => {
		const started = startEventFeed(world, dispatch, broken);
		feed.current = started;
		return () => {
			started.stop();
		};
	}, [world, dispatch, broken]);
	const isLive = connection.kind === 'live';
	useEffect(() => {
		if (isLive) {
			feed.current?.lookAfresh();
		}
	}, [isLive]);
	useEffect(() => {
		if (isLive && snapshot !== undefined) {
			feed.current?.look();
		}
	}, [isLive, snapshot]);
}
