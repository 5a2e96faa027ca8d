import {setTimeout as sleep} from 'node:timers/promises';
import {runSystemTool} from '../tool/system-tool.js';
import {bearersOf, descendantsOf, isRunning, listProcesses, type Running} from './descendants.js';

export type MarkedJob = {
	readonly job: Running;
	/** A text that only the environment of this job and of what it started holds. */
	readonly mark: string;
};

/**
Returns the processes that a job started and that still run, oldest first: those whose environment holds the job's mark, and their descendants.
A process of another account hides its environment, and one that cleared it has lost the mark: neither is found without a marked ancestor.
*/
export const childrenLeft = async ({job, mark}: MarkedJob): Promise<readonly Running[]> => {
	const processes = listProcesses();
	const younger = processes.values().filter(({pid, startTicks}) => startTicks >= job.startTicks && pid !== job.pid);
	const marked = await bearersOf(mark, younger.toArray(), runSystemTool);
	return [...new Set([...marked, ...descendantsOf(marked, processes)])]
		.map(({pid, startTicks}) => ({pid, startTicks}))
		.toSorted((a, b) => a.startTicks - b.startTicks);
};

const pollMs = 100;

/**
Resolves when none of these processes runs, nor any that the job's processes have started since, or when somebody begins to end them.
*/
export const untilChildrenEnd = async (
	job: MarkedJob,
	children: readonly Running[],
	isStopping: () => boolean,
): Promise<void> => {
	let living = children;
	while (living.length > 0 && !isStopping()) {
		await sleep(pollMs);
		living = living.filter((child) => isRunning(child));
		if (living.length === 0) {
			living = await childrenLeft(job);
		}
	}
};
