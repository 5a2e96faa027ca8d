import {Buffer} from 'node:buffer';
import {readFile} from 'node:fs/promises';
import {performance} from 'node:perf_hooks';
import {setTimeout as delay} from 'node:timers/promises';
import type {GpuProcess} from '../core/types.js';
import {parseStat} from './proc.js';
import type {runTool} from './spawn.js';
import type {Users} from './users.js';

/**
What this machine knows of a process. All undefined when it is hidden from us or has ended.
*/
export type ProcessDetails = Pick<GpuProcess, 'startTicks' | 'user' | 'name' | 'commandLine'>;

export type DescribeProcesses = (pids: Iterable<number>) => Promise<ReadonlyMap<number, ProcessDetails>>;

type Options = {
	readonly users: Pick<Users, 'nameOf'>;
	readonly run: typeof runTool;
	readonly procDirectory?: string;
	readonly monotonicMs?: () => number;
};

/**
In UTF-16 units; a command line may be megabytes long.
*/
const longestCommandLine = 4096;

/**
Reading the command line of a process waits for that process's memory lock. A process that hangs in a driver may hold it for
ever, so its reading is given up after this, and not begun anew while it hangs.
*/
const commandLineTimeoutMs = 300;

const ownerTimeoutMs = 2000;
const retryOwnerAfterMs = 60_000;

/**
Makes the look-up of process owners, names and command lines. It asks for all processes in parallel, for each of them once a call,
and never rejects.
*/
export const createProcessDescriber = ({
	users,
	run,
	procDirectory = '/proc',
	monotonicMs = () => performance.now(),
}: Options): DescribeProcesses => {
	const hangingReads = new Set<number>();
	const hiddenOwners = new Map<number, {readonly askedAt: number; readonly uid: Promise<number | undefined>}>();

	const readText = async (pid: number, file: string): Promise<string | undefined> => {
		try {
			return await readFile(`${procDirectory}/${pid}/${file}`, 'utf8');
		} catch {
			return undefined;
		}
	};

	const readCommandLine = async (pid: number): Promise<string | undefined> => {
		if (hangingReads.has(pid)) {
			return undefined;
		}

		const read = async () => {
			hangingReads.add(pid);
			const text = await readText(pid, 'cmdline');
			hangingReads.delete(pid);
			return text;
		};

		const enough = new AbortController();
		const patience = delay(commandLineTimeoutMs, undefined, {signal: enough.signal}).catch(() => undefined);
		const text = await Promise.race([read(), patience]);
		enough.abort();
		return text === '' ? undefined : text;
	};

	/**
	Where /proc does not tell, `ps` may, but a process that hides from both is asked for only now and then.
	*/
	const askOwner = async (pid: number): Promise<number | undefined> => {
		const earlier = hiddenOwners.get(pid);
		if (earlier && monotonicMs() - earlier.askedAt < retryOwnerAfterMs) {
			return earlier.uid;
		}

		const uid = askPs(run, pid);
		hiddenOwners.set(pid, {askedAt: monotonicMs(), uid});
		return uid;
	};

	const describe = async (pid: number): Promise<ProcessDetails> => {
		const [stat, status, commandLine] = await Promise.all([
			readText(pid, 'stat'),
			readText(pid, 'status'),
			readCommandLine(pid),
		]);
		const {comm, startTicks} = parseStat(stat ?? '') ?? {};
		const uid = parseUid(status ?? '') ?? (await askOwner(pid));
		return {
			startTicks,
			user: uid === undefined ? undefined : await users.nameOf(uid),
			name: shortName(comm, commandLine),
			commandLine: commandLine === undefined ? undefined : flatten(commandLine),
		};
	};

	return async (pids) => {
		const unique = [...new Set(pids)];
		for (const pid of hiddenOwners.keys()) {
			if (!unique.includes(pid)) {
				hiddenOwners.delete(pid);
			}
		}

		return new Map(await Promise.all(unique.map(async (pid) => [pid, await describe(pid)] as const)));
	};
};

/**
The real uid: of four numbers after `Uid:` in /proc/PID/status the first (proc_pid_status(5)).
*/
const parseUid = (status: string): number | undefined => {
	const uid = /^Uid:\s+(?<real>\d+)/mv.exec(status)?.groups?.['real'];
	return uid === undefined ? undefined : Number(uid);
};

const askPs = async (run: typeof runTool, pid: number): Promise<number | undefined> => {
	const {stdout} = await run('ps', ['-o', 'uid=', '-p', String(pid)], {timeoutMs: ownerTimeoutMs, maxBytes: 4096});
	const uid = stdout.trim();
	return /^\d+$/v.test(uid) ? Number(uid) : undefined;
};

/**
The kernel's name, unless it is cut off at 15 bytes and the first argument tells the rest.
*/
const shortName = (comm: string | undefined, commandLine: string | undefined): string | undefined => {
	const program = commandLine?.split('\0', 1).at(0)?.split('/').pop() ?? '';
	if (comm !== undefined && (Buffer.byteLength(comm) < 15 || !program.startsWith(comm))) {
		return comm;
	}

	return program === '' ? comm : cap(program);
};

/**
Arguments end in NUL; a program that rewrites its title may leave many.
*/
const flatten = (commandLine: string): string | undefined => {
	const text = cap(commandLine.replaceAll(/\0+/gv, ' ').trim());
	return text === '' ? undefined : text;
};

/**
At most {@link longestCommandLine} units, without half a character at the end.
*/
const cap = (text: string): string => text.slice(0, longestCommandLine).replace(/\p{Surrogate}$/v, '');
