import {readFileSync} from 'node:fs';
import {performance} from 'node:perf_hooks';
import type {GpuProcess} from '../core/types.js';
import {createCommandLineReader} from './command-lines.js';
import {parseStat, type ProcessStat} from './proc.js';
import type {runTool} from './spawn.js';
import type {Users} from './users.js';

/**
What this machine knows of a process. All undefined when it is hidden from us or has ended.
*/
export type ProcessDetails = Pick<GpuProcess, 'startTicks' | 'user' | 'name' | 'commandLine' | 'ancestors'>;

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

const ownerTimeoutMs = 2000;
const retryOwnerAfterMs = 60_000;

/**
Makes the look-up of process owners, names and command lines. It asks for each process once a call, for all of them in parallel, and
never rejects.
*/
export const createProcessDescriber = ({
	users,
	run,
	procDirectory = '/proc',
	monotonicMs = () => performance.now(),
}: Options): DescribeProcesses => {
	const readCommandLines = createCommandLineReader({run, procDirectory, monotonicMs});
	const hiddenOwners = new Map<number, {readonly askedAt: number; readonly uid: Promise<number | undefined>}>();

	/**
	Blocks, but only for microseconds: unlike the command line, these two need no lock of the process.
	*/
	const read = (pid: number, file: 'stat' | 'status'): string => {
		try {
			return readFileSync(`${procDirectory}/${pid}/${file}`, 'utf8');
		} catch {
			return '';
		}
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

	const findOwner = async (pid: number): Promise<string | undefined> => {
		const uid = parseUid(read(pid, 'status')) ?? (await askOwner(pid));
		return uid === undefined ? undefined : users.nameOf(uid);
	};

	return async (pids) => {
		const unique = new Set(pids);
		for (const pid of hiddenOwners.keys()) {
			if (!unique.has(pid)) {
				hiddenOwners.delete(pid);
			}
		}

		const stats = new Map([...unique].map((pid) => [pid, parseStat(read(pid, 'stat'))]));
		const parents = new Map<number, ProcessStat | undefined>();
		const parentStat = (pid: number): ProcessStat | undefined => {
			if (!parents.has(pid)) {
				parents.set(pid, stats.get(pid) ?? parseStat(read(pid, 'stat')));
			}

			return parents.get(pid);
		};

		const ancestors = new Map([...stats].map(([pid, stat]) => [pid, ancestorsOf(stat, parentStat)]));
		// One that waits in the kernel may be the one that hangs.
		const readable = [...new Map([...parents, ...stats])].flatMap(([pid, stat]) =>
			stat === undefined || stat.state === 'D' ? [] : [{pid, startTicks: stat.startTicks}],
		);
		const [commandLines, ...owners] = await Promise.all([
			readCommandLines(readable),
			...[...unique].map(async (pid) => findOwner(pid)),
		]);
		return new Map(
			[...stats].map(([pid, stat], position) => [
				pid,
				{
					startTicks: stat?.startTicks,
					user: owners[position],
					name: shortName(stat?.comm, commandLines.get(pid)),
					commandLine: flatten(commandLines.get(pid) ?? ''),
					ancestors: undefinedWhenEmpty(
						(ancestors.get(pid) ?? []).flatMap((parent) => flatten(commandLines.get(parent) ?? '') ?? []),
					),
				},
			]),
		);
	};
};

const undefinedWhenEmpty = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
	list.length === 0 ? undefined : list;

/** A worker says less of what it does than the program that started it. */
const mostAncestors = 3;

/** Pids, nearest first. The first process of all (pid 1) says nothing of a job. */
const ancestorsOf = (
	stat: ProcessStat | undefined,
	statOf: (pid: number) => ProcessStat | undefined,
): readonly number[] => {
	const pids: number[] = [];
	let parent = stat?.parentPid ?? 0;
	while (parent > 1 && pids.length < mostAncestors && !pids.includes(parent)) {
		pids.push(parent);
		parent = statOf(parent)?.parentPid ?? 0;
	}

	return pids;
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
The program by its first argument, or else by the kernel's name for it, which is cut at 15 bytes and which many change: every Node
program is called `MainThread`, every PyTorch one `pt_main_thread`. A first argument that is no path may be a title, such as
`sshd: ada@pts/0`.
*/
const shortName = (comm: string | undefined, commandLine = ''): string | undefined => {
	const first = commandLine.split('\0', 1).at(0) ?? '';
	const word = first.startsWith('/') ? first : (first.split(/\s/v, 1).at(0) ?? '');
	const program = word.split('/').pop() ?? '';
	const name = cap(program.replaceAll(/^-|:$/gv, ''));
	return name === '' ? comm : name;
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
