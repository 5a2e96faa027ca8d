import {Buffer} from 'node:buffer';
import {spawn, type ChildProcess} from 'node:child_process';
import {fstatSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {CanhazgpuError, codeOf, messageOf} from '../../errors.js';
import {checkCommand} from '../tool/command.js';
import {withoutSecrets} from '../tool/secrets.js';
import type {Environment} from '../inherited/exact-text.js';
import {descriptorsAtStart} from '../inherited/inherited.js';
import {launcherOf, needsLauncher, type Manner} from './launcher.js';

type Options = {
	readonly command: string;
	readonly args: readonly string[];
	readonly entrance?: readonly string[];
	/** Complete environment of the child. Secrets are removed. */
	readonly environment: Environment;
	readonly manner: Manner;
	readonly onStderr?: ((text: string) => void) | undefined;
};

/** The exit code of a process, or the signal that ended it. A signal is a number if Bun knows no name for it. */
type ProcessEnd = {readonly code: number | undefined; readonly signal: NodeJS.Signals | number | undefined};

export type StartedProcess = {
	readonly pid: number;
	/** Resolves when the process has ended. Never rejects. */
	readonly ended: Promise<ProcessEnd>;
	readonly kill: (signal: NodeJS.Signals) => void;
};

/**
Starts a command with this process's stdin, stdout and stderr, in its process group, so that it stays in the terminal's foreground. Never uses a
shell. `launcher.ts` does what Node cannot, such as passing bytes that are not UTF-8.
@throws CanhazgpuError `command-not-found`, `command-not-executable`, or `failed` if the system cannot start another process.
*/
export const spawnJob = async ({
	command,
	args,
	entrance = [],
	environment: given,
	manner,
	onStderr,
}: Options): Promise<StartedProcess> => {
	const file = checkCommand(command, given);
	const environment = withoutSecrets(given);
	const [program, ...others] = [...entrance, command];
	const words = [program, ...others, ...args] as const;
	const launcher = needsLauncher(words, environment, manner) ? launcherOf(words, environment, manner) : undefined;
	const stdio = stdioFor(args, onStderr === undefined ? 'inherit' : 'pipe');
	if (launcher !== undefined) {
		try {
			return await start(launcher.words, {environment: launcher.environment, stdio, onStderr});
		} catch (error) {
			throw startFailure(error, file);
		}
	}

	try {
		// Passes the file that was found, because not every runtime searches PATH as this program does, for example if PATH has an empty entry.
		return await start(words, {environment, stdio, onStderr, file: entrance.length === 0 ? file : undefined});
	} catch (error) {
		// POSIX requires that a script without `#!` is run by sh, which not every C library does.
		if (codeOf(error) !== 'ENOEXEC' || entrance.length > 0) {
			throw startFailure(error, file);
		}
	}

	try {
		return await start(['/bin/sh', file, ...args], {environment, stdio, onStderr});
	} catch (error) {
		throw startFailure(error, file);
	}
};

type StartOptions = {
	readonly environment: Environment;
	readonly stdio: Stdio[];
	readonly onStderr: Options['onStderr'];
	/** The file to execute, if it differs from the first word. */
	readonly file?: string;
};

const pipeGraceMs = 250;

const startInNode = async (
	[command, ...args]: readonly [string, ...string[]],
	{environment, stdio, onStderr, file = command}: StartOptions,
): Promise<StartedProcess> => {
	const child = spawn(file, args, {
		argv0: command,
		env: environment,
		stdio,
		detached: false,
	});
	const {pid} = child;
	if (pid === undefined) {
		return new Promise((_resolve, reject) => {
			child.once('error', reject);
		});
	}

	// Errors of sending a signal are reported here, and must not end this process.
	child.on('error', () => undefined);
	const {stderr} = child;
	stderr?.setEncoding('latin1').on('data', (text: string) => onStderr?.(text));
	return {
		pid,
		ended: new Promise((resolve) => {
			const settle = () => {
				stderr?.destroy();
				resolve({code: child.exitCode ?? undefined, signal: child.signalCode ?? undefined});
			};

			if (stderr === null) {
				child.once('exit', settle);
				return;
			}

			// Does not wait long for `close`, because a child of the program can keep the pipe open.
			child.once('exit', () => {
				setTimeout(settle, pipeGraceMs);
			});
			child.once('close', settle);
		}),
		kill(signal) {
			child.kill(signal);
		},
	};
};

type BunProcess = Pick<ChildProcess, 'exitCode'> & {
	readonly pid: number;
	readonly stderr: AsyncIterable<Uint8Array> | undefined;
	readonly signalCode: NonNullable<ProcessEnd['signal']> | undefined;
	readonly exited: Promise<unknown>;
	readonly kill: (signal: NodeJS.Signals) => void;
};
type BunOptions = {readonly argv0: string; readonly env: Environment; readonly stdio: readonly Stdio[]};
type WithBun = {
	readonly Bun: {readonly spawn: (words: readonly string[], options: BunOptions) => BunProcess};
};

/** Starts a process with Bun's own API. Bun's node:child_process does the same, but takes 2 ms longer. */
const startInBun = async (
	[command, ...args]: readonly [string, ...string[]],
	{environment, stdio, onStderr, file = command}: StartOptions,
): Promise<StartedProcess> => {
	const child = (globalThis as unknown as WithBun).Bun.spawn([file, ...args], {
		argv0: command,
		env: environment,
		stdio,
	});
	const readStderr = async (): Promise<void> => {
		for await (const bytes of onStderr === undefined ? [] : (child.stderr ?? [])) {
			onStderr?.(Buffer.from(bytes).toString('latin1'));
		}
	};

	const stderrEnded = readStderr();
	return {
		pid: child.pid,
		ended: (async () => {
			await child.exited;
			await Promise.race([stderrEnded, sleep(pipeGraceMs)]);
			return {code: child.exitCode ?? undefined, signal: child.signalCode ?? undefined};
		})(),
		kill(signal) {
			try {
				child.kill(signal);
			} catch {
				// This process is not allowed to send the signal.
			}
		},
	};
};

const start = process.versions['bun'] === undefined ? startInNode : startInBun;

type Stdio = 'inherit' | 'ignore' | 'pipe' | number;

/** Returns the child's descriptors, including those above 2 that the caller opened. If these are unknown, finds them in the arguments (`<(...)`). */
const stdioFor = (args: readonly string[], stderr: Stdio): Stdio[] => {
	const passed = new Set(
		descriptorsAtStart()?.filter((descriptor) => descriptor > 2) ??
			args
				.flatMap((argument) => argument.matchAll(/\/(?:dev|proc\/self)\/fd\/(?<number>\d{1,4})(?!\d)/gv).toArray())
				.map((match) => Number(match.groups?.['number']))
				.filter((descriptor) => descriptor > 2 && isPipeOrFile(descriptor)),
	);
	return Array.from({length: Math.max(2, ...passed) + 1}, (_, descriptor) =>
		descriptor === 2 ? stderr : descriptor < 2 ? 'inherit' : passed.has(descriptor) ? descriptor : 'ignore',
	);
};

const isPipeOrFile = (descriptor: number): boolean => {
	try {
		const stat = fstatSync(descriptor);
		return stat.isFIFO() || stat.isFile();
	} catch {
		return false;
	}
};

const startFailure = (error: unknown, file: string): CanhazgpuError => {
	const name = JSON.stringify(file);
	const code = codeOf(error) ?? '';
	if (code === 'ENOENT' || code === 'ENOTDIR') {
		// The file existed a moment ago, so its interpreter is missing.
		return new CanhazgpuError('command-not-found', `${name} cannot be started: its interpreter is missing`, {
			cause: error,
			hint: 'Check the path after #! in its first line',
		});
	}

	return new CanhazgpuError(
		noRoom.has(code) ? 'failed' : 'command-not-executable',
		`${name} cannot be started: ${messageOf(error)}`,
		{cause: error},
	);
};

/** Error codes for a system that cannot start another process. */
const noRoom: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);
