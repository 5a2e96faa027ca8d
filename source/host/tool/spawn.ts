import {Buffer} from 'node:buffer';
import {type ChildProcess, spawn} from 'node:child_process';
import {constants} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type {Environment} from '../inherited/exact-text.js';
import {signalsIgnoredAtStart} from '../inherited/inherited.js';
import {lookUpCommand} from './command.js';
import {withoutSecrets} from './secrets.js';

/**
Why a tool gave no complete answer. `too-much-output`: it was stopped after `maxBytes`. `failed`: it could not be started for
another reason, given in `detail`.
*/
export type ToolFailure = 'not-found' | 'not-executable' | 'timed-out' | 'too-much-output' | 'aborted' | 'failed';

export type ToolOutcome = {
	/** Output until the end or the failure, as UTF-8. Invalid bytes become U+FFFD. */
	readonly stdout: string;
	readonly stderr: string;
	/** Undefined when a signal ended it, or when it was not seen to end. */
	readonly exitCode?: number;
	readonly signal?: NodeJS.Signals;
	readonly failure?: ToolFailure;
	/** The system's words for the failure, such as `spawn EAGAIN`. */
	readonly detail?: string;
	/** Only when the child outlived SIGKILL (it hangs inside the kernel): resolves once it has really ended. */
	readonly ended?: Promise<void>;
};

type ToolOptions = {
	/**
	The tool is ended after this, never if infinite. The outcome comes then, or, if it does not let itself be ended, half a second later.
	*/
	readonly timeoutMs: number;
	/** Limit for stdout and stderr together. */
	readonly maxBytes?: number;
	/** Ends the tool early, with the failure `aborted`. */
	readonly signal?: AbortSignal;
	/** For a tool that goes on and on: its stdout is handed on as it comes, and not kept. */
	readonly onText?: (text: string) => void;
	/** The whole environment of the tool, instead of ours. */
	readonly environment?: Environment;
};

const startFailures: ReadonlyMap<string | undefined, ToolFailure> = new Map([
	['ENOENT', 'not-found'],
	['ENOTDIR', 'not-found'],
	['EACCES', 'not-executable'],
	['EPERM', 'not-executable'],
	['ENOEXEC', 'not-executable'],
]);

/** The kernel says EACCES also of a program that is nowhere, where PATH names a directory that may not be searched. */
const startFailure = (
	error: unknown,
	command: string,
	environment: Environment,
): Pick<ToolOutcome, 'failure' | 'detail'> => {
	const {code, message} = error as NodeJS.ErrnoException;
	const isNowhere = code === 'EACCES' && lookUpCommand(command, environment).kind === 'not-found';
	return {failure: isNowhere ? 'not-found' : (startFailures.get(code) ?? 'failed'), detail: message};
};

/**
Runs a program to its end and gives back what it printed. Never a shell, never an exception: whatever goes wrong is in the
outcome. It speaks the C locale, reads no input, and sits in its own process group, so that a Ctrl-C or Ctrl-Z meant for us does
not cut its answer short, and so that a script is ended together with what it started.

It starts in `/`: our own directory may have been deleted, or lie on a file system that hangs.
*/
export const runTool = async (command: string, args: readonly string[], options: ToolOptions): Promise<ToolOutcome> => {
	if (options.signal?.aborted === true) {
		return {stdout: '', stderr: '', failure: 'aborted'};
	}

	// Before it starts, or a signal that comes right then would end us alone.
	const tool = endWithUs();
	try {
		return await start(command, args, options, tool);
	} finally {
		tool.forget();
	}
};

const start = async (
	command: string,
	args: readonly string[],
	options: ToolOptions,
	tool: EndedWithUs,
): Promise<ToolOutcome> => {
	const environment = options.environment ?? ownEnvironment();
	let child: ChildProcess;
	try {
		child = spawn(command.includes('/') ? path.resolve(command) : command, args, {
			cwd: '/',
			env: environment,
			stdio: ['ignore', 'pipe', 'pipe'],
			detached: true,
		});
	} catch (error) {
		return {stdout: '', stderr: '', ...startFailure(error, command, environment)};
	}

	tool.child = child;
	const failedToStart = new Promise<ToolOutcome>((resolve) => {
		// Stays attached: a signal that may not be sent is reported as an error, too.
		child.on('error', (error) => {
			resolve({stdout: '', stderr: '', ...startFailure(error, command, environment)});
		});
	});

	return child.pid === undefined
		? failedToStart
		: supervise(child, options, (signal) => {
				killGroup(child, signal);
			});
};

type EndedWithUs = {
	/** Undefined until it has started. */
	child: ChildProcess | undefined;
	readonly forget: () => void;
};

