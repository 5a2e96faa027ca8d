/** Starts the wrapper of a detached job, so that it outlives the shell and the login, and keeps the output of jobs in files. */
import {spawn} from 'node:child_process';
import {closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {CanhazgpuError, codeOf, messageOf} from '../../errors.js';
import {effectiveUid, findUnsafeLocation, isOurs} from '../../security/safe-file.js';
import {exactWords, isBytes} from '../inherited/exact-text.js';
import {ownUid} from '../accounts/users.js';
import {runSystemTool, systemTool} from '../tool/system-tool.js';

/* eslint-disable no-bitwise -- flags of open(2) are bits */
const newLog = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const oldLog = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/* eslint-enable no-bitwise */

const unwritable = (file: string, problem: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('failed', `The output of the job cannot be kept in ${file}: ${problem}`, {
		hint: 'Nothing was started. To keep the output elsewhere, set XDG_STATE_HOME to a directory of your own.',
		cause,
	});

const problems: ReadonlyMap<string | undefined, string> = new Map([
	['EACCES', 'permission denied'],
	['EPERM', 'permission denied'],
	['ENOSPC', 'the disk is full'],
	['EDQUOT', 'the disk quota is used up'],
	['EROFS', 'the file system is read-only'],
	['ENOTDIR', 'a part of the path is not a directory'],
	['ENOENT', 'it cannot be created there'],
	['EEXIST', 'a part of the path is not a directory'],
	['ELOOP', 'it is a link'],
]);

/** Creates a directory with its parents. The recursive function of Node never ends where a file system such as /proc answers ENOENT. */
function makeDirectory(directory: string): void {
	if (existsSync(directory)) {
		return;
	}

	makeDirectory(path.dirname(directory));
	mkdirSync(directory, {mode: 0o700});
}

/** Creates the directory of the logs, and checks that files can be created there. Throws `failed`. */
export function prepareLogs(directory: string): void {
	const probe = path.join(directory, `.${crypto.randomUUID()}`);
	try {
		const unsafe = findUnsafeLocation(directory, {trustsOwner: false});
		if (unsafe !== undefined) {
			throw unwritable(directory, `it ${unsafe.problem}`);
		}

		makeDirectory(directory);
		closeSync(openSync(probe, newLog, 0o600));
		unlinkSync(probe);
	} catch (error) {
		throw error instanceof CanhazgpuError
			? error
			: unwritable(directory, problems.get(codeOf(error)) ?? messageOf(error), error);
	}
}

/** Returns the log file of a new job. Another pool or another machine with the same home directory can have used the id. */
export function logFor(directory: string, id: string): string {
	let file = path.join(directory, `${id}.log`);
	for (let count = 2; existsSync(file); count++) {
		file = path.join(directory, `${id}.${count}.log`);
	}

	return file;
}

/**
Opens the log of a job for appending, in a file that only this account can read. Throws `failed`.
@param isNew - Whether the file must not exist. The log of a retried job exists, unless somebody has removed it.
*/
function openLog(file: string, isNew: boolean): number {
	try {
		return isNew || !existsSync(file) ? openSync(file, newLog, 0o600) : openSync(file, oldLog);
	} catch (error) {
		throw unwritable(file, problems.get(codeOf(error)) ?? messageOf(error), error);
	}
}

export type OpenedLog = {
	/** Returns the next bytes. Empty at the end of the file, which can grow later. */
	readonly read: () => Uint8Array;
	readonly close: () => void;
};

/** Opens the log of a job for reading. Throws `failed` if it is missing, or is not a file of this account: the store named it. */
export function readLog(file: string): OpenedLog {
	let descriptor: number | undefined;
	try {
		// eslint-disable-next-line no-bitwise -- flags of open(2) are bits
		descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
		const status = fstatSync(descriptor);
		if (!status.isFile() || !isOurs(status)) {
			throw new Error('it is not a file of this account');
		}

		const opened = descriptor;
		return {
			read() {
				const bytes = new Uint8Array(65_536);
				return bytes.subarray(0, readSync(opened, bytes));
			},
			close() {
				closeSync(opened);
			},
		};
	} catch (error) {
		if (descriptor !== undefined) {
			closeSync(descriptor);
		}

		const isMissing = codeOf(error) === 'ENOENT';
		throw new CanhazgpuError(
			'failed',
			`The output of the job cannot be read: ${file}${isMissing ? ' does not exist' : `: ${problems.get(codeOf(error)) ?? messageOf(error)}`}`,
			{hint: isMissing ? 'Somebody has removed it.' : undefined, cause: error},
		);
	}
}

/** Throws `usage` for words that a record cannot hold. */
export function checkDetachable(words: readonly string[]): void {
	if (exactWords(words).some((word) => isBytes(word))) {
		throw new CanhazgpuError('usage', '--detach needs a command in UTF-8', {
			hint: 'Put the command into a script with a name in UTF-8.',
		});
	}

	const longest = 100_000;
	if (words.join(' ').length > longest) {
		throw new CanhazgpuError('usage', `--detach: the command has more than ${longest} characters`, {
			hint: 'Put the command into a script.',
		});
	}
}

/**
The wrapper writes to a pipe, from which another process copies to the log. If the log's disk is full, `cat` ends, and the next one continues with
the output that follows. So no write of the job fails. The copying process ends with the last process that has the pipe open.
*/
const copyingScript = `log_cat=$1; shift
"$@" </dev/null 2>&1 | {
	trap '' HUP INT QUIT TERM
	while ! "$log_cat" 2>/dev/null; do :; done
}`;

const plainScript = 'shift; exec "$@" </dev/null 2>&1';

export type DetachedStart = {
	readonly id: string;
	/** Words after `canhazgpu`. */
	readonly words: readonly string[];
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly directory: string;
	readonly log: string;
	readonly isNewLog: boolean;
	/** Whether to use the user's systemd. */
	readonly inSystemd: boolean;
};

const insideBinary = '/$bunfs/';

/** Returns the command line that starts this program again. */
function ownCommand(words: readonly string[]): readonly [string, ...string[]] {
	const {execPath, argv} = process;
	const file = argv[1] ?? '';
	return file.startsWith(insideBinary) ? [execPath, ...words] : [execPath, path.resolve(file), ...words];
}

/** A transient scope of the user's systemd, which does not end with the login session. The wrapper inherits everything from this process. */
const scopeWords = (id: string): readonly [string, ...string[]] => [
	systemTool('systemd-run'),
	'--user',
	'--scope',
	'--quiet',
	'--collect',
	`--unit=canhazgpu-job-${id}-${crypto.randomUUID().slice(0, 8)}`,
	`--description=canhazgpu job ${id}`,
	'--',
];

/** Starts a wrapper in a session of its own. Returns a promise that resolves when it has ended. Throws `failed` if it cannot be started. */
export async function startDetached({
	id,
	words,
	environment,
	directory,
	log,
	isNewLog,
	inSystemd,
}: DetachedStart): Promise<{readonly ended: Promise<void>; readonly letGo: () => void}> {
	const descriptor = openLog(log, isNewLog);
	try {
		const cat = systemTool('cat');
		const [program, ...args] = [
			...(inSystemd ? scopeWords(id) : []),
			'/bin/sh',
			'-c',
			existsSync(cat) ? copyingScript : plainScript,
			'canhazgpu',
			cat,
			...ownCommand(words),
		] as const;
		const child = spawn(program, args, {
			cwd: directory,
			env: environment,
			detached: true,
			stdio: ['ignore', descriptor, descriptor],
		});
		await new Promise<void>((resolve, reject) => {
			child.once('spawn', resolve);
			child.once('error', (error) => {
				reject(
					new CanhazgpuError('failed', `Job ${id} cannot be started in ${directory}: ${messageOf(error)}`, {
						cause: error,
					}),
				);
			});
		});
		return {
			ended: new Promise((resolve) => {
				child.once('exit', () => {
					resolve();
				});
			}),
			letGo() {
				child.unref();
			},
		};
	} finally {
		closeSync(descriptor);
	}
}

/** Whether logging out leaves processes alone: in a unit of the user's systemd, in a session of their own, or not at all. */
export type LogoutSurvival = {
	/** Whether the user's systemd runs and stays after the last logout (linger). */
	readonly hasLinger: boolean;
	/** Whether systemd-logind kills the processes of a session at its end. Undefined if unknown. */
	readonly killsProcesses: boolean | undefined;
};

/** Asks systemd-logind. Never rejects. Without an answer, there is nothing that would end a job at a logout. */
export async function readLogoutSurvival(): Promise<LogoutSurvival> {
	const uid = ownUid() ?? effectiveUid();
	const ask = async (...args: readonly string[]): Promise<ReadonlyMap<string, string>> => {
		const {stdout} = await runSystemTool('loginctl', args, {timeoutMs: 2000, maxBytes: 65_536});
		return new Map(stdout.split('\n').map((line) => line.split('=', 2) as [string, string]));
	};

	if (!existsSync('/run/systemd/system') || uid === undefined) {
		return {hasLinger: false, killsProcesses: undefined};
	}

	const [user, manager] = await Promise.all([
		ask('show-user', String(uid), '--property=Linger'),
		ask('show-session', '--property=KillUserProcesses'),
	]);
	const kills = manager.get('KillUserProcesses');
	return {
		hasLinger: user.get('Linger') === 'yes' && existsSync(`/run/user/${uid}/systemd/private`),
		killsProcesses: kills === undefined ? undefined : kills === 'yes',
	};
}
