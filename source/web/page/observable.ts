/** Values that are kept outside of components. A component that shows such a value is redrawn when the value changes. */
import {Component, type ComponentChildren} from 'preact';

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

type WatchProps<Value> = {readonly of: Observable<Value>; readonly children: (value: Value) => ComponentChildren};

/** Redraws its children when a value changes. The first view uses this class instead of hooks, because hooks are loaded later. */
export class Watch<Value> extends Component<WatchProps<Value>> {
	private readonly stop = this.props.of.subscribe(() => {
		this.forceUpdate();
	});

	override componentWillUnmount(): void {
		this.stop();
	}

	override render({of, children}: WatchProps<Value>): ComponentChildren {
		return children(of.get());
	}
}
