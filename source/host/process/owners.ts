import type {runTool} from '../tool/spawn.js';
import type {Users} from '../accounts/users.js';

type Options = {
	readonly users: Pick<Users, 'nameOf'>;
	readonly run: typeof runTool;
	readonly monotonicMs: () => number;
};

const timeoutMs = 2000;
const retryAfterMs = 60_000;

/** Creates a function that finds the owners of processes in /proc. Asks `ps` for missing owners, at most once a minute for the same process. */
export const createOwnerFinder = ({users, run, monotonicMs}: Options) => {
	const hidden = new Map<number, {readonly askedAtMs: number; readonly uid: number | undefined}>();

	/** Asks for the owners of all these processes at once, because a container can hide hundreds. */
	const askPs = async (pids: readonly number[]): Promise<void> => {
		const args = ['-o', 'pid=', '-o', 'uid=', '-p', pids.join(',')];
		const {stdout} = await run('ps', args, {timeoutMs, maxBytes: 1024 * 1024});
		const uids = new Map(
			stdout.split('\n').flatMap((line) => {
				const {pid, uid} = /^\s*(?<pid>\d+)\s+(?<uid>\d+)\s*$/v.exec(line)?.groups ?? {};
				return pid === undefined ? [] : [[Number(pid), Number(uid)] as const];
			}),
		);
		const askedAtMs = monotonicMs();
		for (const pid of pids) {
			hidden.set(pid, {askedAtMs, uid: uids.get(pid)});
		}
	};

	return async (uids: ReadonlyMap<number, number | undefined>): Promise<ReadonlyMap<number, string | undefined>> => {
		for (const pid of hidden.keys()) {
			if (!uids.has(pid)) {
				hidden.delete(pid);
			}
		}

		const unknown = [...uids].flatMap(([pid, uid]) => (uid === undefined ? [pid] : []));
		const due = unknown.filter((pid) => monotonicMs() - (hidden.get(pid)?.askedAtMs ?? -Infinity) >= retryAfterMs);
		if (due.length > 0) {
			await askPs(due);
		}

		const found = new Map([...uids].map(([pid, uid]) => [pid, uid ?? hidden.get(pid)?.uid]));
		const accounts = [...new Set(found.values())].filter((uid) => uid !== undefined);
		const names = new Map(await Promise.all(accounts.map(async (uid) => [uid, await users.nameOf(uid)] as const)));
		return new Map([...found].map(([pid, uid]) => [pid, uid === undefined ? undefined : names.get(uid)]));
	};
};
