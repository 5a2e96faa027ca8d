import {Buffer} from 'node:buffer';
import {type ChildProcess, spawn} from 'node:child_process';
import path from 'node:path';
import process from 'node:process';

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
	The outcome comes at most this long, and twice {@link killGraceMs}, after the start.
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
};

/**
Between SIGTERM and SIGKILL, and between SIGKILL and giving up.
*/
export const killGraceMs = 250;

const defaultMaxBytes = 16 * 1024 * 1024;

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
	let child: ChildProcess;
	try {
		child = spawn(command.includes('/') ? path.resolve(command) : command, args, {
			cwd: '/',
			env: environment(),
			stdio: ['ignore', 'pipe', 'pipe'],
			detached: true,
		});
	} catch (error) {
		return {stdout: '', stderr: '', ...startFailure(error)};
	}

	return new Promise((resolve) => {
		watch(child, options, resolve);
	});
};

/**
Messages are matched by their English words, and numbers are read with a point.
*/
const environment = (): NodeJS.ProcessEnv =>
	Object.fromEntries<string | undefined>([...Object.entries(process.env), ['LC_ALL', 'C']]);

const watch = (child: ChildProcess, options: ToolOptions, resolve: (outcome: ToolOutcome) => void) => {
	const {timeoutMs, maxBytes = defaultMaxBytes, signal} = options;
	const output = {stdout: [] as Uint8Array[], stderr: [] as Uint8Array[]};
	let bytes = 0;
	let failure: Pick<ToolOutcome, 'failure' | 'detail'> = {};
	let timer: NodeJS.Timeout | undefined;

	const ended = new Promise<void>((endedResolve) => {
		child.once('exit', () => {
			endedResolve();
		});
	});

	const settle = (end: Pick<ToolOutcome, 'exitCode' | 'signal' | 'ended'>) => {
		clearTimeout(timer);
		signal?.removeEventListener('abort', abort);
		child.stdout?.destroy();
		child.stderr?.destroy();
		resolve({
			stdout: Buffer.concat(output.stdout).toString('utf8'),
			stderr: Buffer.concat(output.stderr).toString('utf8'),
			...end,
			...failure,
		});
	};

	const settleAsEnded = () => {
		settle({exitCode: child.exitCode ?? undefined, signal: child.signalCode ?? undefined});
	};

	const stop = (why: ToolFailure) => {
		if (failure.failure !== undefined) {
			return;
		}

		failure = {failure: why};
		clearTimeout(timer);
		kill(child, 'SIGTERM');
		timer = setTimeout(() => {
			kill(child, 'SIGKILL');
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
		const room = maxBytes - bytes;
		bytes += chunk.length;
		into.push(chunk.subarray(0, Math.max(0, room)));
		if (bytes > maxBytes) {
			stop('too-much-output');
		}
	};

	child.stdout?.on('data', collect(output.stdout));
	child.stderr?.on('data', collect(output.stderr));
	child.once('error', (error) => {
		// It never started; a failed kill is not reported here.
		if (child.pid !== undefined) {
			return;
		}

		failure = startFailure(error);
		settle({});
	});
	child.once('exit', () => {
		// A grandchild may hold the pipes open long after: what has been printed by then is all there is to read.
		clearTimeout(timer);
		timer = setTimeout(settleAsEnded, killGraceMs);
	});
	child.once('close', () => {
		if (child.pid !== undefined) {
			settleAsEnded();
		}
	});
	timer = setTimeout(stop, timeoutMs, 'timed-out');
	if (signal?.aborted) {
		abort();
	} else {
		signal?.addEventListener('abort', abort);
	}
};

const kill = (child: ChildProcess, signal: NodeJS.Signals) => {
	if (child.pid === undefined) {
		return;
	}

	try {
		process.kill(-child.pid, signal);
	} catch {
		// Gone already, or it gave itself another group or account.
		child.kill(signal);
	}
};
