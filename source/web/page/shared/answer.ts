/** Answers of the API that are asked for while a view is shown. */
import {useEffect, useState} from 'preact/hooks';
import {fetchJson} from '../state/fetch-json.js';
import {pauseMs} from './question.js';

export type Answer<Value> = {
	readonly value?: Value;
	/** Why there is no answer, or no newer one. */
	readonly problem?: string;
	/** Whether the answer that is known is one to another question. */
	readonly isOld: boolean;
};

type Loaded<Value> = {readonly value?: Value; readonly of?: string; readonly problem?: string};

/**
What is known stays until the next answer is there. It is asked for again when the address changes, or `occasion` does.

@param address - Undefined: nothing is asked now.
@param what - What it is, for the words when it cannot be had: `The report`.
*/
export function useAnswer<Value extends Record<string, unknown>>(
	address: string | undefined,
	what: string,
	occasion: unknown,
): Answer<Value> {
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
				const problem = `${what} cannot be had: ${error instanceof Error ? error.message : String(error)}`;
				setLoaded((known) => (isGone ? known : {...known, problem}));
			}
		};

		// While a slider moves there is nothing to be asked.
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
