import {Buffer} from 'node:buffer';
import {closeSync, openSync, readFileSync, readSync, statSync} from 'node:fs';
import {parseStat, type ProcessStat} from './proc.js';

/**
Facts from the small files of /proc/PID. Unlike the command line, they need no lock of the process, so reading them blocks only for
microseconds.
*/
type ProcessFiles = {
	/**
	The effective uid. `absent` when there is no such process to be seen here, as with those of other containers. Undefined where it
	cannot be seen, and where there is no /proc at all.
	*/
	readonly effectiveUidOf: (pid: number) => number | 'absent' | undefined;
	readonly statOf: (pid: number) => ProcessStat | undefined;
	/** The real uid. It costs more than all the rest together. */
	readonly realUidOf: (pid: number) => number | undefined;
	/** See {@link parseContainerId}. A process stays in its container, so each is looked up once. */
	readonly containersOf: (
		processes: ReadonlyMap<number, ProcessStat | undefined>,
	) => ReadonlyMap<number, string | undefined>;
	/** Unix seconds at which the kernel was started. Undefined where it does not tell. */
	readonly bootTime: () => number | undefined;
	/** Undefined where the kernel does not tell. */
	readonly pageBytes: () => number | undefined;
};

/** In seconds. The kernel tells times to programs in these units on every machine that has a GPU. */
export const secondsPerTick = 0.01;

type Contained = {readonly startTicks: number; readonly id?: string};

/** Returns the owner of a file as a uid, or undefined. */
export type FileOwner = (file: string) => number | undefined;

/** The effective uid of a process. Undefined where there is none to be seen. */
export const ownerOfProcess = (pid: number): number | undefined => {
	try {
		return statSync(`/proc/${pid}`).uid;
	} catch {
		return undefined;
	}
};

const ownerOfFile: FileOwner = (file) => statSync(file, {throwIfNoEntry: false})?.uid;

export const createProcessFiles = (procDirectory: string, ownerOf: FileOwner = ownerOfFile): ProcessFiles => {
	let contained: ReadonlyMap<number, Contained> = new Map();
	// Reused for all files, which are small and many.
	const buffer = Buffer.allocUnsafe(64 * 1024);

	const read = (file: string): string => {
		try {
			const descriptor = openSync(`${procDirectory}/${file}`, 'r');
			try {
				// The kernel gives such a file whole, where it has the room.
				return buffer.toString('utf8', 0, readSync(descriptor, buffer));
			} finally {
				closeSync(descriptor);
			}
		} catch {
			return '';
		}
	};

	const readWhole = (file: string): Uint8Array => {
		try {
			return readFileSync(`${procDirectory}/${file}`);
		} catch {
			return new Uint8Array();
		}
	};

	// To stat the directory costs a small part of reading a file.
	const uidOf = (name: string): number | 'absent' | undefined => {
		try {
			return ownerOf(`${procDirectory}/${name}`) ?? 'absent';
		} catch {
			// The process may be there, and closed to us.
			return undefined;
		}
	};

	const hasProc = once(() => uidOf('self') !== 'absent');

	return {
		effectiveUidOf(pid) {
			const uid = uidOf(String(pid));
			return uid === 'absent' && !hasProc() ? undefined : uid;
		},
		statOf: (pid) => parseStat(read(`${pid}/stat`)),
		realUidOf: (pid) => numberAfter(/^Uid:\s+(?<number>\d+)/mv, read(`${pid}/status`)),
		containersOf(processes) {
			const found = new Map<number, Contained>();
			// Most processes share their control group with others.
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
		// On large machines this file takes a while.
		bootTime: once(() => numberAfter(/^btime (?<number>\d+)/mv, new TextDecoder().decode(readWhole('stat')))),
		pageBytes: once(() => parsePageBytes(readWhole('self/auxv'))),
	};
};

const once = <Value>(find: () => Value): (() => Value) => {
	let found: {readonly value: Value} | undefined;
	return () => {
		found ??= {value: find()};
		return found.value;
	};
};

const numberAfter = (form: RegExp, text: string): number | undefined => {
	const number = form.exec(text)?.groups?.['number'];
	return number === undefined ? undefined : Number(number);
};

/**
AT_PAGESZ of the auxiliary vector (getauxval(3)): pairs of a type and a value, each of 64 bits, the least byte first. ARM machines have
pages of 4, 16 or 64 KiB.
*/
const parsePageBytes = (vector: Uint8Array): number | undefined => {
	const pageSizeType = 6n;
	const words = new DataView(vector.buffer, vector.byteOffset, vector.byteLength);
	for (let offset = 0; offset + 16 <= words.byteLength; offset += 16) {
		if (words.getBigUint64(offset, true) === pageSizeType) {
			return Number(words.getBigUint64(offset + 8, true));
		}
	}

	return undefined;
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

The innermost container counts. Undefined outside of containers.
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
