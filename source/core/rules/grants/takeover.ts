/** Takes over GPUs held by waiting requests that cannot be served now, in the same commit as the grant. */
import type {HoldingChange} from '../leases/holding-changes.js';
import type {Holding} from '../leases/holdings.js';
import {endingEntries, type AuditContext} from '../leases/audit-entries.js';
import type {AuditRecord, EndReason, GpuGroup, Lease, QueueEntry, Snapshot} from '../../model/types.js';
import {keepsHoldings, servableGroups, type OutOfService} from '../queue/out-of-service.js';

export type Waiters = {
	/** Returns the groups of GPUs that are kept for the entry. Empty if the entry does not answer or cannot be served now. */
	readonly groupsFor: (entry: QueueEntry) => readonly GpuGroup[];
	/** Returns whether others may take over what this lease holds. */
	readonly gives: (lease: Lease) => boolean;
	readonly reasonToGive: (lease: Lease) => EndReason;
};

/** `snapshot` must contain no expired leases. `isAnswering` returns false for an entry that is stopped or sends no heartbeats. */
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
			// `isAnswering` inspects the process, so it is called last.
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
		// No user took the GPUs away, so the audit record names no account.
		audit: endingEntries(ended, {now: context.now, host: context.host}),
	};
}
