import type {PatientOutput} from './ports.js';
import type {StateStore} from './state/store.js';

type Write = (text: string, written?: () => void) => boolean;

export const withWrite = (stdout: NodeJS.WriteStream, write: Write): NodeJS.WriteStream =>
	new Proxy(stdout, {
		get: (target, name): unknown => (name === 'write' ? write : Reflect.get(target, name)),
	});

/**
Returns a store with the drawn state. While the terminal reads no output, the drawn state does not change, but queue entries, heartbeats and scans
continue. When the terminal reads again, the newest state is drawn.
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
