import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {runSystemTool} from '../tool/system-tool.js';
import {bearersOf, descendantsOf, isRunning, listProcesses, type Running, signalOne} from './descendants.js';

/** The longest delay of a timer. Node fires a timer with a longer delay at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
Calls back after this many seconds, never earlier. Time in which this process is stopped (Ctrl-Z) counts, but a stopped process calls back only when
it continues. Keeps the process alive. Returns a function that cancels the call.
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
	readonly mark: string;
	/** Signal that asks the job to end. A job that has ignored SIGINT from its start would not notice SIGINT. */
	readonly request: 'SIGINT' | 'SIGTERM';
	/** Seconds between the request and SIGKILL. */
	readonly graceSeconds: number;
};

const pollMs = 50;

/** Initial interval between searches, each of which reads all of /proc. The interval grows until searching takes at most a tenth of the time. */
const searchEveryMs = 250;

/** Maximum wait for a process that survives SIGKILL because it hangs in a driver or belongs to another account. */
const killPatienceMs = 5000;

/**
Ends a job and its descendants: sends SIGINT to each, as Ctrl-C would, and after the grace period SIGKILL to those that still run.
Resolves when none runs. Never signals a process group, because the job's group also contains this process's parent. A process that left the tree,
such as a daemon, is found by its environment. Only a process that also cleared its environment or changed its account escapes.
*/
export const endJob = async ({job, mark, request, graceSeconds}: Options): Promise<void> => {
	const known = new Map<string, Running>([[keyOf(job), job]]);
	const living = () =>
		known
			.values()
			.filter((process) => isRunning(process))
			.toArray();

	/** Adds new processes to `known`. Strays have no living ancestor. To find them, a child process reads environments. */
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
		// Finds processes started between the search and the kill.
		await search(true);
	} while (living().length > 0 && performance.now() < giveUpAtMs);
};

/** Ends this child, but not its descendants. For use if there is no /proc or the job is hidden. */
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
