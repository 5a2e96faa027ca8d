/** Which processes of a shared GPU belong to which share, and how much of its memory they use. */
import type {GpuProcess, GpuReading, Lease, Snapshot} from '../../model/types.js';
import {isGone, isOnInstance, readingOf} from '../mig/instances.js';
import {ownerOf} from '../leases/ownership.js';

/** Use of one share. */
type ShareUsage = {
	readonly lease: Lease;
	readonly processes: readonly GpuProcess[];
	/** Memory of its processes. Undefined if it is unknown for one of them, or if no processes are reported. */
	readonly memoryUsedMiB: number | undefined;
};

type SharesUsage = {
	/** One for each share, in order. */
	readonly shares: readonly ShareUsage[];
	/** Processes of no share, and those whose user is unknown. */
	readonly others: readonly GpuProcess[];
};

/** The memory of these processes; undefined when that of one of them is unknown. */
export const memoryOf = (processes: readonly GpuProcess[]): number | undefined =>
	processes.some(({memoryUsedMiB}) => memoryUsedMiB === undefined)
		? undefined
		: processes.reduce((sum, {memoryUsedMiB = 0}) => sum + memoryUsedMiB, 0);

/** Whether the process is the job of this lease, or comes from it as far as the processes on the GPU show. */
function isOfJob(process: GpuProcess, {holder, job}: Lease, processes: ReadonlyMap<number, GpuProcess>): boolean {
	const seen = new Set<number>();
	for (
		let at: GpuProcess | undefined = process;
		at !== undefined && !seen.has(at.pid);
		at = at.parentPid === undefined ? undefined : processes.get(at.parentPid)
	) {
		// A parent may be the job without being on the GPU itself.
		if ([at.pid, at.parentPid].some((pid) => pid !== undefined && (pid === job?.pid || pid === holder?.pid))) {
			return true;
		}

		seen.add(at.pid);
	}

	return false;
}

/** Whether the process may be on the lease's instance. */
function mayBeOn(process: GpuProcess, {mig}: Lease, reading: GpuReading | undefined): boolean {
	return (
		mig === undefined || (!isGone(reading, mig) && isOnInstance(process, readingOf(reading, mig) ?? mig) !== false)
	);
}

/** A share may use so much more than it asked for: a driver's own needs are not asked for. */
const toleratedShare = 0.05;

/** Whether a share uses more of the GPU's memory than it asked for. What is unknown is no overuse. */
export const isOverused = ({
	memoryMiB,
	memoryUsedMiB,
}: {
	/** Undefined of what asked for no memory, as an instance of MIG. */
	readonly memoryMiB: number | undefined;
	readonly memoryUsedMiB: number | undefined;
}): boolean =>
	memoryMiB !== undefined && memoryUsedMiB !== undefined && memoryUsedMiB > memoryMiB * (1 + toleratedShare);

/** Returns for how many seconds a share has used more than requested. Undefined if not reported. */
export function overuseSecondsOf(
	{overuse, now}: Pick<Snapshot, 'overuse' | 'now'>,
	gpu: number,
	leaseId: string | undefined,
): number | undefined {
	const known = overuse.find((entry) => entry.isRecorded && entry.leaseId === leaseId && entry.gpu === gpu);
	return known && Math.max(0, now - known.since);
}

/**
Which of several shares of one account a process belongs to, where nothing tells that: the one that is left with the most room, so that no one
is taken to use too much who has asked for enough.
*/
const roomiest = (shares: readonly Lease[], usedMiB: ReadonlyMap<Lease, number>): Lease => {
	const leftOf = (lease: Lease): number => (lease.memoryMiB ?? 0) - (usedMiB.get(lease) ?? 0);
	return shares.toSorted((a, b) => leftOf(b) - leftOf(a))[0]!;
};

/**
Gives each process to the share of its account. Of several shares of one account it is the one whose job it comes from, else one without a job of
its own, the largest processes first. A process of which the tool says on which instance of MIG it is belongs to the lease of that instance alone.

@param processes - Undefined when the tool does not tell them.
@param reading - Of the GPU, where instances may be among the shares.
*/
export function usageOfShares(
	shares: readonly Lease[],
	processes: readonly GpuProcess[] | undefined,
	reading?: GpuReading,
): SharesUsage {
	const byPid = new Map((processes ?? []).map((process) => [process.pid, process]));
	const ownerships = new Map<GpuProcess, Lease>();
	const usedMiB = new Map<Lease, number>();
	const give = (process: GpuProcess, lease: Lease): void => {
		ownerships.set(process, lease);
		usedMiB.set(lease, (usedMiB.get(lease) ?? 0) + (process.memoryUsedMiB ?? 0));
	};

	const undecided: Array<{readonly process: GpuProcess; readonly among: readonly Lease[]}> = [];
	for (const process of processes ?? []) {
		const ofAccount = shares.filter((lease) => ownerOf(lease) === process.user && mayBeOn(process, lease, reading));
		const ofJob = ofAccount.find((one) => isOfJob(process, one, byPid));
		if (ofJob !== undefined) {
			give(process, ofJob);
		} else if (ofAccount.length > 0) {
			const withoutJob = ofAccount.filter(({job, holder}) => job === undefined && holder === undefined);
			undecided.push({process, among: withoutJob.length > 0 ? withoutJob : ofAccount});
		}
	}

	// Sorted, so that the result is stable from scan to scan.
	const bySize = undecided
		.toSorted((a, b) => a.process.pid - b.process.pid)
		.toSorted((a, b) => (b.process.memoryUsedMiB ?? 0) - (a.process.memoryUsedMiB ?? 0));
	for (const {process, among} of bySize) {
		give(process, roomiest(among, usedMiB));
	}

	const owned = Map.groupBy(processes ?? [], (process) => ownerships.get(process));
	return {
		shares: shares.map((lease) => {
			const own = owned.get(lease) ?? [];
			const instance = lease.mig && readingOf(reading, lease.mig);
			const ofProcesses = processes === undefined ? undefined : memoryOf(own);
			return {lease, processes: own, memoryUsedMiB: instance?.memoryUsedMiB ?? ofProcesses};
		}),
		others: owned.get(undefined) ?? [],
	};
}
