import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {CanhazgpuError, quoted} from '../../errors.js';
import {runSystemTool, systemEnvironment, systemTool} from '../tool/system-tool.js';

const timeoutMs = 2000;

/** Returns the gid in a line of group(5): `NAME:password:GID:members`. */
function gidIn(line: string | undefined): number | undefined {
	const gid = line?.split(':', 3)[2] ?? '';
	return /^\d+$/v.test(gid) ? Number(gid) : undefined;
}

function gidInFile(file: string, name: string): number | undefined {
	try {
		const lines = readFileSync(file, 'utf8').split('\n');
		return gidIn(lines.find((line) => line.startsWith(`${name}:`)));
	} catch {
		return undefined;
	}
}

/** Whether the group database can contain the name. Rejects a leading hyphen, too, which a program could read as an option. */
const isName = (name: string): boolean => /^[^+\-]/v.test(name) && !/[\p{Control}\/:]/v.test(name);

async function findGid(name: string, wait: number): Promise<number | undefined> {
	const {stdout, exitCode} = await runSystemTool('getent', ['group', '--', name], {timeoutMs: wait});
	return exitCode === 0 ? gidIn(stdout) : undefined;
}

/** Returns the gid of a group, from the group database (files, LDAP, ...). Throws `usage` if there is no such group. */
export async function groupId(name: string): Promise<number> {
	const gid = await findGid(name, 5000);
	if (gid === undefined) {
		throw new CanhazgpuError('usage', `There is no group ${quoted(name)} on this machine`, {
			hint: `Make it with: groupadd ${name}`,
		});
	}

	return gid;
}

export const knowsGroup = async (name: string, groupFile = '/etc/group'): Promise<boolean> =>
	isName(name) && (gidInFile(groupFile, name) !== undefined || (await findGid(name, timeoutMs)) !== undefined);

/** An unknown group is looked up again after this time, because the directory server may have been down. */
const retryAfterMs = 60_000;

type Options = {
	readonly ownGids?: () => readonly number[];
	readonly groupFile?: string;
	readonly ask?: (name: string) => number | undefined;
	readonly monotonicMs?: () => number;
};

const askBlocking = (name: string): number | undefined => {
	const {stdout, status} = spawnSync(systemTool('getent'), ['group', '--', name], {
		encoding: 'utf8',
		killSignal: 'SIGKILL',
		cwd: '/',
		stdio: ['ignore', 'pipe', 'ignore'],
		env: systemEnvironment,
		timeout: timeoutMs,
	});
	return status === 0 ? gidIn(stdout) : undefined;
};

/** Returns the gids of this process, which the kernel checks. A group that the account joined after the login is missing. */
const kernelGids = (): readonly number[] => [...(process.getgroups?.() ?? []), process.getegid?.() ?? -1];

/** Returns a function that selects the names of groups to which this process belongs. Runs `getent` once for each name that is not in /etc/group. */
export function createGroups({
	ownGids = kernelGids,
	groupFile = '/etc/group',
	ask = askBlocking,
	monotonicMs = () => performance.now(),
}: Options = {}): (names: readonly string[]) => readonly string[] {
	const asked = new Map<string, {readonly gid: number | undefined; readonly atMs: number}>();

	const gidOf = (name: string): number | undefined => {
		if (!isName(name)) {
			return undefined;
		}

		const inFile = gidInFile(groupFile, name);
		if (inFile !== undefined) {
			return inFile;
		}

		const known = asked.get(name);
		if (known !== undefined && (known.gid !== undefined || monotonicMs() - known.atMs < retryAfterMs)) {
			return known.gid;
		}

		const gid = ask(name);
		asked.set(name, {gid, atMs: monotonicMs()});
		return gid;
	};

	return (names) => {
		if (names.length === 0) {
			return [];
		}

		const own = new Set(ownGids());
		return names.filter((name) => own.has(gidOf(name) ?? -2));
	};
}
