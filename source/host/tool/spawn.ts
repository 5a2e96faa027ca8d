import {Buffer} from 'node:buffer';
import {type ChildProcess, spawn} from 'node:child_process';
import {constants} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type {Environment} from '../inherited/exact-text.js';
import {signalsIgnoredAtStart} from '../inherited/inherited.js';
import {lookUpCommand} from './command.js';
import {withoutSecrets} from './secrets.js';

/** The reason why a tool gave no complete answer. `too-much-output`: ended after `maxBytes`. `failed`: not started, for the reason in `detail`. */
export type ToolFailure = 'not-found' | 'not-executable' | 'timed-out' | 'too-much-output' | 'aborted' | 'failed';

export type ToolOutcome = {
	/** Output until the end or the failure, as UTF-8. Invalid bytes become U+FFFD. */
	readonly stdout: string;
	readonly stderr: string;
	/** Undefined if a signal ended the tool, or if its end was not seen. */
	readonly exitCode?: number;
	readonly signal?: NodeJS.Signals;
	readonly failure?: ToolFailure;
	/** The system's words for the failure, such as `spawn EAGAIN`. */
	readonly detail?: string;
	/** Set if the child survived SIGKILL because it hangs in the kernel. Resolves once the child has ended. */
	readonly ended?: Promise<void>;
};

type ToolOptions = {
	/** The tool is ended after this time. If it cannot be ended, the outcome follows half a second later. May be infinite. */
	readonly timeoutMs: number;
	/** Limit for stdout and stderr together. */
	readonly maxBytes?: number;
	readonly signal?: AbortSignal;
	/** For a tool that runs continuously: called with its stdout, which is then not kept. */
	readonly onText?: (text: string) => void;
	/** The whole environment of the tool. Default: this process's environment without secrets, in the C locale. */
	readonly environment?: Environment;
};

const startFailures: ReadonlyMap<string | undefined, ToolFailure> = new Map([
	['ENOENT', 'not-found'],
	['ENOTDIR', 'not-found'],
	['EACCES', 'not-executable'],
	['EPERM', 'not-executable'],
	['ENOEXEC', 'not-executable'],
]);

/** Returns the failure of a program that could not be started. If PATH has an inaccessible directory, EACCES can also mean a missing program. */
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
Runs a program and returns its output. Never uses a shell and never throws: the outcome has all errors. The program uses the C locale, has no input,
and has its own process group, so that Ctrl-C or Ctrl-Z does not interrupt it, and a script can be ended with its children. The program starts
in `/`, because the current directory may be deleted or on a file system that hangs.
*/
export const runTool = async (command: string, args: readonly string[], options: ToolOptions): Promise<ToolOutcome> => {
	if (options.signal?.aborted === true) {
		return {stdout: '', stderr: '', failure: 'aborted'};
	}

	// Called before the tool starts, because a signal right after the start would otherwise end only this process.
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
		// The listener stays attached, because failing to send a signal is also reported as an error.
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
	/** Undefined before the start. */
	child: ChildProcess | undefined;
	readonly forget: () => void;
};

const running = new Set<EndedWithUs>();

const ends = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ends the tool if a signal ends this process. The tool gets no signals from a terminal or shell, because it has its own process group. */
const endWithUs = (): EndedWithUs => {
	if (running.size === 0) {
		// In Bun, the ignored signals can be read only before a listener is added.
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
	// Another listener for this signal ends the tools, or keeps this process alive.
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

/** Returns the environment of tools. The C locale makes tools print decimal points and English messages, which this program matches. */
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

/** Milliseconds between SIGTERM and SIGKILL, and between SIGKILL and giving up. */
const killGraceMs = 250;

const defaultMaxBytes = 16 * 1024 * 1024;

/** Follows a child with two piped outputs until its end or a limit. Abandons a child that survives SIGKILL, so that this process can end. */
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
			// Children of the process may keep the pipes open, but its own output is complete.
			clearTimeout(timer);
			timer = setTimeout(settleAsEnded, killGraceMs);
		});
		child.once('close', settleAsEnded);
		// A timer with an infinite delay would fire at once.
		let timer = timeoutMs === Infinity ? undefined : setTimeout(stop, timeoutMs, 'timed-out');
		signal?.addEventListener('abort', abort);
	});
