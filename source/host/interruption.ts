import os from 'node:os';
import process from 'node:process';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ctrl-C, SIGTERM and SIGHUP as an AbortSignal. Until `end` they do not kill this process. */
export function listenForInterruption() {
	const controller = new AbortController();
	let exitCode = 130;
	const listener = (name: NodeJS.Signals): void => {
		if (controller.signal.aborted) {
			return;
		}

		exitCode = 128 + os.constants.signals[name];
		controller.abort();
	};

	for (const name of signals) {
		process.on(name, listener);
	}

	return {
		signal: controller.signal,
		exitCode: () => exitCode,
		end() {
			for (const name of signals) {
				process.removeListener(name, listener);
			}
		},
	};
}