const running = new Set<EndedWithUs>();

const ends = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Has a signal that ends this process end a tool, too, which is in a group of its own, and so gets none from a terminal or a shell. */
const endWithUs = (): EndedWithUs => {
	if (running.size === 0) {
		// Bun can tell only until somebody listens.
		const ignored = signalsIgnoredAtStart();
		for (const signal of ends) {
			if (ignored?.has(constants.signals[signal]) !== true) {
				process.on(signal, dieWithTools);
			}
		}
	}

	const tool: EndedWithUs = {
		child: undefined,
		forget() {
			running.delete(tool);
			if (running.size === 0) {
				stopListening();
			}
		},
	};
	running.add(tool);
	return tool;
};

const stopListening = () => {
	for (const signal of ends) {
		process.off(signal, dieWithTools);
	}
};

const dieWithTools = (signal: NodeJS.Signals) => {
	// Another listener ends the tools in its own way, or outlives the signal.
	if (process.listenerCount(signal) > 1) {
		return;
	}

	for (const {child} of running) {
		if (child !== undefined) {
			killGroup(child, 'SIGKILL');
		}
	}

	stopListening();
	process.kill(process.pid, signal);
};

/** Messages are matched by their English words, and numbers are read with a point. */
const ownEnvironment = (): NodeJS.ProcessEnv => withoutSecrets({...process.env, LC_ALL: 'C'});

const killGroup = (child: ChildProcess, signal: NodeJS.Signals) => {
	if (child.pid === undefined) {
		return;
	}

	try {
		process.kill(-child.pid, signal);
	} catch {
		// The process changed its group or its account.
		child.kill(signal);
	}
};

/** Between SIGTERM and SIGKILL, and between SIGKILL and giving up. */
const killGraceMs = 250;

const defaultMaxBytes = 16 * 1024 * 1024;

/**
Follows a child that has just been spawned, with its two outputs piped, to its end or to the end of our patience. `kill` sends it a
signal; when even SIGKILL does not end it, it is abandoned: its pipes are closed, and it no longer keeps our process from ending.
*/
export const supervise = async (
	child: ChildProcess,
	{timeoutMs, maxBytes = defaultMaxBytes, signal, onText}: ToolOptions,
	kill: (signal: 'SIGTERM' | 'SIGKILL') => void,
): Promise<ToolOutcome> =>
	new Promise((resolve) => {
		const stdout: Uint8Array[] = [];
		const stderr: Uint8Array[] = [];
		let bytes = 0;
		let failure: ToolFailure | undefined;

		const ended = new Promise<void>((resolveEnded) => {
			child.once('exit', () => {
				resolveEnded();
			});
		});

		const settle = (end: Pick<ToolOutcome, 'exitCode' | 'signal' | 'ended'>) => {
			clearTimeout(timer);
			signal?.removeEventListener('abort', abort);
			child.stdout?.destroy();
			child.stderr?.destroy();
			resolve({
				stdout: Buffer.concat(stdout).toString('utf8'),
				stderr: Buffer.concat(stderr).toString('utf8'),
				failure,
				...end,
			});
		};

		const settleAsEnded = () => {
			settle({exitCode: child.exitCode ?? undefined, signal: child.signalCode ?? undefined});
		};

		const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

		const stop = (why: ToolFailure) => {
			if (failure !== undefined) {
				return;
			}

			failure = why;
			if (hasEnded()) {
				// The pid may belong to another process by now.
				return;
			}

			clearTimeout(timer);
			kill('SIGTERM');
			timer = setTimeout(() => {
				kill('SIGKILL');
				timer = setTimeout(() => {
					child.unref();
					settle({ended});
				}, killGraceMs);
			}, killGraceMs);
		};

		const abort = () => {
			stop('aborted');
		};

		const collect = (into: Uint8Array[]) => (chunk: Uint8Array) => {
			const room = Math.max(0, maxBytes - bytes);
			bytes += chunk.length;
			into.push(chunk.subarray(0, room));
			if (bytes > maxBytes) {
				stop('too-much-output');
			}
		};

		if (onText === undefined) {
			child.stdout?.on('data', collect(stdout));
		} else {
			child.stdout?.setEncoding('utf8').on('data', onText);
		}

		child.stderr?.on('data', collect(stderr));
		child.once('exit', () => {
			// Children of the process can hold the pipes open, but its own output is complete.
			clearTimeout(timer);
			timer = setTimeout(settleAsEnded, killGraceMs);
		});
		child.once('close', settleAsEnded);
		// A timer of infinite length would fire at once.
		let timer = timeoutMs === Infinity ? undefined : setTimeout(stop, timeoutMs, 'timed-out');
		signal?.addEventListener('abort', abort);
	});
