import type {GpuProcess, GpuRecord} from '../../model/types.js';

export type LeftByJob = {
	readonly account: string;
	readonly leaseId: string | undefined;
	readonly endedAt: number;
	readonly processes: readonly GpuProcess[];
};

/**
Returns the processes that the last job left on a free GPU, with their children. Undefined if there are none. A pid can be reused, so start time
and account must match. If the job died without a list of its processes, all processes that its account started before the release are returned.
*/
export function leftByJob(record: GpuRecord, processes: readonly GpuProcess[]): LeftByJob | undefined {
	const {ended, lastReleased} = record.kind === 'free' ? record : {};
	const {left = [], account, leaseId, reason} = ended ?? {};
	if (account === undefined || lastReleased === undefined) {
		return undefined;
	}

	const startTicksOf = new Map(left.map(({pid, startTicks}) => [pid, startTicks]));
	const found = processes.filter(({pid, startTicks, startTime, parentPid, user}) => {
		if (reason === 'holder-died' && left.length === 0) {
			return user === account && startTime !== undefined && startTime <= lastReleased;
		}

		if (startTicks === undefined) {
			return false;
		}

		const parentStart = parentPid === undefined ? undefined : startTicksOf.get(parentPid);
		const isChild = parentStart !== undefined && startTicks >= parentStart && user === account;
		return startTicksOf.get(pid) === startTicks || isChild;
	});
	return found.length === 0 ? undefined : {account, leaseId, endedAt: lastReleased, processes: found};
}
