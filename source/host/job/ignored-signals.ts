/** Makes this process and its job ignore the signals that the caller ignored, such as SIGHUP under nohup(1). */
import {readlinkSync} from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import {isatty} from 'node:tty';
import {readText, signalsIgnoredAtStart} from '../inherited/inherited.js';
import {readStat} from '../process/proc.js';

/** Signals that Node resets to their default action at its start. With an empty listener, this process ignores them again. */
const kept = [
	'SIGHUP',
	'SIGINT',
	'SIGQUIT',
	'SIGTERM',
	'SIGUSR1',
	'SIGUSR2',
	'SIGALRM',
	'SIGTSTP',
	'SIGTTIN',
	'SIGTTOU',
] as const;

let known: readonly number[] | undefined;

/** Returns the signals that a job must ignore. A result that was inferred from the parent process is cached, because the parent may end. */
export const ignoredSignals = (): readonly number[] => {
	known ??= [...(signalsIgnoredAtStart() ?? (seemsToIgnoreHangUp() ? [os.constants.signals.SIGHUP] : []))];
	return known;
};

export const isIgnored = (signal: NodeJS.Signals): boolean => ignoredSignals().includes(os.constants.signals[signal]);

/** Makes this process ignore the same signals as the job. Returns a function that undoes this. */
export const keepIgnoring = (): (() => void) => {
	const numbers = ignoredSignals();
	const ignored = kept.filter((signal) => numbers.includes(os.constants.signals[signal]));
	for (const signal of ignored) {
		process.on(signal, nothing);
	}

	return () => {
		for (const signal of ignored) {
			process.off(signal, nothing);
		}
	};
};

const nothing = () => undefined;

/**
Infers whether this process was started to outlive its terminal, by nohup(1) or a similar script. Needed if `inherited.ts` does not know, as with
`node dist/cli.js`. False if stdin, stdout or stderr is a terminal. Otherwise, any of these signs is enough:
- Stdin is /dev/null, opened only for writing, as GNU nohup does if stdin was a terminal.
- Output goes to a file `nohup.out`.
- The parent process ignores SIGHUP, for example a script under nohup. Children inherit ignored signals.
- This process has a terminal, but runs in the background, as with `nohup canhazgpu run ... </dev/null >log 2>&1 &`. The same command without nohup
looks the same. At worst, a job outlives its terminal, while the opposite mistake would kill a job that should continue.
*/
const seemsToIgnoreHangUp = (): boolean => {
	if ([0, 1, 2].some((descriptor) => isatty(descriptor))) {
		return false;
	}

	return (
		isNullForWriting() ||
		[1, 2].some((descriptor) => targetOf(descriptor).endsWith('/nohup.out')) ||
		ignoresHangUp(process.ppid) ||
		isInBackground()
	);
};

const isNullForWriting = (): boolean => {
	// Octal. The last digit means reading (0), writing (1) or both (2).
	const flags = /^flags:\s*(?<octal>[0-7]+)$/mv.exec(readText('/proc/self/fdinfo/0'))?.groups?.['octal'];
	return flags?.endsWith('1') === true && targetOf(0) === '/dev/null';
};

const ignoresHangUp = (pid: number): boolean =>
	// Hexadecimal. Bit n - 1 is signal n, and SIGHUP is 1, so the last digit is odd.
	/^SigIgn:\s*[\da-f]*[13579bdf]$/mv.test(readText(`/proc/${pid}/status`));

const isInBackground = (): boolean => {
	const own = readStat('self');
	return typeof own === 'object' && own.terminal !== 0 && own.processGroup !== own.foregroundGroup;
};

const targetOf = (descriptor: number): string => {
	try {
		return readlinkSync(`/proc/self/fd/${descriptor}`);
	} catch {
		return '';
	}
};
