import {type ChildProcess, spawn} from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import {withoutSecrets} from './secrets.js';
import {supervise} from './supervise.js';

/**
Why a tool gave no complete answer. `too-much-output`: it was stopped after `maxBytes`. `failed`: it could not be started for
another reason, told in `detail`.
*/
export type ToolFailure = 'not-found' | 'not-executable' | 'timed-out' | 'too-much-output' | 'aborted' | 'failed';

export type ToolOutcome = {
	/**
	What it printed up to its end or its failure, as UTF-8; broken bytes become U+FFFD.
	*/
	readonly stdout: string;
	readonly stderr: string;
	/**
	Undefined when a signal ended it, or when it was not seen to end.
	*/
	readonly exitCode?: number;
	readonly signal?: NodeJS.Signals;
	readonly failure?: ToolFailure;
	/**
	The system's words for the failure, such as `spawn EAGAIN`.
	*/
	readonly detail?: string;
	/**
	Only when the child outlived SIGKILL (it hangs inside the kernel): resolves once it has really ended.
	*/
	readonly ended?: Promise<void>;
};

export type ToolOptions = {
	/**
	The tool is ended after this, never if infinite. The outcome comes then, or, if it does not let itself be ended, half a second later.
	*/
	readonly timeoutMs: number;
	/**
	Of stdout and stderr together.
	*/
	readonly maxBytes?: number;
	/**
	Ends the tool early, with the failure `aborted`.
	*/
	readonly signal?: AbortSignal;
	/**
	For a tool that goes on and on: its stdout is handed on as it comes, and not kept.
	*/
	readonly onText?: (text: string) => void;
	/**
	The whole environment of the tool, instead of ours.
	*/
	readonly environment?: Readonly<Record<string, string>>;
};

const startFailures: ReadonlyMap<string | undefined, ToolFailure> = new Map([
	['ENOENT', 'not-found'],
	['ENOTDIR', 'not-found'],
	['EACCES', 'not-executable'],
	['EPERM', 'not-executable'],
	['ENOEXEC', 'not-executable'],
]);

const startFailure = (error: unknown): Pick<ToolOutcome, 'failure' | 'detail'> => {
	const {code, message} = error as NodeJS.ErrnoException;
	return {failure: startFailures.get(code) ?? 'failed', detail: message};
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

	let child: ChildProcess;
	try {
		child = spawn(command.includes('/') ? path.resolve(command) : command, args, {
			cwd: '/',
			env: options.environment ?? ownEnvironment(),
			stdio: ['ignore', 'pipe', 'pipe'],
			detached: true,
		});
	} catch (error) {
		return {stdout: '', stderr: '', ...startFailure(error)};
	}

	const failedToStart = new Promise<ToolOutcome>((resolve) => {
		// It stays to listen: a signal that may not be sent is told here, too.
		child.on('error', (error) => {
			resolve({stdout: '', stderr: '', ...startFailure(error)});
		});
	});

	return child.pid === undefined
		? failedToStart
		: supervise(child, options, (signal) => {
				killGroup(child, signal);
			});
};

/**
Messages are matched by their English words, and numbers are read with a point.
*/
const ownEnvironment = (): NodeJS.ProcessEnv => withoutSecrets({...process.env, LC_ALL: 'C'});

const killGroup = (child: ChildProcess, signal: NodeJS.Signals) => {
	if (child.pid === undefined) {
		return;
	}

	try {
		process.kill(-child.pid, signal);
	} catch {
		// It gave itself another group, or another account.
		child.kill(signal);
	}
};
