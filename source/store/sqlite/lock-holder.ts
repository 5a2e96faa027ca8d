/** Which process keeps a file locked. */
import {readFileSync, statSync} from 'node:fs';
import process from 'node:process';

export type LockHolder = {readonly pid: number; readonly isStopped: boolean};

/** A line such as `3: POSIX  ADVISORY  WRITE 4711 08:01:131077 0 EOF` in /proc/locks (proc_locks(5)); device numbers are hexadecimal. */
const linePattern = /^\d+: POSIX +ADVISORY +WRITE +(?<pid>\d+) (?<major>[\da-f]+):(?<minor>[\da-f]+):(?<inode>\d+) /v;

function isStopped(pid: number): boolean {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		return /^t/iv.test(stat.slice(stat.lastIndexOf(')') + 2));
	} catch {
		return false;
	}
}

/** As /proc/locks names a file. Device numbers are split as makedev(3) joins them. */
const nameOf = (device: number, inode: number): string => {
	const major = Math.floor(device / 256) % 4096;
	const minor = (device % 256) + Math.floor(device / 1_048_576) * 256;
	return `${major}:${minor}:${inode}`;
};

/** The first process other than this one that keeps any of these files locked, where the kernel tells. */
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
			// A process outside our namespace of pids is 0 here.
			if (names.has(name) && pid > 0 && pid !== process.pid) {
				return {pid, isStopped: isStopped(pid)};
			}
		}
	} catch {}

	return undefined;
}
