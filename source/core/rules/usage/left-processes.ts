/** Processes that a job has left behind on its GPU: whose job that was, and when it ended. */
import type {GpuProcess, GpuRecord} from '../../model/types.js';

export type LeftByJob = {
	/** The account whose job it was. */
	readonly account: string;
	readonly leaseId: string | undefined;
	/** When the job ended. */
	readonly endedAt: number;
	/** Processes on the GPU that the job has left, and their children. */
	readonly processes: readonly GpuProcess[];
};

/**
Finds the processes on a free GPU that its last job has left. A pid alone says nothing, because it may be that of another process by now: a
process is one that the job left when its start time is the same, too, and the child of one when its account is that of the job.

@returns Undefined when there are none, or nothing is known of that.
*/
export function leftByJob(record: GpuRecord, processes: readonly GpuProcess[]): LeftByJob | undefined {
	const {ended, lastReleased} = record.kind === 'free' ? record : {};
	const {left, account, leaseId} = ended ?? {};
	if (left === undefined || account === undefined || lastReleased === undefined) {
		return undefined;
	}

	const startTicksOf = new Map(left.map(({pid, startTicks}) => [pid, startTicks]));
	const found = processes.filter(({pid, startTicks, parentPid, user}) => {
		if (startTicks === undefined) {
			return false;
		}

		const parentStart = parentPid === undefined ? undefined : startTicksOf.get(parentPid);
		const isChild = parentStart !== undefined && startTicks >= parentStart && user === account;
		return startTicksOf.get(pid) === startTicks || isChild;
	});
	return found.length === 0 ? undefined : {account, leaseId, endedAt: lastReleased, processes: found};
}
