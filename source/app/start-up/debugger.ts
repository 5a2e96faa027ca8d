/** Keeps Node's debugger closed. SIGUSR1, which schedulers send to jobs, would open it on a local port, where every account could run code as this one. */
import inspector from 'node:inspector';
import process from 'node:process';

/** Delays in ms after which the debugger is closed again, because a signal that arrived early may take effect late. */
const recheckMs = [100, 1000];

const isWanted = (): boolean =>
	[...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((options) =>
		/(?:^|\s)--inspect(?:-brk|-wait)?(?:[\s=]|$)/v.test(options),
	);

/** Makes SIGUSR1 do nothing, and closes a debugger that a signal opened while Node was starting. */
export function keepDebuggerClosed(): void {
	// Adds a listener instead of ignoring the signal, because child processes would inherit that the signal is ignored.
	process.on('SIGUSR1', () => undefined);
	if (process.versions['bun'] !== undefined || isWanted()) {
		return;
	}

	const close = (): void => {
		inspector.close();
	};

	close();
	setImmediate(close);
	for (const milliseconds of recheckMs) {
		setTimeout(close, milliseconds).unref();
	}
}
