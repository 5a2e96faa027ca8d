import {useEffect, useRef, useState} from 'preact/hooks';
import {fetchJson} from '../state/fetch-json.js';
import {pauseMs} from './question.js';

export type Answer<Value> = {
	readonly value?: Value;
	readonly problem?: string;
	/** Whether the answer belongs to an earlier address, because the new answer has not arrived yet. */
	readonly isOld: boolean;
};

type Loaded<Value> = {readonly value?: Value; readonly of?: string; readonly problem?: string};

/**
Requests an address when `address` or `occasion` changes. Returns the last answer until the next one arrives. An occasion during a request causes one
more request after it, so that frequent occasions never discard an answer.
@param address - Undefined to request nothing.
@param what - The subject of error messages, such as `The report`.
*/
export function useAnswer<Value>(address: string | undefined, what: string, occasion: unknown): Answer<Value> {
	const [loaded, setLoaded] = useState<Loaded<Value>>({});
	const request = useRef<() => void>(undefined);
	useEffect(() => {
		if (address === undefined) {
			return;
		}

		const gone = new AbortController();
		let isUnderWay = false;
		let isWanted = false;
		const load = async (): Promise<void> => {
			try {
				const value = await fetchJson<Value>(address, gone.signal);
				if (!gone.signal.aborted) {
					setLoaded({value, of: address});
				}
			} catch (error) {
				const problem = `${what} is unavailable: ${error instanceof Error ? error.message : String(error)}`;
				setLoaded((known) => (gone.signal.aborted ? known : {...known, problem}));
			}
		};

		const loadWhileWanted = async (): Promise<void> => {
			isUnderWay = true;
			while (isWanted) {
				// Waits, because the address changes often while a slider is moved.
				await new Promise((resolve) => {
					setTimeout(resolve, pauseMs);
				});
				if (gone.signal.aborted) {
					return;
				}

				isWanted = false;
				await load();
			}

			isUnderWay = false;
		};

		request.current = () => {
			isWanted = true;
			if (!isUnderWay) {
				void loadWhileWanted();
			}
		};

		return () => {
			request.current = undefined;
			gone.abort();
		};
	}, [address]);
	useEffect(() => {
		request.current?.();
	}, [address, occasion]);
	return {value: loaded.value, problem: loaded.problem, isOld: loaded.of !== address};
}
