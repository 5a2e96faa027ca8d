import {useEffect, useState} from 'preact/hooks';
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
Requests an address when `address` or `occasion` changes. Returns the last answer until the next one arrives.
@param address - Undefined to request nothing.
@param what - The subject of error messages, such as `The report`.
*/
export function useAnswer<Value>(address: string | undefined, what: string, occasion: unknown): Answer<Value> {
	const [loaded, setLoaded] = useState<Loaded<Value>>({});
	useEffect(() => {
		if (address === undefined) {
			return;
		}

		let isGone = false;
		const load = async (): Promise<void> => {
			try {
				const value = await fetchJson<Value>(address);
				if (!isGone) {
					setLoaded({value, of: address});
				}
			} catch (error) {
				const problem = `${what} is unavailable: ${error instanceof Error ? error.message : String(error)}`;
				setLoaded((known) => (isGone ? known : {...known, problem}));
			}
		};

		// Waits, because the address changes often while a slider is moved.
		const timer = setTimeout(() => {
			void load();
		}, pauseMs);
		return () => {
			isGone = true;
			clearTimeout(timer);
		};
	}, [address, occasion]);
	return {value: loaded.value, problem: loaded.problem, isOld: loaded.of !== address};
}
