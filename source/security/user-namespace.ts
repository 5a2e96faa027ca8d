import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import process from 'node:process';
import {codeOf} from '../errors.js';

type Options = {
	readonly procDirectory?: string;
	readonly platform?: string;
	/** Ours. */
	readonly uid?: number;
};

/** The kernel gives the namespace that it starts with this inode, since Linux 3.8 (PROC_USER_INIT_INO). */
const initialNamespace = '4026531837';

/**
Every uid stands for itself. Only the initial user namespace has this map, and one that root gave it: the maker of a namespace may map no
more than what its parent has.
*/
const isWholeMap = (map: string): boolean => /^\s*0\s+0\s+4294967295\s*$/v.test(map);

/**
The user namespace that this process is in, when uids need not mean there what they mean to the machine:
under `unshare`, in a rootless container. Its maker chooses which uid to have in it, so an account says nothing there.

@returns The uid that ours is outside, as far as that is known, and the number of the namespace: `61002/4026532590`. The kernel gives a number
again once its namespace is gone, so the number alone would let another account take over what was left behind. Undefined outside of a
namespace, and where the system has none. `?` stands for what is unknown, which must be taken for one: the maker of a namespace may
also hide what tells of it.
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

/** True for root of the machine, whom every account has to trust. The uid 0 of a user namespace has the rights of the account that made it. */
export const isMachineRoot = (): boolean => process.geteuid?.() === 0 && readUserNamespace() === undefined;

/** Translates a uid of the namespace to the surrounding one. A line of the map has the first inner uid, the first outer uid and a count. */
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

/** False for a kernel that was built without them: it lists its other namespaces. */
const knowsUserNamespaces = (procDirectory: string): boolean => {
	try {
		return readdirSync(`${procDirectory}/self/ns`).includes('user');
	} catch {
		return true;
	}
};
