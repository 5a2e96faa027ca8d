import {performance} from 'node:perf_hooks';
import type {GpuProcess} from '../../core/model/types.js';
import type {runTool} from '../tool/spawn.js';
import type {Users} from '../accounts/users.js';
import {createCommandLineReader} from './command-lines.js';
import type {ProcessStat} from './proc.js';
import {createProcessFiles, type FileOwner, secondsPerTick} from './files.js';
import {createOwnerFinder} from './owners.js';

/** The machine's facts about a process. All facts are undefined if the process has ended or is hidden, as in another container. */
type ProcessDetails = Omit<GpuProcess, 'pid' | 'memoryUsedMiB' | 'utilizationPercent' | 'kind'>;

type DescribeProcesses = (pids: Iterable<number>) => Promise<ReadonlyMap<number, ProcessDetails>>;

type Options = {
	readonly users: Pick<Users, 'nameOf'>;
	readonly run: typeof runTool;
	readonly procDirectory?: string;
	readonly ownerOf?: FileOwner;
	readonly monotonicMs?: () => number;
};

/** Limit in UTF-16 units, because a command line can be megabytes long. */
const longestCommandLine = 4096;

/**
Creates a function that describes the processes on a GPU: owner, name, command line, parents, start, CPU and memory use, container. Describes all
processes in parallel, each once per call. Never rejects. CPU use is measured since the previous call, and unknown in the first call, because
an average over the life of a process would say little about its current use.
*/
export const createProcessDescriber = ({
	users,
	run,
	procDirectory = '/proc',
	ownerOf,
	monotonicMs = () => performance.now(),
}: Options): DescribeProcesses => {
	const files = createProcessFiles(procDirectory, ownerOf);
	const readCommandLines = createCommandLineReader({run, procDirectory, monotonicMs});
	const findOwners = createOwnerFinder({users, run, monotonicMs});
	const measureCpu = createCpuMeter(monotonicMs);

	return async (pids) => {
		const effectiveUids = new Map([...new Set(pids)].map((pid) => [pid, files.effectiveUidOf(pid)]));
		const present = [...effectiveUids].flatMap(([pid, uid]) => (uid === 'absent' ? [] : [[pid, uid] as const]));
		const stats = new Map(present.map(([pid]) => [pid, files.statOf(pid)]));
		const cpu = measureCpu(stats);
		const parents = new Map<number, ProcessStat | undefined>();
		const parentStat = (pid: number): ProcessStat | undefined => {
			if (!parents.has(pid)) {
				parents.set(pid, stats.get(pid) ?? files.statOf(pid));
			}

			return parents.get(pid);
		};

		const ancestors = new Map([...stats].map(([pid, stat]) => [pid, ancestorsOf(stat, parentStat)]));
		// A process in state D waits in the kernel. It may hang, so its command line is not read.
		const readable = [...new Map([...parents, ...stats])].flatMap(([pid, stat]) =>
			stat === undefined || stat.state === 'D' ? [] : [{pid, startTicks: stat.startTicks}],
		);
		const reading = readCommandLines(readable);
		// Runs while the command lines are being read.
		const uids = new Map(present.map(([pid, uid]) => [pid, isPlainAccount(uid) ? uid : files.realUidOf(pid)]));
		const containers = files.containersOf(stats);
		const [commandLines, owners] = await Promise.all([reading, findOwners(uids)]);
		return new Map(
			[...stats].map(([pid, stat]) => [
				pid,
				{
					startTicks: stat?.startTicks,
					startTime: startTimeOf(stat, files.bootTime()),
					parentPid: stat === undefined || stat.parentPid === 0 ? undefined : stat.parentPid,
					user: owners.get(pid),
					name: shortName(stat?.comm, commandLines.get(pid)),
					commandLine: flatten(commandLines.get(pid) ?? ''),
					ancestors: undefinedWhenEmpty(
						(ancestors.get(pid) ?? []).flatMap((parent) => flatten(commandLines.get(parent) ?? '') ?? []),
					),
					cpuPercent: cpu.get(pid),
					hostMemoryMiB: residentMiB(stat, files.pageBytes()),
					containerId: containers.get(pid),
				},
			]),
		);
	};
};

