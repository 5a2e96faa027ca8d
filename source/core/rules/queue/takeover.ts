/** Taking over what somebody holds who waits in vain, in the same commit: nobody is held up by what cannot be served. */
import {usageOf} from '../leases/usage-record.js';
import type {LeasedRecord} from '../leases/lease-changes.js';
import type {Plan} from '../../model/plan.js';
import {endingEntries, type AuditContext} from '../leases/audit-entries.js';
import type {EndReason, GpuGroup, Lease, QueueEntry, Snapshot} from '../../model/types.js';
import {keepsHoldings, servableGroups, type OutOfService} from './out-of-service.js';

/** What may be asked of those who wait. */
export type Waiters = {
	/** The groups of GPUs that are kept for it; none for an entry that is not kept anything for now. */
	readonly groupsFor: (entry: QueueEntry) => readonly GpuGroup[];
	/** Whether anybody who could use it may take what this lease holds meanwhile. */
	readonly gives: (lease: Lease) => boolean;
	/** Why it is taken. */
	readonly reasonToGive: (lease: Lease) => EndReason;
};

/**
@param snapshot - Without the dead.
@param out - What is out of service.
@param isAwake - False for an entry whose process is stopped.
*/
export function waitersOf(
	snapshot: Pick<Snapshot, 'queue' | 'gpus' | 'now'>,
	out: OutOfService,
	isAwake: (entry: QueueEntry) => boolean,
): Waiters {
	const holderOf = ({partialQueueId}: Lease): QueueEntry | undefined => {
		const record = partialQueueId === undefined ? undefined : snapshot.queue.find(({id}) => id === partialQueueId);
		return record?.kind === 'entry' ? record.entry : undefined;
	};

	return {
		groupsFor(entry) {
			const groups = servableGroups(entry, snapshot.gpus, out);
			// Last, for it costs a look at its process.
			return groups.length > 0 && isAwake(entry) ? groups : [];
		},
		gives(lease) {
			const entry = holderOf(lease);
			return entry !== undefined && (!isAwake(entry) || !keepsHoldings(entry, snapshot, out));
		},
		reasonToGive(lease) {
			const entry = holderOf(lease);
			return entry !== undefined && isAwake(entry) ? 'drained' : 'holder-stopped';
		},
	};
}

/** Ends what is taken, with its usage records; the new leases overwrite the old ones. */
export function takeoverOf(
	taken: readonly LeasedRecord[],
	reasonOf: (lease: Lease, index: number) => EndReason,
	context: AuditContext,
): Pick<Plan, 'usage' | 'audit'> {
	const ended = taken.map(({index, lease}) => ({
		index,
		lease,
		ending: {reason: reasonOf(lease, index), endTime: context.now},
	}));
	return {
		usage: ended.map(({index, lease, ending}) => usageOf(index, lease, ending)),
		// Nobody did this: it happened because the holder waits.
		audit: endingEntries(ended, {now: context.now, host: context.host}),
	};
}
