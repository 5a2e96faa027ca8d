/** Takes over holdings of requests that wait in vain, in the same commit as the grant. */
import type {HoldingChange} from '../leases/holding-changes.js';
import type {Holding} from '../leases/holdings.js';
import {endingEntries, type AuditContext} from '../leases/audit-entries.js';
import type {AuditRecord, EndReason, GpuGroup, Lease, QueueEntry, Snapshot} from '../../model/types.js';
import {keepsHoldings, servableGroups, type OutOfService} from '../queue/out-of-service.js';

export type Waiters = {
	/** Returns the GPU groups reserved for the entry. Empty if nothing is reserved for it now. */
	readonly groupsFor: (entry: QueueEntry) => readonly GpuGroup[];
	/** Returns whether others may take over what this lease holds. */
	readonly gives: (lease: Lease) => boolean;
	readonly reasonToGive: (lease: Lease) => EndReason;
};

/** `snapshot`: without expired leases. `isAnswering`: returns false for an entry that is stopped or silent. */
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
			// Checked last, because it inspects the process.
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
	readonly changes: readonly HoldingChange[];
	readonly audit: readonly AuditRecord[];
};

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
		// No account did this, so the audit record names none.
		audit: endingEntries(ended, {now: context.now, host: context.host}),
	};
}
