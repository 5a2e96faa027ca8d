import {setTimeout as sleep} from 'node:timers/promises';
import {runSystemTool} from '../tool/system-tool.js';
import {bearersOf, descendantsOf, isRunning, listProcesses, type Running} from './descendants.js';

export type MarkedJob = {
	readonly job: Running;
	/** A text in the environment of this job and its descendants, and of no other process. */
	readonly mark: string;
};

/**
Returns the live processes that a job started, oldest first: those with the job's mark in the environment, and their
descendants. A process of another account, or with a cleared environment, is found only through a marked ancestor.
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
Resolves when these processes and their later children have ended, or soon after `isStopping` returns true. Calls
`onChildren` with the living processes at the start, and whenever the first of them has ended and others are left.
*/
export const untilChildrenEnd = async (
	job: MarkedJob,
	children: readonly Running[],
	{
		isStopping,
		onChildren,
	}: {
		readonly isStopping: () => boolean;
		readonly onChildren: (living: readonly Running[]) => void;
	},
): Promise<void> => {
	let living = children;
	let first: Running | undefined;
	while (living.length > 0 && !isStopping()) {
		if (living[0] !== first) {
			[first] = living;
			onChildren(living);
		}

		await sleep(pollMs);
		living = living.filter((child) => isRunning(child));
		if (living.length === 0) {
			living = await childrenLeft(job);
		}
	}
};
