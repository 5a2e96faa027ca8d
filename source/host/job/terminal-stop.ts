/** Signals by which a terminal stops a process, at one that holds a lock for moments at a time: it stops between them. */
import process from 'node:process';
import {isIgnored} from './ignored-signals.js';

/**
Has a signal stop this process only between two turns of its event loop. By itself the kernel stops it anywhere, also in the middle of a
transaction, and then everybody else waits for `fg`. (SIGSTOP cannot be deferred.) Gives back the way to end that.

@param signal - SIGTTIN only in a process that never reads from a terminal: the kernel would send it again and again.
*/
export function deferStop(signal: 'SIGTSTP' | 'SIGTTIN'): () => void {
	if (isIgnored(signal)) {
		return () => undefined;
	}

	const stop = (): void => {
		process.off(signal, stop);
		// The kernel's default applies if there is no listener. It ignores the signal if no shell could continue the process.
		process.kill(process.pid, signal);
		process.on(signal, stop);
	};

	process.on(signal, stop);
	return () => {
		process.off(signal, stop);
	};
}

let isDeferred = false;

/** Calls {@link deferStop} for Ctrl-Z, once for the whole process. */
export function deferTerminalStop(): void {
	if (isDeferred) {
		return;
	}

	isDeferred = true;
	deferStop('SIGTSTP');
}
