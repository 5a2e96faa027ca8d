import {readFileSync, statSync} from 'node:fs';
import {parseStat, type ProcessStat} from './proc.js';

/**
What the small files of /proc/PID tell. Unlike the command line, none of them needs a lock of the process, so that reading them
blocks for microseconds only.
*/
export type ProcessFiles = {
	/**
	Whether there is no such process to be seen here, as with those of other containers. False where there is no /proc at all.
	*/
	readonly isAbsent: (pid: number) => boolean;
	readonly statOf: (pid: number) => ProcessStat | undefined;
	readonly statusOf: (pid: number) => ProcessStatus;
	/**
	See {@link parseContainerId}. A process stays in its container, so each is looked up once.
	*/
	readonly containersOf: (
		processes: ReadonlyMap<number, ProcessStat | undefined>,
	) => ReadonlyMap<number, string | undefined>;
	/**
	Unix seconds at which the kernel was started. Undefined where it does not tell.
	*/
	readonly bootTime: () => number | undefined;
};

export type ProcessStatus = {
	/**
	The real uid.
	*/
	readonly uid?: number;
	readonly residentMiB?: number;
};

/**
In seconds. The kernel tells times to programs in these units on every machine that has a GPU.
*/
export const secondsPerTick = 0.01;

type Contained = {readonly startTicks: number; readonly id?: string};

export const createProcessFiles = (procDirectory: string): ProcessFiles => {
	let bootTime: {readonly seconds?: number} | undefined;
	let contained: ReadonlyMap<number, Contained> = new Map();

	const read = (file: string): string => {
		try {
			return readFileSync(`${procDirectory}/${file}`, 'utf8');
		} catch {
			return '';
		}
	};

	// A look whether a directory is there costs a small part of a file that is not.
	const exists = (name: string): boolean => {
		try {
			return statSync(`${procDirectory}/${name}`, {throwIfNoEntry: false}) !== undefined;
		} catch {
			// It may be there, and closed to us.
			return true;
		}
	};

	let hasProc: boolean | undefined;
	const isAbsent = (pid: number): boolean => {
		hasProc ??= exists('self');
		return hasProc && !exists(String(pid));
	};

	return {
		isAbsent,
		statOf: (pid) => parseStat(read(`${pid}/stat`)),
		statusOf: (pid) => parseStatus(read(`${pid}/status`)),
		containersOf(processes) {
			const found = new Map<number, Contained>();
			// Most processes share theirs.
			const ids = new Map<string, string | undefined>();
			const idOf = (cgroup: string): string | undefined => {
				if (!ids.has(cgroup)) {
					ids.set(cgroup, parseContainerId(cgroup));
				}

				return ids.get(cgroup);
			};

			for (const [pid, stat] of processes) {
				if (stat === undefined) {
					continue;
				}

				const {startTicks} = stat;
				const earlier = contained.get(pid);
				const isKnown = earlier?.startTicks === startTicks;
				found.set(pid, isKnown ? earlier : {startTicks, id: idOf(read(`${pid}/cgroup`))});
			}

			contained = found;
			return new Map([...found].map(([pid, {id}]) => [pid, id]));
		},
		bootTime() {
			// Read once: on large machines this file takes a while.
			bootTime ??= {seconds: numberAfter(/^btime (?<number>\d+)/mv, read('stat'))};
			return bootTime.seconds;
		},
	};
};

const numberAfter = (form: RegExp, text: string): number | undefined => {
	const number = form.exec(text)?.groups?.['number'];
	return number === undefined ? undefined : Number(number);
};

/**
Lines of proc_pid_status(5). Of the four uids the first is the real one. A kernel thread has no memory of its own.
*/
const parseStatus = (text: string): ProcessStatus => {
	const residentKiB = numberAfter(/^VmRSS:\s+(?<number>\d+) kB/mv, text);
	return {
		uid: numberAfter(/^Uid:\s+(?<number>\d+)/mv, text),
		residentMiB: residentKiB === undefined ? undefined : Math.round(residentKiB / 1024),
	};
};

/**
The first 12 characters of the id of the container that a process runs in, as `docker ps` shows them, from its control groups
(cgroups(7), both versions). Docker, containerd, Podman, CRI-O and Kubernetes each write the path otherwise, but all end it in the id:

    12:memory:/docker/<id>
    0::/system.slice/docker-<id>.scope
    0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-<id>.scope/container
    1:name=systemd:/kubepods/burstable/pod<uuid>/<id>
    0::/kubepods.slice/kubepods-pod<uuid>.slice/cri-containerd-<id>.scope
    0::/system.slice/containerd.service/kubepods-besteffort-pod<uuid>.slice:cri-containerd:<id>

The innermost counts. Undefined outside of containers.
*/
export const parseContainerId = (cgroup: string): string | undefined => {
	for (const line of cgroup.split('\n')) {
		const path = line.split(':').slice(2);
		const ids = path
			.join(':')
			.matchAll(/(?:^|[\-\/:])(?<prefix>conmon-)?(?<id>[\da-f]{64})(?=[.\/]|$)/gv)
			.filter(({groups}) => groups?.['prefix'] === undefined)
			.toArray();
		const id = ids.at(-1)?.groups?.['id'];
		if (id !== undefined) {
			return id.slice(0, 12);
		}
	}

	return undefined;
};
