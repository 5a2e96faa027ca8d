import {randomUUID} from 'node:crypto';
import {readFileSync} from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import type {ProcessIdentity} from '../../core/model/types.js';
import {checkCommand} from '../tool/command.js';
import {readStat} from '../process/proc.js';
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
import {spareTerminalOfOthers, stopWithJob, surviveLostOutput} from './terminal.js';

export type JobOptions = {
	readonly command: string;
	readonly args: readonly string[];
	/** Words that start the command inside of an isolation; none without one. */
	readonly entrance?: readonly string[];
	/** Complete environment of the job. `CANHAZGPU_JOB` is added to it, by which the job's descendants are known. */
	readonly environment: Environment;
	/** Time limit for the job and for all it started; more than 0. Counted while stopped by Ctrl-Z, too. */
	readonly timeoutSeconds?: number;
	/** Between the time limit's SIGINT, or SIGTERM where SIGINT is ignored, and its SIGKILL; 30 by default. */
	readonly graceSeconds?: number;
	/** Called once as the time limit is reached, before anything is signalled. */
	readonly onTimeout?: () => void;
	/** True where this process leaves stdout and stderr unopened until the job has ended. */
	readonly leavesOutput?: boolean;
	/** The job ends when all processes that it started have ended. A signal to this process meanwhile ends them. */
	readonly waitsForChildren?: boolean;
	/** Called once when the command has ended and the wait for its children begins. */
	readonly onChildren?: (children: readonly ProcessIdentity[]) => void;
	/** Gets what the job writes to stderr, in latin1, which stands for any bytes. Left out: the job has our own stderr. */
	readonly onStderr?: (text: string) => void;
};

export type JobEnd = {
	/** Exit code of `run`: the command's own code, 128 + n after signal n, 124 after the time limit. */
	readonly exitCode: number;
	readonly reason: 'exited' | 'signalled' | 'timeout';
	/** The signal that ended the job, including after the time limit. */
	readonly signal?: NodeJS.Signals;
	/** Processes that the job started and that still run, as far as they can be known. */
	readonly left: readonly Running[];
};

export type Job = {
	readonly process: ProcessIdentity;
	/**
	Resolves when the job itself has ended, whatever it left running. After the time limit, and where the job waits for its children, it resolves
	when all of that has ended, too. Never rejects.
	*/
	readonly ended: Promise<JobEnd>;
	/**
	Signals act on this process again. Until then, also after the end, those that would end it are held off, so that the GPUs can be
	given back in peace: call it when they are.
	*/
	readonly letGo: () => void;
};

const timedOutExitCode = 124;

/**
Whether these words, the last of our own command line, name a command that could be started now.

@throws CanhazgpuError `command-not-found`, `command-not-executable`.
*/
export const checkJob = (words: readonly [string, ...string[]], environment: Environment): void => {
	checkCommand(exactWords(words)[0], exactEnvironment(environment));
};

/** This process needs some files for itself. */
const leastOpenFiles = 256;

/**
Lowers our own soft limit of open files to what it was before Node raised it, so that a job inherits the caller's. A job is started with the
right limit also where this fails or has not happened yet. Never rejects.
*/
export const restoreOpenFiles = async (): Promise<void> => {
	const wanted = callersOpenFiles();
	if (wanted !== undefined && wanted !== ownOpenFiles() && !(Number(wanted) < leastOpenFiles)) {
		await runTool('prlimit', [`--pid=${process.pid}`, `--nofile=${wanted}:`], {timeoutMs: 2000});
	}
};

const markVariable = 'CANHAZGPU_JOB';

/**
Starts a command as if it had been typed into the shell instead of us: it shares our terminal, its foreground group, stdin, stdout and
stderr. From then on this process outlives the loss of its terminal and whatever signal can be caught, and passes on to the job those
that the job has not been sent (see `signals.ts`).

Never touch `process.stdin` when a job is to be started: Node may switch it, for all who share it, to not waiting, or read from it.

@throws CanhazgpuError `command-not-found`, `command-not-executable`, or `failed` when there is no room for a process.
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
	// A job in the background that reads from the terminal has its whole group stopped.
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
			// A job within a job bears the marks of both.
			[markVariable]: [environment[markVariable], mark].filter(Boolean).join(','),
		}),
	});
	const {pid} = child;
	endStopping = stopWithJob(pid);
	const childEnd = endOf(child.ended);
	const identity = childIdentity(pid);
	const {startTicks} = identity;
	const connected = relay.connect({
		pid,
		kill: child.kill,
		isOnItsWay: () => begins(pid, entrance ?? []),
	});
	spareTerminalOfOthers();

	const marked = startTicks === undefined ? undefined : {job: {pid, startTicks}, mark};
	let request: 'SIGINT' | 'SIGTERM' = isIgnored('SIGINT') ? 'SIGTERM' : 'SIGINT';
	const endAll = async (): Promise<void> =>
		marked === undefined
			? endChild(child, childEnd, {request, graceSeconds})
			: endJob({...marked, request, graceSeconds});
	let stopping: Promise<void> | undefined;
	const callOff =
		timeoutSeconds === undefined
			? undefined
			: afterSeconds(timeoutSeconds, () => {
					onTimeout?.();
					stopping ??= endAll();
				});

	/** Waits for the children of the job. Returns the signal that ended the wait and them, if one did. */
	const awaitChildren = async (job: MarkedJob, children: readonly Running[]): Promise<NodeJS.Signals | undefined> => {
		// A shell without job control has its background commands ignore SIGINT.
		request = 'SIGTERM';
		let received: NodeJS.Signals | undefined;
		const stopListening = listenOnce((signal) => {
			received = signal;
			stopping ??= endAll();
		});
		onChildren?.(children.map((one) => ({...childIdentity(one.pid), startTicks: one.startTicks})));
		await untilChildrenEnd(job, children, () => stopping !== undefined);
		stopListening();
		return received;
	};

	const follow = async (): Promise<JobEnd> => {
		const end = await childEnd;
		if (!waitsForChildren) {
			callOff?.();
		}

		await stopping;
		const left = marked === undefined || stopping !== undefined ? [] : await childrenLeft(marked);
		const received =
			waitsForChildren && marked !== undefined && left.length > 0 ? await awaitChildren(marked, left) : undefined;
		callOff?.();
		await stopping;
		const signal = received ?? end.signal;
		if (signal === 'SIGINT') {
			dieOf(signal, 128 + os.constants.signals[signal]);
		}

		if (received !== undefined) {
			return {exitCode: 128 + os.constants.signals[received], reason: 'signalled', signal: received, left: []};
		}

		return stopping === undefined
			? {...end, left: waitsForChildren ? [] : left}
			: {...end, exitCode: timedOutExitCode, reason: 'timeout', left: []};
	};

	const ended = follow();
	await connected;
	return {process: identity, ended, letGo};
};

/** Whether a process still is what these words have started. Where there are none, they have started nothing. */
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

/**
A shell that runs a loop or a script ends that after a Ctrl-C only when it sees its command die of SIGINT; exit code 130 it takes for an
answer. So this process dies as the job did, once all else is done and `letGo` has been called: the shell shows 130 in any case.
*/
const dieOf = (signal: 'SIGINT', exitCode: number) => {
	process.once('exit', (code) => {
		const own = readStat('self');
		const isForeground = typeof own === 'object' && own.terminal !== 0 && own.processGroup === own.foregroundGroup;
		if (isForeground && code === exitCode) {
			process.kill(process.pid, signal);
		}
	});
};
