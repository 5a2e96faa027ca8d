import process from 'node:process';
import {isIgnored} from './ignored-signals.js';

/**
Defers a stop signal to the end of a turn of the event loop. Otherwise, the kernel could stop this process in the middle of a transaction, and all
other processes would wait until `fg` continues this one. (SIGSTOP cannot be deferred.) Returns a function that stops deferring.
@param signal - SIGTTIN only in a process that never reads from a terminal. Otherwise the kernel sends it again and again.
*/
export function deferStop(signal: 'SIGTSTP' | 'SIGTTIN'): () => void {
	if (isIgnored(signal)) {
		return () => undefined;
	}

	const stop = (): void => {
		process.off(signal, stop);
		// The kernel stops a process that has no listener, or ignores the signal if no shell could continue the process.
		process.kill(process.pid, signal);
		process.on(signal, stop);
	};

	process.on(signal, stop);
	return () => {
		process.off(signal, stop);
	};
}

let isDeferred = false;

export function deferTerminalStop(): void {
	if (isDeferred) {
		return;
	}

	isDeferred = true;
	deferStop('SIGTSTP');
}
