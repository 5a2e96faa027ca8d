import {readFileSync} from 'node:fs';
import {constants} from 'node:os';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {setImmediate} from 'node:timers/promises';
import {type ProcessStat, readStat} from '../process/proc.js';
import {signalsOf} from '../inherited/inherited.js';
import {isIgnored} from './ignored-signals.js';

/**
All that would end us and leave the job alone, but for those that cannot be caught. SIGUSR1 is among them: Node keeps it to start its
debugger, unless somebody listens.
*/
const held = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

type Held = (typeof held)[number];

type Target = {
	readonly pid: number;
	readonly kill: (signal: Held) => void;
	/** Whether it is not the job yet, but what becomes the job: a shell catches Ctrl-C, and tells nothing of what the job does. */
	readonly isOnItsWay: () => boolean;
};

type SignalRelay = {
	/**
	From now on signals are passed on to this child, which was started in this turn of the event loop. Those that came before are passed on
	at once. After its end they are dropped. Resolves when Node has told of all that came up to now: the caller waits for that
	before work that blocks, or a key that comes meanwhile would be taken for an early one.
	*/
	readonly connect: (to: Target) => Promise<void>;
	/** Signals act on us again as they did. */
	readonly close: () => void;
};

/**
Within how many milliseconds after the loss of the terminal a SIGHUP is taken for the hang-up itself: bash sends one to its jobs, and
the kernel another as bash ends.
*/
const hangUpMs = 2000;

/**
Takes in the signals that are sent to this process and passes each on to the job, unless the job has been sent it, too:

- The keys Ctrl-C and Ctrl-\ signal the whole foreground group of the terminal, the job included. SIGINT and SIGQUIT are therefore
  passed on only when we are not in the foreground, or the job has left our group: then it was `kill` that sent them to us alone.
- When the terminal hangs up, the kernel and the shells send SIGHUP to whole groups. Only a session leader gets it alone. Under nohup the
  job ignores it, however it comes.

A signal that came before the job was there, or while it was being started, is passed on in any case: Node tells of it later, and the job
may not have been in the group. A key that would end the job, which lives on, is passed on for the same reason: on a loaded machine Node may
tell of it much later. A job that did get it dies of either.

SIGTERM and the others come from `kill`. When the whole group is signalled by that, the job is sent it twice: who sent a signal,
and to whom, Node does not tell. SIGTSTP is not taken in: it stops us as it stops the job, and SIGCONT wakes both.
*/
export const relaySignals = (): SignalRelay => {
	const hadTerminal = hasTerminal(readStat('self'));
	let target: Target | undefined;
	let lostAtMs: number | undefined;
	const early: Held[] = [];
	let isEarly = true;

	const isHangUp = (own: ProcessStat): boolean => {
		if (!hadTerminal || hasTerminal(own)) {
			return false;
		}

		lostAtMs ??= performance.now();
		return performance.now() - lostAtMs < hangUpMs;
	};

	const jobHasIt = (signal: Held, {pid: jobPid, isOnItsWay}: Target): boolean => {
		const own = readStat('self');
		const job = readStat(jobPid);
		if (typeof own !== 'object' || typeof job !== 'object' || job.processGroup !== own.processGroup) {
			return false;
		}

		return signal === 'SIGINT' || signal === 'SIGQUIT'
			? hasTerminal(own) && own.processGroup === own.foregroundGroup && !isOnItsWay() && !wouldDieOf(signal, jobPid)
			: signal === 'SIGHUP' && own.session !== process.pid && isHangUp(own);
	};

	const take = (signal: Held) => {
		if (target === undefined) {
			early.push(signal);
		} else if (isEarly || !jobHasIt(signal, target)) {
			target.kill(signal);
		}
	};

	const listeners = held.map((signal) => {
		const listener = () => {
			take(signal);
		};

		process.on(signal, listener);
		return {signal, listener};
	});

	return {
		async connect(to) {
			target = to;
			for (const signal of early) {
				to.kill(signal);
			}

			// Waits for signals that Node has not delivered yet.
			await setImmediate();
			isEarly = false;
		},
		close() {
			for (const {signal, listener} of listeners) {
				process.off(signal, listener);
			}
		},
	};
};

/** Calls back with the first signal that asks this process to end, unless that is ignored. Returns the way to stop listening. */
export const listenOnce = (callback: (signal: NodeJS.Signals) => void): (() => void) => {
	const signals = (['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const).filter((signal) => !isIgnored(signal));
	const stop = (): void => {
		for (const signal of signals) {
			process.off(signal, listener);
		}
	};

	const listener = (signal: NodeJS.Signals): void => {
		stop();
		callback(signal);
	};

	for (const signal of signals) {
		process.on(signal, listener);
	}

	return stop;
};

/** Whether a process neither handles nor ignores a signal. False where that is unknown. */
const wouldDieOf = (signal: NodeJS.Signals, pid: number): boolean => {
	try {
		const status = readFileSync(`/proc/${pid}/status`, 'latin1');
		const masks = status.matchAll(/^Sig(?:Ign|Cgt):\s*(?<mask>[\da-f]{1,16})$/gmv).toArray();
		return masks.length === 2 && masks.every(({groups}) => !signalsOf(groups!['mask']!).has(constants.signals[signal]));
	} catch {
		return false;
	}
};

const hasTerminal = (stat: ReturnType<typeof readStat>): boolean => typeof stat === 'object' && stat.terminal !== 0;
