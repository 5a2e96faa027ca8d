/** Starts the wrapper of a detached job, so that it outlives the shell and the login. */
import {spawn} from 'node:child_process';
import {closeSync, existsSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {CanhazgpuError, codeOf, messageOf, quoted} from '../../errors.js';
import {exactWords, isBytes} from '../inherited/exact-text.js';
import {passedOn, restoringScript} from '../inherited/pass-on.js';
import {systemTool} from '../tool/system-tool.js';
import {markVariable} from './job.js';
import {openLog} from './job-log.js';

/** Throws `usage` if a word is not UTF-8, because the job's record could not store it. */
export function checkDetachable(words: readonly string[]): void {
	if (exactWords(words).some((word) => isBytes(word))) {
		throw new CanhazgpuError('usage', '--detach needs a command in UTF-8', {
			hint: 'Put the command into a script with a name in UTF-8.',
		});
	}

	const longest = 100_000;
	if (words.join(' ').length > longest) {
		throw new CanhazgpuError('usage', `The command of a detached job has more than ${longest} characters`, {
			hint: 'Put the command into a script.',
		});
	}
}

/**
A script in which the wrapper writes to a pipe, and `cat` copies from the pipe to the log. If the log's disk is full, `cat` ends, and the loop starts
`cat` again, so that no write of the job fails. The loop ends with the last process that has the pipe open for writing.
*/
const copyingScript = `log_cat=$1; shift
"$@" </dev/null 2>&1 | {
	trap '' HUP INT QUIT TERM
	while ! "$log_cat" 2>/dev/null; do :; done
}`;

const plainScript = 'shift; exec "$@" </dev/null 2>&1';

export type DetachedStart = {
	readonly id: string;
	readonly words: readonly string[];
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly directory: string;
	readonly log: string;
	readonly isNewLog: boolean;
	readonly inSystemd: boolean;
};

const insideBinary = '/$bunfs/';

function ownCommand(words: readonly string[]): readonly [string, ...string[]] {
	const {execPath, argv} = process;
	const file = argv[1] ?? '';
	return file.startsWith(insideBinary) ? [execPath, ...words] : [execPath, path.resolve(file), ...words];
}

/** Returns words that start the wrapper in a scope of the user's systemd. The scope outlives the login. The wrapper is a child of this process. */
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

/** Returns the error for a wrapper that cannot be started. For a missing directory, Node.js says that the program is missing. */
function startError(id: string, directory: string, error: unknown): CanhazgpuError {
	const retryHint = `then: canhazgpu retry ${id}`;
	if (codeOf(error) === 'ENOENT' && !existsSync(directory)) {
		return new CanhazgpuError(
			'failed',
			`Job ${id} cannot be started: its directory ${quoted(directory)} does not exist`,
			{hint: `Create the directory again, ${retryHint}`, cause: error},
		);
	}

	return codeOf(error) === 'EACCES'
		? new CanhazgpuError(
				'failed',
				`Job ${id} cannot be started: this account has no permission to use its directory ${quoted(directory)}`,
				{hint: `Change the permissions of the directory, ${retryHint}`, cause: error},
			)
		: new CanhazgpuError('failed', `Job ${id} cannot be started in ${directory}: ${messageOf(error)}`, {cause: error});
}

/** Whether both paths lead to the same file, such as a directory and a link to it. */
function isSameFile(one: string | undefined, other: string): boolean {
	try {
		const [first, second] = [one ?? '', other].map((file) => statSync(file));
		return first!.dev === second!.dev && first!.ino === second!.ino;
	} catch {
		return false;
	}
}

/** Whether this process is in the directory. If so, its children need not change to it, which the directory's permissions might not allow. */
function isCurrent(directory: string): boolean {
	try {
		return process.cwd() === directory;
	} catch {
		return false;
	}
}

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
			'/bin/sh',
			'-c',
			restoringScript,
			'canhazgpu',
			...ownCommand(words),
		] as const;
		const child = spawn(program, args, {
			cwd: isCurrent(directory) ? undefined : directory,
			env: passedOn({
				...environment,
				// `retry` may run in another directory than the job.
				PWD: isSameFile(environment['PWD'], directory) ? environment['PWD'] : directory,
				// A job that another job submits does not belong to that job, and must not end with it.
				[markVariable]: undefined,
			}),
			detached: true,
			stdio: ['ignore', descriptor, descriptor],
		});
		await new Promise<void>((resolve, reject) => {
			child.once('spawn', resolve);
			child.once('error', (error) => {
				reject(startError(id, directory, error));
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
