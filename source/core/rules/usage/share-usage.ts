import type {GpuProcess, GpuReading, Lease, Snapshot} from '../../model/types.js';
import {isGone, isOnInstance, readingOf} from '../mig/instances.js';
import {ownerOf} from '../leases/ownership.js';

type ShareUsage = {
	readonly lease: Lease;
	readonly processes: readonly GpuProcess[];
	readonly memoryUsedMiB: number | undefined;
};

type SharesUsage = {
	readonly shares: readonly ShareUsage[];
	/** Processes that belong to no share, and processes that may belong to any share: see {@link mayBeOfAnyone}. */
	readonly others: readonly GpuProcess[];
};

/** The account of most processes in a rootful container, no matter which user started the container. */
const rootAccount = 'root';

/** Whether the process may belong to any user, because its account is unknown or is root in a container. */
export const mayBeOfAnyone = ({user, containerId}: GpuProcess): boolean =>
	user === undefined || (user === rootAccount && containerId !== undefined);

export const memoryOf = (processes: readonly GpuProcess[]): number | undefined =>
	processes.some(({memoryUsedMiB}) => memoryUsedMiB === undefined)
		? undefined
		: processes.reduce((sum, {memoryUsedMiB = 0}) => sum + memoryUsedMiB, 0);

/** Whether the process is the job of this lease or descends from it. */
function isOfJob(process: GpuProcess, {holder, job}: Lease, processes: ReadonlyMap<number, GpuProcess>): boolean {
	const seen = new Set<number>();
	for (
		let at: GpuProcess | undefined = process;
		at !== undefined && !seen.has(at.pid);
		at = at.parentPid === undefined ? undefined : processes.get(at.parentPid)
	) {
		// The parent can be the job although it does not use the GPU and is therefore not in `processes`.
		if ([at.pid, at.parentPid].some((pid) => pid !== undefined && (pid === job?.pid || pid === holder?.pid))) {
			return true;
		}

		seen.add(at.pid);
	}

	return false;
}

function mayBeOn(process: GpuProcess, {mig}: Lease, reading: GpuReading | undefined): boolean {
	return (
		mig === undefined || (!isGone(reading, mig) && isOnInstance(process, readingOf(reading, mig) ?? mig) !== false)
	);
}

/** The excess that is tolerated, as a fraction of the share, because the driver needs some memory of its own. */
const toleratedShare = 0.05;

/** Whether a share uses more memory than it reserved. False if unknown. */
export const isOverused = ({
	memoryMiB,
	memoryUsedMiB,
}: {
	/** Undefined for a MIG instance. */
	readonly memoryMiB: number | undefined;
	readonly memoryUsedMiB: number | undefined;
}): boolean =>
	memoryMiB !== undefined && memoryUsedMiB !== undefined && memoryUsedMiB > memoryMiB * (1 + toleratedShare);

export function overuseSecondsOf(
	{overuse, now}: Pick<Snapshot, 'overuse' | 'now'>,
	gpu: number,
	leaseId: string | undefined,
): number | undefined {
	const known = overuse.find((entry) => entry.isRecorded && entry.leaseId === leaseId && entry.gpu === gpu);
	return known && Math.max(0, now - known.since);
}

/** Chooses the share with the most room left among shares of one account, so that nobody is wrongly accused of overuse. */
const roomiest = (shares: readonly Lease[], usedMiB: ReadonlyMap<Lease, number>): Lease => {
	const leftOf = (lease: Lease): number => (lease.memoryMiB ?? 0) - (usedMiB.get(lease) ?? 0);
	return shares.toSorted((a, b) => leftOf(b) - leftOf(a))[0]!;
};

/**
Assigns each process to a share of the process's account. A descendant of a share's job belongs to that share. Other processes belong to shares
without a job, if there are any. Large processes are assigned first. A process on a known MIG instance belongs to the instance's lease. If some shares
are MIG instances, `reading` is required.
@param processes - Undefined if unknown.
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

	// Sorted by pid first, so that every scan assigns processes of equal size in the same way.
	const bySize = undecided
		.toSorted((a, b) => a.process.pid - b.process.pid)
		.toSorted((a, b) => (b.process.memoryUsedMiB ?? 0) - (a.process.memoryUsedMiB ?? 0));
	for (const {process, among} of bySize) {
		give(process, roomiest(among, usedMiB));
	}

	const owned = Map.groupBy(processes ?? [], (process) => ownerships.get(process));
	const others = owned.get(undefined) ?? [];
	const mayHaveMore = others.some((process) => mayBeOfAnyone(process));
	return {
		shares: shares.map((lease) => {
			const own = owned.get(lease) ?? [];
			const instance = lease.mig && readingOf(reading, lease.mig);
			const isUnknown = processes === undefined || (own.length === 0 && mayHaveMore);
			const ofProcesses = isUnknown ? undefined : memoryOf(own);
			return {lease, processes: own, memoryUsedMiB: instance?.memoryUsedMiB ?? ofProcesses};
		}),
		others,
	};
}
