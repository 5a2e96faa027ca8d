import type {PatientOutput} from './ports.js';
import type {StateStore} from './state/store.js';

type Write = (text: string, written?: () => void) => boolean;

export const withWrite = (stdout: NodeJS.WriteStream, write: Write): NodeJS.WriteStream =>
	new Proxy(stdout, {
		get: (target, name): unknown => (name === 'write' ? write : Reflect.get(target, name)),
	});

/**
Returns the store whose state is drawn. Its state does not change while the terminal reads no output. When the terminal reads again, its state is the
newest one. In the meantime, queue entries, heartbeats and scans continue.
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
