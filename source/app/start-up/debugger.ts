/**
Keeps Node's debugger closed. Node opens the debugger on SIGUSR1, on a local port through which every account can run
code as this one.
*/
import process from 'node:process';

/**
Delays in ms after which the debugger is closed again. A signal that arrived before our listener may take effect later.
*/
const recheckMs = [100, 1000];

/**
Node's internal function to close the debugger. `inspector.close()` does the same, but loading that module takes 10 ms.
*/
type ProcessWithDebugger = typeof process & {readonly _debugEnd?: () => void};

/** Whether the user asked for the debugger, which then stays open. */
const isWanted = (): boolean =>
	[...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((options) =>
		/(?:^|\s)--inspect(?:-brk|-wait)?(?:[\s=]|$)/v.test(options),
	);

/** Makes SIGUSR1 do nothing, and closes a debugger that a signal opened while Node was starting. */
export function keepDebuggerClosed(): void {
	// Child processes must start with the default action, so the signal gets a listener and is not ignored.
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
