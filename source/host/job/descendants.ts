import process from 'node:process';
import {hasEnded, pidsIn, readStat} from '../process/proc.js';
import type {runTool} from '../tool/spawn.js';

/** A process; its start, in clock ticks since boot, distinguishes it from a later one of the same pid. */
export type Running = {readonly pid: number; readonly startTicks: number};

type ProcessRow = Running & {readonly parentPid: number};

/**
Every process that runs now and that we may see, by pid; those that have ended are left out. One pass over /proc: about 50 µs each.
Empty where there is no /proc.
*/
export const listProcesses = (): ReadonlyMap<number, ProcessRow> =>
	new Map(
		pidsIn().flatMap((pid) => {
			const stat = readStat(pid);
			return typeof stat !== 'object' || hasEnded(stat)
				? []
				: [[pid, {pid, startTicks: stat.startTicks, parentPid: stat.parentPid}] as const];
		}),
	);

/** The children of those processes, their children, and so on, parents first. One that lost its parent has become the child of another. */
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

/**
Those of the processes whose environment, as it was when they were started, holds this text. Processes whose environment this account may
not read are not among them.

A child reads: the kernel may let the reader wait for ever (see `command-lines.ts`).
*/
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

/** Whether the process still runs: it has not ended, and no other one bears its pid. */
export const isRunning = ({pid, startTicks}: Running): boolean => {
	const stat = readStat(pid);
	return typeof stat === 'object' && stat.startTicks === startTicks && !hasEnded(stat);
};

/**
Sends a signal to one process, not to a group, and not to another one that has been given its pid: its start time is compared
immediately before. What may not be signalled, such as a process of another account, is left alone.

A process that is stopped is woken, or it would not notice.
*/
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
