/** Entry point of `canhazgpu top`. Only {@link prepareMonitor} loads Ink and React. */
import process from 'node:process';
import type {MonitorOptions} from './ports.js';

/**
Calls `load` while `fetch` is hidden. If `fetch` exists, the layout library Yoga uses it to decode its own code, and Node first loads an HTTP client.
Without `fetch`, Yoga decodes the same text 15 ms sooner. Callers must not use `fetch` until the promise settles.
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

/** Changes to another directory if the working directory was deleted. Otherwise, libraries of Ink, which need that directory, would not load. */
function leaveDeletedDirectory(): void {
	try {
		process.cwd();
	} catch {
		process.chdir('/');
	}
}

/**
Loads the libraries of the monitor.

@returns A function that shows the monitor until the user quits. It returns the exit code: 0 after quitting, 128 plus the signal's number after a
signal. It throws any unexpected error after the terminal is restored.
*/
export async function prepareMonitor(): Promise<(options: MonitorOptions) => Promise<number>> {
	// Makes React load its production build, because the development build is slow and keeps data about every render.
	Object.assign(process.env, {NODE_ENV: 'production'});
	leaveDeletedDirectory();
	const {mountMonitor} = await withoutFetch(async () => import('./mount.js'));
	return mountMonitor;
}
