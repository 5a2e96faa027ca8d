/** Taking over what somebody holds who waits in vain, in the same commit: no one is held up by what cannot be served. */
import type {HoldingChange} from '../leases/holding-changes.js';
import type {Holding} from '../leases/holdings.js';
import {endingEntries, type AuditContext} from '../leases/audit-entries.js';
import type {AuditRecord, EndReason, GpuGroup, Lease, QueueEntry, Snapshot} from '../../model/types.js';
import {keepsHoldings, servableGroups, type OutOfService} from '../queue/out-of-service.js';

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
@param isAnswering - False for an entry that does not take its turn: it is stopped, or silent.
*/
export function waitersOf(
	snapshot: Pick<Snapshot, 'queue' | 'gpus' | 'now'>,
	out: OutOfService,
	isAnswering: (entry: QueueEntry) => boolean,
): Waiters {
	const holderOf = ({partialQueueId}: Lease): QueueEntry | undefined => {
		const record = partialQueueId === undefined ? undefined : snapshot.queue.find(({id}) => id === partialQueueId);
		return record?.kind === 'entry' ? record.entry : undefined;
	};

	return {
		groupsFor(entry) {
			const groups = servableGroups(entry, snapshot.gpus, out);
			// Last, for it costs an inspection of its process.
			return groups.length > 0 && isAnswering(entry) ? groups : [];
		},
		gives(lease) {
			const entry = holderOf(lease);
			return entry !== undefined && (!isAnswering(entry) || !keepsHoldings(entry, snapshot, out));
		},
		reasonToGive(lease) {
			const entry = holderOf(lease);
			return entry !== undefined && isAnswering(entry) ? 'drained' : 'holder-stopped';
		},
	};
}

type Takeover = {
	/** The ends of what is taken, to be planned together with the leases that come in their place. */
	readonly changes: readonly HoldingChange[];
	readonly audit: readonly AuditRecord[];
};

/** Ends what is taken. */
export function takeoverOf(
	taken: readonly Holding[],
	reasonOf: (lease: Lease) => EndReason,
	context: AuditContext,
): Takeover {
	const ended = taken.map((holding) => ({
		holding,
		ending: {reason: reasonOf(holding.lease), endTime: context.now},
	}));
	return {
		changes: ended.map((end) => ({kind: 'end', ...end})),
		// No account did this: it happened because the holder waits.
		audit: endingEntries(ended, {now: context.now, host: context.host}),
	};
}
