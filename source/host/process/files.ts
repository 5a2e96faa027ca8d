import {Buffer} from 'node:buffer';
import {closeSync, openSync, readFileSync, readSync, statSync} from 'node:fs';
import {parseStat, type ProcessStat} from './proc.js';

/** Facts from the small files of /proc/PID. Unlike the command line, they need no lock of the process and take microseconds. */
type ProcessFiles = {
	/** Returns the effective uid. `absent`: no such process, or one in another container. Undefined if the process is hidden or there is no /proc. */
	readonly effectiveUidOf: (pid: number) => number | 'absent' | undefined;
	readonly statOf: (pid: number) => ProcessStat | undefined;
	/** Returns the real uid. Takes longer than all other facts together. */
	readonly realUidOf: (pid: number) => number | undefined;
	/** Returns container ids (see {@link parseContainerId}). Cached, because a process stays in its container. */
	readonly containersOf: (
		processes: ReadonlyMap<number, ProcessStat | undefined>,
	) => ReadonlyMap<number, string | undefined>;
	/** Returns the Unix time of the kernel's start, in seconds. Undefined if unknown. */
	readonly bootTime: () => number | undefined;
	readonly pageBytes: () => number | undefined;
};

/** The length of a clock tick in /proc, the same on every machine with a GPU. */
export const secondsPerTick = 0.01;

type Contained = {readonly startTicks: number; readonly id?: string};

/** Returns the owner of a file as a uid, or undefined. */
export type FileOwner = (file: string) => number | undefined;

/** Returns the effective uid of a process. Undefined if the process is not visible. */
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
	// Reused for all files, because there are many and all are small.
	const buffer = Buffer.allocUnsafe(64 * 1024);

	const read = (file: string): string => {
		try {
			const descriptor = openSync(`${procDirectory}/${file}`, 'r');
			try {
				// The kernel returns a whole file of /proc in one read if the buffer is large enough.
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

	// Uses stat(2) on the directory, which is much faster than reading a file.
	const uidOf = (name: string): number | 'absent' | undefined => {
		try {
			return ownerOf(`${procDirectory}/${name}`) ?? 'absent';
		} catch {
			// The process may exist and be hidden.
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
			// Parses each control group once, because most processes share theirs with others.
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
		// Read only once, because reading this file takes a while on large machines.
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

/** Reads AT_PAGESZ from the auxiliary vector (getauxval(3)), little-endian pairs of 64-bit type and value. ARM has pages of 4, 16 or 64 KiB. */
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
Returns the first 12 characters of a process's container id, as in `docker ps`, from its control groups (cgroups(7), both versions). The path
depends on Docker, containerd, Podman, CRI-O or Kubernetes, but always ends with the id:

    12:memory:/docker/<id>
    0::/system.slice/docker-<id>.scope
    0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-<id>.scope/container
    1:name=systemd:/kubepods/burstable/pod<uuid>/<id>
    0::/kubepods.slice/kubepods-pod<uuid>.slice/cri-containerd-<id>.scope
    0::/system.slice/containerd.service/kubepods-besteffort-pod<uuid>.slice:cri-containerd:<id>

Returns the innermost container. Undefined outside of containers.
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
