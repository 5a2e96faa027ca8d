import {CanhazgpuError} from '../../../errors.js';
import {sanitize} from '../../../format/text/text.js';
import type {Dispatch} from '../../state/actions.js';
import type {Flash} from '../../state/messages.js';

type Work<Result> = (options: {
	readonly signal: AbortSignal;
	/** Called when the request starts to wait in the queue, and whenever the progress changes. */
	readonly onWaiting: (words: string) => void;
}) => Promise<Result>;

export type Waits = {
	/**
	Starts a request that may have to wait in the queue.

	@param flashOf - Returns the message that is shown when a wait ends.
	@returns The result, or `waiting` if the request waits. The result is then added to the state when the wait ends.
	*/
	readonly begin: <Result>(
		work: Work<Result>,
		flashOf: (result: Result) => Flash,
	) => Promise<{readonly kind: 'ended'; readonly result: Result} | {readonly kind: 'waiting'}>;
	/** Cancels all waiting requests, also on other hosts. Resolves when they have left their queues, or after a time limit. */
	readonly leaveAll: () => Promise<void>;
};

/** Time limit in ms for leaving the queue when the monitor quits, in case the store is unreachable. */
const leavingMs = 2000;

const failureFlash = ({message, hint}: CanhazgpuError): Flash => ({
	level: 'error',
	text: sanitize([message, hint ?? ''].filter((part) => part !== '').join('. ')),
});

export function createWaits(dispatch: Dispatch, broken: (error: unknown) => void): Waits {
	const controller = new AbortController();
	const pending = new Set<Promise<unknown>>();
	let ids = 0;
	return {
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
					// If the request has not started to wait, the caller gets the error instead.
					if (isWaiting && error instanceof CanhazgpuError) {
						dispatch({kind: 'wait-ended', id, flash: failureFlash(error)});
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
			let timer: NodeJS.Timeout | undefined;
			const patience = new Promise((resolve) => {
				timer = setTimeout(resolve, leavingMs);
			});
			await Promise.race([Promise.all(pending), patience]);
			clearTimeout(timer);
		},
	};
}
