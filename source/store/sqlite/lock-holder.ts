import {readFileSync, statSync} from 'node:fs';
import process from 'node:process';

type LockHolder = {readonly pid: number; readonly isStopped: boolean};

/** Matches lines of /proc/locks (proc_locks(5)) such as `3: POSIX  ADVISORY  WRITE 4711 08:01:131077 0 EOF`. Device numbers are hexadecimal. */
const linePattern = /^\d+: POSIX +ADVISORY +WRITE +(?<pid>\d+) (?<major>[\da-f]+):(?<minor>[\da-f]+):(?<inode>\d+) /v;

function isStopped(pid: number): boolean {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		return /^t/iv.test(stat.slice(stat.lastIndexOf(')') + 2));
	} catch {
		return false;
	}
}

/** Returns the name of a file in /proc/locks. Splits the device number into the two parts that makedev(3) combines. */
const nameOf = (device: number, inode: number): string => {
	const major = Math.floor(device / 256) % 4096;
	const minor = (device % 256) + Math.floor(device / 1_048_576) * 256;
	return `${major}:${minor}:${inode}`;
};

/** Returns the first process that keeps one of these files locked, except this process. Undefined if none or unknown. */
export function lockHolder(paths: readonly string[]): LockHolder | undefined {
	try {
		const names = new Set(
			paths.flatMap((path) => {
				const file = statSync(path, {throwIfNoEntry: false});
				return file === undefined ? [] : [nameOf(file.dev, file.ino)];
			}),
		);
		for (const line of readFileSync('/proc/locks', 'latin1').split('\n')) {
			const {groups} = linePattern.exec(line) ?? {};
			if (groups === undefined) {
				continue;
			}

			const name = `${Number.parseInt(groups['major']!, 16)}:${Number.parseInt(groups['minor']!, 16)}:${groups['inode']!}`;
			const pid = Number(groups['pid']);
			// The pid is 0 for a process outside of this pid namespace.
			if (names.has(name) && pid > 0 && pid !== process.pid) {
				return {pid, isStopped: isStopped(pid)};
			}
		}
	} catch {}

	return undefined;
}

/** If nothing was committed for this long, the kernel is asked for the process that holds the lock. */
const longestStandstillMs = 30_000;
/** The kernel is asked again after this time, to see whether the same process still holds the lock. */
const secondLookMs = 3000;

const changeOf = (path: string): string => {
	const status = statSync(path, {throwIfNoEntry: false, bigint: true});
	return `${status?.ino}:${status?.mtimeNs}:${status?.size}`;
};

type Evidence = {
	/** Returns a value that is different after each change of the pool. */
	readonly changeOf: (path: string) => string;
	readonly holderOf: (paths: readonly string[]) => LockHolder | undefined;
};

const ofSystem: Evidence = {changeOf, holderOf: lockHolder};

/**
Determines whether the processes that wait for a lock are stuck. On a busy machine, hundreds of them may wait for minutes, which is no error if others
succeed. They are stuck if nothing was committed for a long time and the same process holds the lock all the time. The kernel is asked for that
process only after a standstill, because no process of the machine can take a lock while the kernel lists all locks.
@returns A function to call after each attempt, with the monotonic time.
*/
export function createStandstill(path: string, evidence: Evidence = ofSystem): (nowMs: number) => boolean {
	const holder = (): number | undefined => (evidence.holderOf([path]) ?? evidence.holderOf([`${path}-lock`]))?.pid;
	let change: string | undefined;
	let sinceMs = 0;
	let first: {readonly pid: number | undefined; readonly atMs: number} | undefined;
	const begin = (nowMs: number): false => {
		sinceMs = nowMs;
		first = undefined;
		return false;
	};

	return (nowMs) => {
		const newest = evidence.changeOf(path);
		if (newest !== change) {
			change = newest;
			return begin(nowMs);
		}

		if (nowMs - sinceMs < longestStandstillMs) {
			return false;
		}

		if (first === undefined) {
			first = {pid: holder(), atMs: nowMs};
			return false;
		}

		return nowMs - first.atMs >= secondLookMs && (holder() === first.pid || begin(nowMs));
	};
}
