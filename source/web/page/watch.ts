/** Draws again what depends on a value outside of the components. The first view has no hooks: they come with the parts that are loaded late. */
import {Component, type ComponentChildren} from 'preact';
import type {Observable} from './observable.js';

type WatchProps<Value> = {readonly of: Observable<Value>; readonly children: (value: Value) => ComponentChildren};

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
