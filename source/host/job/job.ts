import {randomUUID} from 'node:crypto';
import {readFileSync} from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import type {ProcessIdentity} from '../../core/model/types.js';
import {checkCommand} from '../tool/command.js';
import {childIdentity} from '../process/processes.js';
import {exactEnvironment, exactWords, type Environment} from '../inherited/exact-text.js';
import {callersOpenFiles, ownOpenFiles} from '../inherited/inherited.js';
import {runTool} from '../tool/spawn.js';
import {ignoredSignals, isIgnored, keepIgnoring} from './ignored-signals.js';
import {childrenLeft, untilChildrenEnd, type MarkedJob} from './children.js';
import type {Running} from './descendants.js';
import {afterSeconds, endChild, endJob} from './time-limit.js';
import {listenOnce, relaySignals} from './signals.js';
import {spawnJob, type StartedProcess} from './spawn.js';
import {deferStop} from './terminal-stop.js';
import {dieOfInterrupt, spareTerminalOfOthers, stopWithJob, surviveLostOutput} from './terminal.js';

export type JobOptions = {
	readonly command: string;
	readonly args: readonly string[];
	readonly entrance?: readonly string[];
	/** Complete environment of the job. `CANHAZGPU_JOB` is added, to recognize the job's descendants. */
	readonly environment: Environment;
	/** Time limit for the job and its children, more than 0. Includes time while stopped by Ctrl-Z. */
	readonly timeoutSeconds?: number;
	/** Time between SIGINT (or SIGTERM, if SIGINT is ignored) and SIGKILL at the time limit. Default: 30. */
	readonly graceSeconds?: number;
	/** Called once at the time limit, before any signal is sent. */
	readonly onTimeout?: () => void;
	/** Whether this process leaves stdout and stderr unused while the job runs. */
	readonly leavesOutput?: boolean;
	/** Whether the job ends only when all processes that it started have ended. A signal to this process then ends those processes. */
	readonly waitsForChildren?: boolean;
	/** Whether a signal to this process ends the job with all its descendants, by SIGTERM and after the grace period by SIGKILL. */
	readonly endsAllOnSignal?: boolean;
	/** Called when the command has ended and the wait for its children begins, and again when the first of these children has ended before others. */
	readonly onChildren?: (children: ReadonlyArray<ProcessIdentity & Running>) => void;
	/** Called with the job's stderr in latin1, which can represent any bytes. Absent: the job shares our stderr. */
	readonly onStderr?: (text: string) => void;
};

export type JobEnd = {
	/** Exit code of `run`: the command's own code, 128 + n after signal n, 124 after the time limit. */
	readonly exitCode: number;
	readonly reason: 'exited' | 'signalled' | 'timeout';
	/** The signal that ended the job, including a signal sent after the time limit. */
	readonly signal?: NodeJS.Signals;
	/** Whether this process ended the job because it got a signal itself. */
	readonly isStopped?: boolean;
	/** Known processes that the job started and that still run. */
	readonly left: readonly Running[];
};

export type Job = {
	readonly process: ProcessIdentity;
	/** Resolves when the job has ended. After the time limit or with `waitsForChildren`, resolves when its children have ended, too. Never rejects. */
	readonly ended: Promise<JobEnd>;
	/** Lets signals act on this process again. Until then, fatal signals are deferred, even after the job's end, so that its GPUs are released first. */
	readonly letGo: () => void;
};

const timedOutExitCode = 124;

/** Checks that the last words of this process's command line are a startable command. Throws `command-not-found` or `command-not-executable`. */
export const checkJob = (words: readonly [string, ...string[]], environment: Environment): void => {
	checkCommand(exactWords(words)[0], exactEnvironment(environment));
};

/** The number of open files that this process itself needs. A lower limit is set only for the job, by the launcher. */
const leastOpenFiles = 256;

/** Lowers the soft limit of open files to its value before Node started, for jobs to inherit. If this fails, the launcher does it. Never rejects. */
export const restoreOpenFiles = async (): Promise<void> => {
	const wanted = callersOpenFiles();
	if (wanted !== undefined && wanted !== ownOpenFiles() && !(Number(wanted) < leastOpenFiles)) {
		await runTool('prlimit', [`--pid=${process.pid}`, `--nofile=${wanted}:`], {timeoutMs: 2000});
	}
};

/** The variable with the marks of the jobs to which a process belongs. */
export const markVariable = 'CANHAZGPU_JOB';

const endSignals: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']);

