/** Signals that are ignored since this process was started: so they stay, for it and for its job. */
import os from 'node:os';
import process from 'node:process';
import {signalsIgnoredAtStart} from '../inherited/inherited.js';
import {seemsToIgnoreHangUp} from './hang-up.js';

/** Those of which Node would do something else by itself, and which it lets others listen to. */
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

/** The numbers of the signals that a job is to ignore. */
export const ignoredSignals = (): readonly number[] => [
	...(signalsIgnoredAtStart() ?? (seemsToIgnoreHangUp() ? [os.constants.signals.SIGHUP] : [])),
];

export const isIgnored = (signal: NodeJS.Signals): boolean => ignoredSignals().includes(os.constants.signals[signal]);

/** Ignores them in this process, too. Gives back the way to stop. */
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
