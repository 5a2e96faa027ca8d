import type {PatientOutput} from './ports.js';
import type {StateStore} from './state/store.js';

type Write = (text: string, written?: () => void) => boolean;

/** Returns the terminal with a different write function. */
export const withWrite = (stdout: NodeJS.WriteStream, write: Write): NodeJS.WriteStream =>
	new Proxy(stdout, {
		get: (target, name): unknown => (name === 'write' ? write : Reflect.get(target, name)),
	});

/**
Returns the state to draw. The drawn state stands still while the terminal is not read, and follows the newest state afterwards. Queue
entries, heartbeats and scans go on meanwhile.
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
