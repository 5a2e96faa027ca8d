/**
What went wrong with the database, in words for the user.
*/
import {CanhazgpuError} from '../../errors.js';

const ask = 'Ask whoever made the pool to let you into its group, or look at the permissions of its directory.';

/** Primary result codes of SQLite. */
const problems: ReadonlyMap<number, readonly [problem: string, hint: string]> = new Map([
	[3, ['may not be opened: permission denied', ask]],
	[5, ['is locked by another program', 'Try again. To see which has it open: fuser -v FILE']],
	[6, ['is locked by another program', 'Try again. To see which has it open: fuser -v FILE']],
	[8, ['is read-only for you', ask]],
	[10, ['cannot be read or written: disk error', 'Is the disk full (df FILE)? If not, see what dmesg says.']],
	[11, ['is damaged', 'Move it away, and make a new pool: canhazgpu admin --store embedded']],
	[13, ['cannot be written: the disk is full', 'Free some space. Nothing was changed.']],
	[14, ['cannot be opened', ask]],
	[23, ['may not be opened: permission denied', ask]],
	[26, ['is not a database', 'Move it away, and make a new pool: canhazgpu admin --store embedded']],
]);

const systemProblems: ReadonlyMap<string, readonly [problem: string, hint: string]> = new Map([
	['EACCES', ['may not be opened: permission denied', ask]],
	['EPERM', ['may not be opened: permission denied', ask]],
	['EROFS', ['is on a read-only file system', 'Use another directory.']],
	['ENOSPC', ['cannot be written: the disk is full', 'Free some space. Nothing was changed.']],
	['EDQUOT', ['cannot be written: your disk quota is used up', 'Free some space. Nothing was changed.']],
	['EEXIST', ['cannot be made: its directory is a file', 'Move that file away.']],
	['ENOTDIR', ['cannot be made: its directory is a file', 'Move that file away.']],
	['EISDIR', ['is a directory', 'Move it away.']],
]);

/** The lower eight bits: the rest only tells kinds of the same problem apart. */
const primaryCode = (error: unknown): number | undefined =>
	error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode % 256 : undefined;

/** True when another connection holds the lock just now. */
export const isBusy = (error: unknown): boolean => [5, 6].includes(primaryCode(error) ?? 0);

/** A user's error about the database at this path. */
export const databaseProblem = (
	path: string,
	[problem, hint]: readonly [problem: string, hint: string],
	cause?: unknown,
): CanhazgpuError =>
	new CanhazgpuError('store-unreachable', `The GPU pool ${path} ${problem}`, {
		hint: hint.replace('FILE', () => path),
		cause,
	});

/** Puts an error of SQLite or of the file system into words. Any other is a bug, and is given back as it is. */
export function explain(error: unknown, path: string): unknown {
	const code = primaryCode(error);
	if (code !== undefined) {
		const unknown = [`does not work: ${(error as Error).message}`, 'Is the file whole?'] as const;
		return databaseProblem(path, problems.get(code) ?? unknown, error);
	}

	const system = systemProblems.get(String((error as NodeJS.ErrnoException | undefined)?.code));
	return system === undefined ? error : databaseProblem(path, system, error);
}
