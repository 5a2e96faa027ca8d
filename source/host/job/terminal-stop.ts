/** Ctrl-Z at a process that holds a lock for moments at a time: it stops between them. */
import process from 'node:process';
import {isIgnored} from './ignored-signals.js';

let isDeferred = false;

/**
Has SIGTSTP, the signal of Ctrl-Z, stop this process only between two turns of its event loop. By itself the kernel stops it anywhere, also in the
middle of a transaction, and then everybody else waits for `fg`. (SIGSTOP cannot be deferred.)
*/
export function deferTerminalStop(): void {
	if (isDeferred || isIgnored('SIGTSTP')) {
		return;
	}

	isDeferred = true;
	const stop = (): void => {
		process.off('SIGTSTP', stop);
		// Without a listener the kernel does what it does by default, which is nothing where no shell could continue us.
		process.kill(process.pid, 'SIGTSTP');
		process.on('SIGTSTP', stop);
	};

	process.on('SIGTSTP', stop);
}
