import {CanhazgpuError} from '../../errors.js';
import {lockHolder} from './lock-holder.js';

const ask = 'Ask the person who created the pool to add you to its group, or check the permissions of its directory.';

export const makeAgain = 'Move it away, and create a new pool: canhazgpu admin --store embedded';

export const changedByHand = `Somebody changed it by hand. ${makeAgain}`;

type Problem = readonly [problem: string, hint: string];

const denied: Problem = ['cannot be opened: permission denied', ask];
const full: Problem = ['cannot be written: the disk is full', 'Free some space. Nothing was changed.'];

/** SQLite's code for a failed write, such as EDQUOT or EIO. SQLite does not tell which. */
const writeFailed = 778;

/** Texts about problems, by SQLite's primary result code, by {@link writeFailed}, or by error code of the operating system. */
const problems: ReadonlyMap<number | string, Problem> = new Map<number | string, Problem>([
	[3, denied],
	[8, ['is read-only for you', ask]],
	[10, ['cannot be read or written: disk error', 'Is the disk full (df FILE)? If not, see what dmesg says.']],
	[11, ['is damaged', makeAgain]],
	[13, full],
	[
		writeFailed,
		[
			'cannot be written: disk error, or your disk quota is exhausted',
			'Nothing was changed. Check your quota (quota -s), your limit of file sizes (ulimit -f), and what dmesg says about the disk.',
		],
	],
	[14, ['cannot be opened', ask]],
	[23, denied],
	[26, ['is not a database', makeAgain]],
	['EACCES', denied],
	['EPERM', denied],
	[
		'EROFS',
		[
			'is on a read-only file system',
			'Linux does this to a disk with errors: see dmesg. For a systemd service, add the directory to its ReadWritePaths.',
		],
	],
	['ENOSPC', full],
	['EDQUOT', ['cannot be written: your disk quota is exhausted', 'Free some space. Nothing was changed.']],
	['EEXIST', ['cannot be created: its directory is a file', 'Move that file away.']],
	['ENOTDIR', ['cannot be created: its directory is a file', 'Move that file away.']],
	['EISDIR', ['is a directory', 'Move it away.']],
	['EIO', ['cannot be read or written: disk error', 'See what dmesg says about the disk.']],
	['ELOOP', ['cannot be opened: a link in its path points back to itself', 'See: namei -l FILE']],
	['ESTALE', ['cannot be reached: its file system is no longer available', 'See whether it is mounted: df FILE']],
	['EMFILE', ['cannot be opened: this process has too many open files', 'Raise the limit: ulimit -n']],
	['ENFILE', ['cannot be opened: this machine has too many open files', 'Try again.']],
	['ENOMEM', ['cannot be opened: the machine is out of memory', 'Try again.']],
]);

/** Returns the error code of the operating system, such as `EIO`. Ignores Node's own codes (`ERR_...`), which mean invalid calls and are bugs. */
function systemCode(error: unknown): string | undefined {
	const {code, syscall} = (error ?? {}) as NodeJS.ErrnoException;
	return typeof code === 'string' && (syscall !== undefined || problems.has(code)) ? code : undefined;
}

/** Codes of SQLite and of the operating system for a disk that can be read but not changed. */
const refusals: ReadonlySet<number | string> = new Set([8, 13, writeFailed, 'EROFS', 'ENOSPC', 'EDQUOT']);

/** Codes of SQLite and of the operating system for permissions that somebody must correct. */
const corrected: ReadonlySet<number | string | undefined> = new Set([3, 8, 23, 'EACCES', 'EPERM', 'EROFS']);

const sqliteCode = (error: unknown): number | undefined =>
	error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined;

/** Returns SQLite's primary result code, which is in the lower eight bits. The upper bits distinguish variants of the same problem. */
function primaryCode(error: unknown): number | undefined {
	const code = sqliteCode(error);
	return code === undefined ? undefined : code % 256;
}

/** Whether another connection holds the lock. */
export const isBusy = (error: unknown): boolean => [5, 6].includes(primaryCode(error) ?? 0);

/** Returns an error for users about the database at this path. `code` must be `store-refused` if it is certain that nothing was changed. */
export const databaseProblem = (
	path: string,
	[problem, hint]: Problem,
	cause?: unknown,
	code: 'store-unreachable' | 'store-refused' = 'store-unreachable',
): CanhazgpuError =>
	new CanhazgpuError(code, `The GPU pool ${path} ${problem}`, {
		hint: hint.replace('FILE', () => path),
		cause,
		needsCorrection: corrected.has(primaryCode(cause) ?? systemCode(cause)),
	});

function lockedProblem(path: string): Problem {
	const holder = lockHolder([path, `${path}-lock`]);
	if (holder === undefined) {
		return ['is locked by another program', 'Try again. To see which has it open: fuser -v FILE'];
	}

	return holder.isStopped
		? [
				`is locked by process ${holder.pid}, which was stopped while it used the pool`,
				`Continue it: kill -CONT ${holder.pid}`,
			]
		: [`is locked by process ${holder.pid}`, `Try again. To see what it is: ps -fp ${holder.pid}`];
}

/** Turns errors of SQLite and of the file system into errors for users. Returns other errors, which are bugs. `isUndone`: nothing was changed. */
export function explain(error: unknown, path: string, isUndone = false): unknown {
	const code = sqliteCode(error) === writeFailed ? writeFailed : (primaryCode(error) ?? systemCode(error));
	if (code === undefined) {
		return error;
	}

	const unknown = [
		`does not work: ${(error as Error).message}`,
		typeof code === 'number' ? 'Check whether the file is damaged.' : 'See whether it can be read: stat FILE',
	] as const;
	return databaseProblem(
		path,
		isBusy(error) ? lockedProblem(path) : (problems.get(code) ?? unknown),
		error,
		isUndone && refusals.has(code) ? 'store-refused' : 'store-unreachable',
	);
}

export function explained<Result>(path: string, work: () => Result): Result {
	try {
		return work();
	} catch (error) {
		throw explain(error, path);
	}
}
