/** Keeps Node's debugger closed. Node opens it on SIGUSR1, on a port of this machine where every account may run code as this one. */
import process from 'node:process';

/** When the debugger is closed again after the start, in ms: a signal from before our listener may take effect later than this module. */
const recheckMs = [100, 1000];

/** Node's own name for closing the debugger. `inspector.close()` does the same, and loading that module takes 10 ms of each start. */
type ProcessWithDebugger = typeof process & {readonly _debugEnd?: () => void};

/** Whether the user asked for the debugger: then it stays open. */
const isWanted = (): boolean =>
	[...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((options) =>
		/(?:^|\s)--inspect(?:-brk|-wait)?(?:[\s=]|$)/v.test(options),
	);

/**
From now on SIGUSR1 does nothing, until another listener is added. A debugger that a signal has opened before this call, while Node
itself was starting, is closed.
*/
export function keepDebuggerClosed(): void {
	// A listener, not an ignored signal: our children start with the default action.
	process.on('SIGUSR1', () => undefined);
	const {_debugEnd: close} = process as ProcessWithDebugger;
	if (close === undefined || isWanted()) {
		return;
	}

	close();
	setImmediate(close);
	for (const milliseconds of recheckMs) {
		setTimeout(close, milliseconds).unref();
	}
}
