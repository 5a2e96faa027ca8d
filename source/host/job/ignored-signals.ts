/** Signals that are ignored since this process was started: so they stay, for it and for its job. */
import {readlinkSync} from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import {isatty} from 'node:tty';
import {readText, signalsIgnoredAtStart} from '../inherited/inherited.js';
import {readStat} from '../process/proc.js';

/** Node has given these their default action as it started. A listener that does nothing has them ignored again. */
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

/** The numbers of the signals that a job is to ignore. What was inferred once stays so: our parent may end while we wait. */
export const ignoredSignals = (): readonly number[] => {
	known ??= [...(signalsIgnoredAtStart() ?? (seemsToIgnoreHangUp() ? [os.constants.signals.SIGHUP] : []))];
	return known;
};

export const isIgnored = (signal: NodeJS.Signals): boolean => ignoredSignals().includes(os.constants.signals[signal]);

/** Ignores these signals in this process, too. Gives back the way to end that. */
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
Whether this process seems to have been started so as to outlive its terminal, by nohup(1) or a script that does the same: for where it is
not known (see `inherited.ts`), as with `node dist/cli.js`. So it is inferred:

- GNU nohup opens /dev/null for writing only, as stdin, when stdin was a terminal. Nobody else does that.
- Output that would go to a terminal is put into a file `nohup.out`.
- Our parent ignores SIGHUP: a script under nohup, say. We have inherited that.
- There is a terminal, but none of stdin, stdout and stderr is one, and we are in the background: this is what
  `nohup canhazgpu run ... </dev/null >log 2>&1 &` leaves. The same without nohup looks no different, and survives as well; the worst
  of it is a job that goes on when its terminal is closed, while the opposite mistake kills one that had to go on.

Anything that keeps one of the three on a terminal is not taken for nohup, whatever else is true.
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
	// Octal, of which the last digit tells reading (0), writing (1) or both (2).
	const flags = /^flags:\s*(?<octal>[0-7]+)$/mv.exec(readText('/proc/self/fdinfo/0'))?.groups?.['octal'];
	return flags?.endsWith('1') === true && targetOf(0) === '/dev/null';
};

const ignoresHangUp = (pid: number): boolean =>
	// In hexadecimal. Bit n - 1 stands for signal n, and SIGHUP is 1: so the last digit is odd.
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
