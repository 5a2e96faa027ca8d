import process from 'node:process';
import {hasEnded, pidsIn, readStat} from '../process/proc.js';
import type {runTool} from '../tool/spawn.js';

/** A process. Its start time, in clock ticks since boot, distinguishes it from a later process with the same pid. */
export type Running = {readonly pid: number; readonly startTicks: number};

type ProcessRow = Running & {readonly parentPid: number};

/** Lists all visible live processes by pid, in one pass over /proc (50 µs each). Empty without /proc. */
export const listProcesses = (): ReadonlyMap<number, ProcessRow> =>
	new Map(
		pidsIn().flatMap((pid) => {
			const stat = readStat(pid);
			return typeof stat !== 'object' || hasEnded(stat)
				? []
				: [[pid, {pid, startTicks: stat.startTicks, parentPid: stat.parentPid}] as const];
		}),
	);

/** Returns all descendants of the ancestors, parents first. Misses a process whose parent has ended, because another process is its parent now. */
export const descendantsOf = (
	ancestors: readonly Running[],
	processes: ReadonlyMap<number, ProcessRow>,
): readonly Running[] => {
	const childrenByParent = Map.groupBy(processes.values(), ({parentPid}) => parentPid);
	const found = new Set<ProcessRow>();
	const visit = (parent: Running) => {
		for (const child of childrenByParent.get(parent.pid) ?? []) {
			if (found.has(child)) {
				continue;
			}

			found.add(child);
			visit(child);
		}
	};

	for (const ancestor of ancestors) {
		// The pid may belong to another process by now.
		if (processes.get(ancestor.pid)?.startTicks === ancestor.startTicks) {
			visit(ancestor);
		}
	}

	return [...found];
};

/** Returns the processes whose initial environment contains the text. Reads in a child process, because the kernel can block a reader forever. */
export const bearersOf = async (
	text: string,
	processes: readonly Running[],
	run: typeof runTool,
): Promise<readonly Running[]> => {
	if (processes.length === 0) {
		return [];
	}

	const files = processes.map(({pid}) => `/proc/${pid}/environ`);
	const {stdout} = await run('grep', ['-lsF', '-e', text, '--', ...files], {timeoutMs: 1000});
	const pids = new Set(stdout.split('\n').map((file) => Number(file.split('/', 3)[2])));
	return processes.filter(({pid}) => pids.has(pid));
};

export const isRunning = ({pid, startTicks}: Running): boolean => {
	const stat = readStat(pid);
	return typeof stat === 'object' && stat.startTicks === startTicks && !hasEnded(stat);
};

/** Signals a process of this account, unless the start time shows that its pid was reused. Continues a stopped process, so that it can react. */
export const signalOne = (target: Running, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void => {
	const stat = readStat(target.pid);
	if (typeof stat !== 'object' || stat.startTicks !== target.startTicks || hasEnded(stat)) {
		return;
	}

	try {
		process.kill(target.pid, signal);
		if (stat.state === 'T') {
			process.kill(target.pid, 'SIGCONT');
		}
	} catch {
		// The process just ended, or belongs to another account.
	}
};
