/** What stands in the queue from this monitor, for as long as it runs. */
import {CanhazgpuError} from '../../../errors.js';
import {sanitize} from '../../../format/text/text.js';
import type {Dispatch} from '../../state/actions.js';
import type {Flash} from '../../state/messages.js';

type Work<Result> = (options: {
	readonly signal: AbortSignal;
	/** To be called when it turns out that it has to wait, and whenever that goes on. */
	readonly onWaiting: (words: string) => void;
}) => Promise<Result>;

export type Waits = {
	/**
	Starts what may have to stand in the queue.

	@param flashOf - Words the end of a wait. Undefined: nothing needs to be said.
	@returns Its result, unless it has to wait: then `waiting`, and the state gets the end.
	*/
	readonly begin: <Result>(
		work: Work<Result>,
		flashOf: (result: Result) => Flash,
	) => Promise<{readonly kind: 'ended'; readonly result: Result} | {readonly kind: 'waiting'}>;
	/** Leaves the queue everywhere. Resolves when that is done, or when it takes too long. */
	readonly leaveAll: () => Promise<void>;
};

/** The store may be away: no one waits for the end of the program longer than this. */
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
					// Before it had to wait, the error goes to the caller.
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
