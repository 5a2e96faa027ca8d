/** `canhazgpu top`. Nothing of Ink or React is loaded before {@link prepareMonitor} is called. */
import process from 'node:process';
import type {MonitorOptions} from './ports.js';

/**
Loads something while there is no `fetch`: with one, the layout of Ink fetches its code from a `data:` URL, for which Node first loads all that
HTTP needs. Without, it decodes the very same text, 15 ms sooner. A caller that wants to fetch waits for this to end.
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

/** Ink's libraries ask for the working directory when they load, and fail where it was deleted. The monitor has no need of it. */
function leaveDeletedDirectory(): void {
	try {
		process.cwd();
	} catch {
		process.chdir('/');
	}
}

/**
Loads the libraries of the screen.

@returns What {@link runMonitor} does, without loading anything more first.
*/
export async function prepareMonitor(): Promise<typeof runMonitor> {
	// React decides when it is loaded whether it is a development build, which is slow and keeps every render.
	Object.assign(process.env, {NODE_ENV: 'production'});
	leaveDeletedDirectory();
	const {mountMonitor} = await withoutFetch(async () => import('./mount.js'));
	return async (options) => mountMonitor(options);
}

/**
Shows the monitor until it is quit.

@returns The exit code: 0 when it was quit, 128+n when a signal n ended it.
@throws Whatever broke it, once the terminal is restored.
*/
export async function runMonitor(options: MonitorOptions): Promise<number> {
	const run = await prepareMonitor();
	return run(options);
}
