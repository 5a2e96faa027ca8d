/** Values outside of the components, which are drawn again when the value changes. */

export type Observable<Value> = {
	readonly get: () => Value;
	readonly set: (value: Value) => void;
	/** Calls the listener with each new value until the returned function is called. */
	readonly subscribe: (listener: (value: Value) => void) => () => void;
};

export function observable<Value>(first: Value): Observable<Value> {
	const listeners = new Set<(value: Value) => void>();
	let current = first;
	return {
		get: () => current,
		set(value) {
			current = value;
			for (const listener of listeners) {
				listener(value);
			}
		},
		subscribe(listener) {
			listeners.add(listener);
			return () => {
				listeners.delete(listener);
			};
		},
	};
}
