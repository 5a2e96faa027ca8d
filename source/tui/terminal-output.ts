/** The stream that Ink draws on. */
import type {PatientOutput} from './ports.js';
import type {StateStore} from './state/store.js';

type Write = (text: string, written?: () => void) => boolean;

/** Returns the terminal with another way to write to it. */
export const withWrite = (stdout: NodeJS.WriteStream, write: Write): NodeJS.WriteStream =>
	new Proxy(stdout, {
		get: (target, name): unknown => (name === 'write' ? write : Reflect.get(target, name)),
	});

/**
Returns the state as it is drawn: while the terminal is not read, it stands still, so that nothing is drawn. The newest state follows when the
terminal is read again. Waiting in the queue, heartbeats and scans go on all the time.
*/
export function whileDrained(store: StateStore, output: Pick<PatientOutput, 'isStalled' | 'onDrain'>): StateStore {
	let drawn = store.getState();
	const listeners = new Set<() => void>();
	const update = (): void => {
		if (output.isStalled() || drawn === store.getState()) {
			return;
		}

		drawn = store.getState();
		for (const listener of listeners) {
			listener();
		}
	};

	store.subscribe(update);
	output.onDrain(update);
	return {
		...store,
		getState: () => drawn,
		subscribe(listener) {
			listeners.add(listener);
			return () => {
				listeners.delete(listener);
			};
		},
	};
}
