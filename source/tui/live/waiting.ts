/** Requests of this monitor that wait in the queue. */
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import type {Waits} from '../commands/command.js';
import type {Dispatch} from '../state/actions.js';
import {complaintText} from '../state/messages.js';
import {withinTime} from './within-time.js';

/** Time limit in ms for leaving the queue when the monitor quits, in case the store is unreachable. */
const leavingMs = 2000;

export function createWaits(dispatch: Dispatch, broken: (error: unknown) => void): Waits {
	const controller = new AbortController();
	const pending = new Set<Promise<unknown>>();
	const left = new Set<string>();
	let ids = 0;
	return {
		leaving(entryId) {
			left.add(entryId);
		},
		hasLeft: (entryId) => left.has(entryId),
		async begin(work, flashOf) {
			const id = ++ids;
			const {promise: hasToWait, resolve: wait} = Promise.withResolvers<{readonly kind: 'waiting'}>();
			let isWaiting = false;
			const working = work({
				signal: controller.signal,
				onWaiting(words) {
					isWaiting = true;
					dispatch({kind: 'wait-went-on', id, words: sanitize(words)});
					wait({kind: 'waiting'});
				},
			});
			const ended = (async () => {
				try {
					const result = await working;
					if (isWaiting) {
						dispatch({kind: 'wait-ended', id, flash: flashOf(result)});
					}
				} catch (error) {
					// If the request has not started to wait, `begin` rejects with the error instead.
					if (isWaiting && error instanceof CanhazgpuError) {
						dispatch({kind: 'wait-ended', id, flash: {level: 'error', text: sanitize(complaintText(error))}});
					} else if (isWaiting) {
						broken(error);
					}
				}
			})();
			pending.add(ended);
			void ended.finally(() => {
				pending.delete(ended);
			});
			return Promise.race([hasToWait, working.then((result) => ({kind: 'ended', result}) as const)]);
		},
		async leaveAll() {
			controller.abort();
			await withinTime(Promise.all(pending), leavingMs);
		},
	};
}
