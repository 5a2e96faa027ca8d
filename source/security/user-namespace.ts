import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import process from 'node:process';
import {codeOf} from '../errors.js';

type Options = {
	readonly procDirectory?: string;
	readonly platform?: string;
	readonly uid?: number;
};

/** The inode of the initial user namespace, since Linux 3.8 (PROC_USER_INIT_INO). */
const initialNamespace = '4026531837';

/** Whether every uid maps to itself, as in the initial user namespace. In any other namespace, only root can set such a map. */
const isWholeMap = (map: string): boolean => /^\s*0\s+0\s+4294967295\s*$/v.test(map);

/**
Returns the user namespace of this process if its uids can differ from those of the machine, as under `unshare` or in a rootless container. The
creator of such a namespace chooses its own uid in there, so an account name proves nothing.

@returns The uid outside and the number of the namespace: `61002/4026532590`. `?` stands for an unknown part. The number alone would not be enough:
the kernel reuses it after the namespace has ended, and another account could then take over leases of the first account. If /proc does not show the
namespace, the process is assumed to be in one, because the creator of a namespace can hide it. Undefined outside of a namespace, and on systems
without user namespaces.
*/
export function readUserNamespace({
	procDirectory = '/proc',
	platform = process.platform,
	uid = process.getuid?.() ?? -1,
}: Options = {}): string | undefined {
	if (platform !== 'linux') {
		return undefined;
	}

	const inode = namespaceInode(procDirectory);
	try {
		const map = readFileSync(`${procDirectory}/self/uid_map`, 'utf8');
		return isWholeMap(map) ? undefined : `${uidOutside(map, uid) ?? '?'}/${inode ?? '?'}`;
	} catch (error) {
		const hasNone = codeOf(error) === 'ENOENT' && !knowsUserNamespaces(procDirectory);
		return inode === initialNamespace || hasNone ? undefined : `?/${inode ?? '?'}`;
	}
}

/** Whether this process is root of the machine, whom every account must trust. Uid 0 of a user namespace has only the rights of its creator. */
export const isMachineRoot = (): boolean => process.geteuid?.() === 0 && readUserNamespace() === undefined;

/** Translates a uid inside the namespace to the uid outside. Each line of the map has the first uid inside, the first uid outside and a count. */
const uidOutside = (map: string, uid: number): number | undefined => {
	for (const line of map.split('\n')) {
		const [inside = NaN, outside = NaN, count = 0] = line.trim().split(/\s+/v, 3).map(Number);
		if (uid >= inside && uid < inside + count) {
			return outside + uid - inside;
		}
	}

	return undefined;
};

const namespaceInode = (procDirectory: string): string | undefined => {
	try {
		return /\d+/v.exec(readlinkSync(`${procDirectory}/self/ns/user`))?.[0];
	} catch {
		return undefined;
	}
};

/** Whether the kernel supports user namespaces. A kernel without them still lists its other namespaces. */
const knowsUserNamespaces = (procDirectory: string): boolean => {
	try {
		return readdirSync(`${procDirectory}/self/ns`).includes('user');
	} catch {
		return true;
	}
};