/** Whether the effective account of a process surely also started it. False for root, because anybody can start a setuid root program. */
const isPlainAccount = (effectiveUid: number | undefined): effectiveUid is number =>
	effectiveUid !== undefined && effectiveUid !== 0;

const residentMiB = (stat: ProcessStat | undefined, pageBytes: number | undefined): number | undefined =>
	stat === undefined || stat.residentPages === 0 || pageBytes === undefined
		? undefined
		: Math.round((stat.residentPages * pageBytes) / 1024 ** 2);

const startTimeOf = (stat: ProcessStat | undefined, bootTime: number | undefined): number | undefined =>
	stat === undefined || bootTime === undefined ? undefined : bootTime + stat.startTicks * secondsPerTick;

const undefinedWhenEmpty = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
	list.length === 0 ? undefined : list;

/** Maximum number of ancestors to show. They say more about a job than the worker processes that use the GPU. */
const mostAncestors = 3;

/** Returns the pids of the ancestors, nearest first, without pid 1, which says nothing about a job. */
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
Returns the program's name from the first argument, or else from the kernel. The kernel's name has at most 15 bytes and is often changed: every Node
program is called `MainThread`, every PyTorch program `pt_main_thread`. A first argument that is no path can be a title, such as `sshd: ada@pts/0`.
*/
const shortName = (comm: string | undefined, commandLine = ''): string | undefined => {
	const first = commandLine.split('\0', 1).at(0) ?? '';
	const word = first.startsWith('/') ? first : (first.split(/\s/v, 1).at(0) ?? '');
	const program = word.split('/').pop() ?? '';
	const name = cap(program.replaceAll(/^-|:$/gv, ''));
	return name === '' ? comm : name;
};

/** Replaces the NULs after arguments with spaces. A program that changes its title can leave many NULs. */
const flatten = (commandLine: string): string | undefined => {
	const text = cap(commandLine.replaceAll(/\0+/gv, ' ').trim());
	return text === '' ? undefined : text;
};

/** Shortens to {@link longestCommandLine} units, without half a character at the end. */
const cap = (text: string): string => text.slice(0, longestCommandLine).replace(/\p{Surrogate}$/v, '');

type Sample = {
	readonly startTicks: number;
	readonly cpuTicks: number;
	readonly atMs: number;
	readonly percent?: number;
};

/** The shortest time to measure over, because ticks are coarse. A call within this time returns the previous value. */
const shortestMs = 500;

/** Creates a function that returns the CPU use since its previous call, in percent of one core. Undefined for a process that is new. */
const createCpuMeter = (monotonicMs: () => number) => {
	let samples: ReadonlyMap<number, Sample> = new Map();

	return (stats: ReadonlyMap<number, ProcessStat | undefined>): ReadonlyMap<number, number | undefined> => {
		const atMs = monotonicMs();
		samples = new Map(
			[...stats].flatMap(([pid, stat]) =>
				stat === undefined ? [] : [[pid, next(samples.get(pid), {...stat, atMs})] as const],
			),
		);
		return new Map([...samples].map(([pid, {percent}]) => [pid, percent]));
	};
};

const next = (earlier: Sample | undefined, {startTicks, cpuTicks, atMs}: Sample): Sample => {
	if (earlier?.startTicks !== startTicks) {
		return {startTicks, cpuTicks, atMs};
	}

	const elapsedMs = atMs - earlier.atMs;
	if (elapsedMs < shortestMs) {
		return earlier;
	}

	const usedMs = Math.max(0, cpuTicks - earlier.cpuTicks) * secondsPerTick * 1000;
	return {startTicks, cpuTicks, atMs, percent: Math.round((100 * usedMs) / elapsedMs)};
};
