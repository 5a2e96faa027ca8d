/** Keeps the last answer to a question that is asked but rarely, in the background: nobody waits for it. */
type CachedValue<Value> = {
	/** What was found last; asks again when that was long ago. */
	readonly current: () => Value | undefined;
};

type Options<Value> = {
	/** Never rejects. Undefined: nothing was found. */
	readonly ask: () => Promise<Value | undefined>;
	readonly everyMs: number;
	/** After nothing was found. */
	readonly retryMs: number;
	readonly monotonicMs: () => number;
};

/** At most one question at a time. */
export const createCachedValue = <Value>({ask, everyMs, retryMs, monotonicMs}: Options<Value>): CachedValue<Value> => {
	let value: Value | undefined;
	let isAsking = false;
	let nextMs = -Infinity;

	const refresh = async () => {
		isAsking = true;
		value = await ask();
		nextMs = monotonicMs() + (value === undefined ? retryMs : everyMs);
		isAsking = false;
	};

	return {
		current() {
			if (!isAsking && monotonicMs() >= nextMs) {
				void refresh();
			}

			return value;
		},
	};
};
