import os from 'node:os';
import process from 'node:process';
import {isIgnored, keepIgnoring} from './ignored-signals.js';
import {dieOfInterrupt, surviveLostOutput} from './terminal.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Turns Ctrl-C, SIGTERM and SIGHUP into an AbortSignal. Until `end` is called, no signal or lost terminal kills this process. */
export function listenForInterruption() {
	const controller = new AbortController();
	let exitCode = 130;
	const listener = (name: NodeJS.Signals): void => {
		if (controller.signal.aborted) {
			return;
		}

		exitCode = 128 + os.constants.signals[name];
		if (name === 'SIGINT') {
			dieOfInterrupt();
		}

		controller.abort();
	};

	surviveLostOutput();
	const handled = signals.filter((name) => !isIgnored(name));
	const stopIgnoring = keepIgnoring();
	for (const name of handled) {
		process.on(name, listener);
	}

	return {
		signal: controller.signal,
		exitCode: () => exitCode,
		end() {
			stopIgnoring();
			for (const name of handled) {
				process.removeListener(name, listener);
			}
		},
	};
}