/**
Starts a command as if typed into the shell: it shares our terminal, foreground group, stdin, stdout and stderr. From then on, this process survives
a lost terminal and all signals that can be caught, and forwards those that the job did not get (see `signals.ts`). Never use `process.stdin` before
starting a job: Node may read from it, or make it non-blocking for all processes that share it.
@throws CanhazgpuError `command-not-found`, `command-not-executable`, or `failed` if the system cannot start another process.
*/
export const startJob = async ({
	command,
	args,
	entrance,
	environment,
	timeoutSeconds,
	graceSeconds = 30,
	onTimeout,
	leavesOutput = false,
	waitsForChildren = false,
	endsAllOnSignal = false,
	onChildren,
	onStderr,
}: JobOptions): Promise<Job> => {
	if (!leavesOutput) {
		surviveLostOutput();
	}

	const mark = randomUUID();
	const ignored = ignoredSignals();
	const stopIgnoring = keepIgnoring();
	const relay = relaySignals();
	// A background job that reads from the terminal stops its whole process group, including this process.
	const endDeferring = deferStop('SIGTTIN');
	let endStopping = (): void => undefined;
	const letGo = () => {
		endStopping();
		endDeferring();
		relay.close();
		stopIgnoring();
	};

	const openFiles = callersOpenFiles();
	const [exactCommand, ...exactArgs] = exactWords([command, ...args] as const);
	const child = await spawnOrClose(letGo, {
		command: exactCommand,
		args: exactArgs,
		entrance,
		onStderr,
		manner: {ignored, openFiles: openFiles === ownOpenFiles() ? undefined : openFiles},
		environment: exactEnvironment({
			...environment,
			// A nested job has the marks of both jobs.
			[markVariable]: [environment[markVariable], mark].filter(Boolean).join(','),
		}),
	});
	const {pid} = child;
	endStopping = stopWithJob(pid);
	const childEnd = endOf(child.ended);
	const identity = childIdentity(pid);
	const {startTicks} = identity;
	const marked = startTicks === undefined ? undefined : {job: {pid, startTicks}, mark};
	let request: 'SIGINT' | 'SIGTERM' = isIgnored('SIGINT') ? 'SIGTERM' : 'SIGINT';
	const endAll = async (): Promise<void> =>
		marked === undefined
			? endChild(child, childEnd, {request, graceSeconds})
			: endJob({...marked, request, graceSeconds});
	let stopping: Promise<void> | undefined;
	let received: NodeJS.Signals | undefined;
	let hasEnded = false;
	const connected = relay.connect({
		pid,
		kill(signal) {
			if (!endsAllOnSignal || !endSignals.has(signal)) {
				child.kill(signal);
			} else if (stopping === undefined && !hasEnded) {
				received = signal;
				request = 'SIGTERM';
				stopping = endAll();
			}
		},
		isOnItsWay: () => begins(pid, entrance ?? []),
	});
	spareTerminalOfOthers();
	const callOff =
		timeoutSeconds === undefined
			? undefined
			: afterSeconds(timeoutSeconds, () => {
					onTimeout?.();
					stopping ??= endAll();
				});

	/** Waits until the job's children have ended. If this process gets a signal to end, ends the children and returns the signal. */
	const awaitChildren = async (job: MarkedJob, children: readonly Running[]): Promise<NodeJS.Signals | undefined> => {
		// Background commands may not notice SIGINT, because shells without job control start them with SIGINT ignored.
		request = 'SIGTERM';
		let caught: NodeJS.Signals | undefined;
		const stopListening = listenOnce((signal) => {
			caught = signal;
			stopping ??= endAll();
		});
		await untilChildrenEnd(job, children, {
			isStopping: () => stopping !== undefined,
			onChildren(living) {
				onChildren?.(living.map((one) => ({...childIdentity(one.pid), startTicks: one.startTicks})));
			},
		});
		stopListening();
		return caught;
	};

	const follow = async (): Promise<JobEnd> => {
		const end = await childEnd;
		hasEnded = true;
		if (!waitsForChildren) {
			callOff?.();
		}

		await stopping;
		const left = marked === undefined || stopping !== undefined ? [] : await childrenLeft(marked);
		received ??=
			waitsForChildren && marked !== undefined && left.length > 0 ? await awaitChildren(marked, left) : undefined;
		callOff?.();
		await stopping;
		const signal = received ?? end.signal;
		if (signal === 'SIGINT') {
			dieOfInterrupt();
		}

		if (received !== undefined) {
			return {
				exitCode: 128 + os.constants.signals[received],
				reason: 'signalled',
				signal: received,
				isStopped: true,
				left: [],
			};
		}

		return stopping === undefined
			? {...end, left: waitsForChildren ? [] : left}
			: {...end, exitCode: timedOutExitCode, reason: 'timeout', left: []};
	};

	const ended = follow();
	await connected;
	return {process: identity, ended, letGo};
};

const begins = (pid: number, words: readonly string[]): boolean => {
	try {
		return words.length > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(words.join('\0'));
	} catch {
		return false;
	}
};

const spawnOrClose = async (letGo: () => void, options: Parameters<typeof spawnJob>[0]) => {
	try {
		return await spawnJob(options);
	} catch (error) {
		letGo();
		throw error;
	}
};

const endOf = async (ended: StartedProcess['ended']): Promise<Omit<JobEnd, 'left'>> => {
	const {code, signal} = await ended;
	if (signal === undefined) {
		return {exitCode: code ?? 1, reason: 'exited'};
	}

	return typeof signal === 'number'
		? {exitCode: 128 + signal, reason: 'signalled'}
		: {exitCode: 128 + os.constants.signals[signal], reason: 'signalled', signal};
};
