import {type ChildProcess, spawn} from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import {withoutSecrets} from './secrets.js';
import {supervise, type ToolFailure, type ToolOptions, type ToolOutcome} from './supervise.js';

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
		// It stays to listen: a signal that may not be sent is reported here, too.
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

/** Messages are matched by their English words, and numbers are read with a point. */
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
