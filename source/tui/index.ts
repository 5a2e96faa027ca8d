/** Entry point of `canhazgpu top`. Ink and React are loaded only by {@link prepareMonitor}. */
import process from 'node:process';
import type {MonitorOptions} from './ports.js';

/**
Calls `load` while `fetch` is hidden. With `fetch`, Yoga fetches its code from a `data:` URL, for which Node first loads its HTTP client.
Without it, Yoga decodes the same text 15 ms sooner. Callers must not use `fetch` until the promise settles.
*/
async function withoutFetch<Result>(load: () => Promise<Result>): Promise<Result> {
	const fetching = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
	if (fetching?.configurable !== true || process.versions['bun'] !== undefined) {
		return load();
	}

	Object.defineProperty(globalThis, 'fetch', {configurable: true, writable: true, value: undefined});
	try {
		return await load();
	} finally {
		Object.defineProperty(globalThis, 'fetch', fetching);
	}
}

/** Leaves a deleted working directory: Ink's libraries read it when they load, and fail. */
function leaveDeletedDirectory(): void {
	try {
		process.cwd();
	} catch {
		process.chdir('/');
	}
}

/**
Loads the libraries of the monitor.

@returns A function like {@link runMonitor} that loads nothing more.
*/
export async function prepareMonitor(): Promise<typeof runMonitor> {
	// React chooses its production build when it is loaded. The development build is slow and keeps every render.
	Object.assign(process.env, {NODE_ENV: 'production'});
	leaveDeletedDirectory();
	const {mountMonitor} = await withoutFetch(async () => import('./mount.js'));
	return async (options) => mountMonitor(options);
}

/**
Shows the monitor until the user quits.

@returns The exit code: 0 after quitting, 128+n after signal n.
@throws Any unexpected error, after the terminal is restored.
*/
export async function runMonitor(options: MonitorOptions): Promise<number> {
	const run = await prepareMonitor();
	return run(options);
}
