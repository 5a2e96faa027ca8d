import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {runSystemTool} from '../tool/system-tool.js';
import {bearersOf, descendantsOf, isRunning, listProcesses, type Running, signalOne} from './descendants.js';

/** The longest a timer can wait; more would wrap around to no wait at all. */
const longestTimerMs = 2 ** 31 - 1;

/**
Calls back after so many seconds, never earlier, on the clock of the machine: time in which this process is stopped (Ctrl-Z) counts,
and a limit that is passed meanwhile is met as soon as it goes on. Keeps the process alive. Gives back the way to call it off.
*/
export const afterSeconds = (
	seconds: number,
	callback: () => void,
	monotonicMs = () => performance.now(),
): (() => void) => {
	const deadlineMs = monotonicMs() + seconds * 1000;
	let timer: NodeJS.Timeout;
	const wait = () => {
		const leftMs = deadlineMs - monotonicMs();
		if (leftMs <= 0) {
			callback();
		} else {
			timer = setTimeout(wait, Math.min(longestTimerMs, Math.ceil(leftMs)));
		}
	};

	wait();
	return () => {
		clearTimeout(timer);
	};
};

type Options = {
	readonly job: Running;
	/** A text that only the environment of this job and of what it started holds. */
	readonly mark: string;
	/** Signal that asks the job to end. A job that has ignored SIGINT from its start would not notice SIGINT. */
	readonly request: 'SIGINT' | 'SIGTERM';
	/** Between the request and SIGKILL. */
	readonly graceSeconds: number;
};

const pollMs = 50;

/** New descendants are searched for less often, and for no more than a tenth of the time: that reads all of /proc. */
const searchEveryMs = 250;

/** Maximum wait for a process that survives SIGKILL because it hangs in a driver or belongs to another account. */
const killPatienceMs = 5000;

/**
Ends a job and what it has started: SIGINT to each of them alone, as Ctrl-C would, then, when some of them are left after the grace,
SIGKILL to those and to what they have started meanwhile. Resolves as soon as none of them runs. Never a process group, for the job's
is also that of the process that started us.

What has left the tree of processes (a daemon's parent ends so that it does) is known by its environment. Only a process that did both,
left the tree before the limit and got rid of its environment, or changed the account, escapes.
*/
export const endJob = async ({job, mark, request, graceSeconds}: Options): Promise<void> => {
	const known = new Map<string, Running>([[keyOf(job), job]]);
	const living = () =>
		known
			.values()
			.filter((process) => isRunning(process))
			.toArray();

	/** Adds what has been started since. Those without a living ancestor cost a child that looks into their environment. */
	const search = async (withStrays: boolean) => {
		const processes = listProcesses();
		const add = (found: readonly Running[]) => {
			for (const process of found) {
				known.set(keyOf(process), process);
			}
		};

		add(descendantsOf(known.values().toArray(), processes));
		if (!withStrays) {
			return;
		}

		const others = processes
			.values()
			.filter((process) => process.startTicks >= job.startTicks && !known.has(keyOf(process)));
		add(await bearersOf(mark, others.toArray(), runSystemTool));
	};

	await search(true);
	for (const process of living()) {
		signalOne(process, request);
	}

	const killAtMs = performance.now() + graceSeconds * 1000;
	let searchAtMs = performance.now();
	while (performance.now() < killAtMs) {
		if (performance.now() >= searchAtMs) {
			const startedAtMs = performance.now();
			await search(false);
			searchAtMs = startedAtMs + Math.max(searchEveryMs, 10 * (performance.now() - startedAtMs));
		}

		if (living().length === 0) {
			await search(true);
			if (living().length === 0) {
				return;
			}
		}

		await sleep(Math.min(pollMs, Math.max(0, killAtMs - performance.now())));
	}

	const giveUpAtMs = performance.now() + killPatienceMs;
	do {
		await search(true);
		for (const process of living()) {
			signalOne(process, 'SIGKILL');
		}

		await sleep(10);
		// This finds what was started between the search and the kill.
		await search(true);
	} while (living().length > 0 && performance.now() < giveUpAtMs);
};

/**
Ends a job of which no more is known than that it is our child: where there is no /proc, or the job hides from us. What it started is left
alone.
*/
export const endChild = async (
	child: {readonly kill: (signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => unknown},
	ended: Promise<unknown>,
	{request, graceSeconds}: Pick<Options, 'request' | 'graceSeconds'>,
): Promise<void> => {
	child.kill(request);
	const callOff = afterSeconds(graceSeconds, () => {
		child.kill('SIGKILL');
	});
	await ended;
	callOff();
};

const keyOf = ({pid, startTicks}: Running) => `${pid} ${startTicks}`;
