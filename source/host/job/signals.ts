import {readFileSync} from 'node:fs';
import {constants} from 'node:os';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {setImmediate} from 'node:timers/promises';
import {type ProcessStat, readStat} from '../process/proc.js';
import {signalsOf} from '../inherited/inherited.js';
import {isIgnored} from './ignored-signals.js';

/** The signals that are caught, because they would end this process but not the job. SIGUSR1 would start Node's debugger instead. */
const held = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

type Held = (typeof held)[number];

type Target = {
	readonly pid: number;
	readonly kill: (signal: Held) => void;
	/** Whether the process is still the shell that isolates the job and then executes it. A Ctrl-C that this shell gets does not reach the job. */
	readonly isOnItsWay: () => boolean;
};

type SignalRelay = {
	/**
	Forwards signals to this child, which must have been started in this turn of the event loop. Signals from before this call are forwarded at once,
	and signals after the child's end are dropped. Resolves when Node has reported all signals so far. Await this before blocking work. Otherwise, the
	signal of a key that is pressed later counts as an early signal.
	*/
	readonly connect: (to: Target) => Promise<void>;
	readonly close: () => void;
};

/** When a terminal hangs up, the shell and the kernel each send SIGHUP. A second SIGHUP within this time counts as the same hang-up. */
const hangUpMs = 2000;

/**
Catches signals to this process and forwards each to the job, unless the job got it, too:
- Ctrl-C and Ctrl-\ signal the whole foreground group, including the job. SIGINT and SIGQUIT are forwarded only if this
process is in the background or the job has left the group, because these signals then come from `kill`.
- When a terminal hangs up, the kernel and shells send SIGHUP to whole groups, including the job. Only a session leader
gets SIGHUP alone and forwards it. Under nohup, the job ignores SIGHUP.
A signal from before or during the start of the job is always forwarded, because the job may not have been in the group
yet. Node can report such a signal late on a busy machine. So SIGINT and SIGQUIT are also forwarded to a job that would
die of the signal but still runs. For such a job, getting the signal twice makes no difference.
SIGTERM and others come from `kill`. If `kill` signals the whole group, the job gets them twice, because Node does not
report sender and recipients. SIGTSTP is not caught: it stops this process and the job, and SIGCONT continues both.
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

			// Waits for signals that Node has not reported yet.
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

/** Calls back with the first signal that asks this process to end. Ignored signals do not count. Returns a function that stops listening. */
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

/** Whether a process neither handles nor ignores a signal. False if unknown. */
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
