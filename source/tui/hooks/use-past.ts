/** The past of the pool, read when a graph goes so far back, and continued each minute for as long as it does. */
import {useEffect, useRef} from 'react';
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../../core/model/ports.js';
import {readPast, type Past} from '../../core/operations/history/past.js';
import {sanitize} from '../../format/text/text.js';
import {ownRange} from '../state/past.js';
import {storeNow, type State} from '../state/state.js';
import type {Dispatch} from '../state/actions.js';

/** A minute that is over is written by then. */
const freshMs = 60_000;
/** While the store is away. */
const retryMs = 5000;

export function usePast(world: World, state: State, dispatch: Dispatch, broken: (error: unknown) => void): void {
	const {range} = state.panels;
	const isShown = range > ownRange && state.snapshot !== undefined;
	const latest = useRef(state);
	latest.current = state;
	const known = useRef<Past>(undefined);
	useEffect(() => {
		if (!isShown) {
			return;
		}

		let isOver = false;
		let timer: NodeJS.Timeout | undefined;
		const read = async (): Promise<void> => {
			let nextMs = freshMs;
			try {
				const past = await readPast(world, {now: storeNow(latest.current)!, seconds: range * 60}, known.current);
				if (!isOver) {
					known.current = past;
					dispatch({kind: 'past-arrived', past: {kind: 'read', past}});
				}
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					broken(error);
					return;
				}

				nextMs = retryMs;
				if (!isOver) {
					dispatch({kind: 'past-arrived', past: {kind: 'failed', reason: sanitize(error.message)}});
				}
			}

			if (!isOver) {
				timer = setTimeout(() => {
					void read();
				}, nextMs);
			}
		};

		void read();
		return () => {
			isOver = true;
			clearTimeout(timer);
		};
	}, [world, dispatch, broken, isShown, range]);
}
