/** Takes over GPUs held by waiting requests that cannot be served now, in the same commit as the grant. */
import type {HoldingChange} from '../leases/holding-changes.js';
import type {Holding} from '../leases/holdings.js';
import {endingEntries, type AuditContext} from '../leases/audit-entries.js';
import type {AuditRecord, EndReason, GpuGroup, Lease, QueueEntry, Snapshot} from '../../model/types.js';
import {accountLimitsOf, type AccountLimits, type Receiver} from '../queue/account-limits.js';
import {keepsHoldings, servableGroups, type OutOfService} from '../queue/out-of-service.js';

export type Waiters = {
	/** Returns the groups of GPUs that are kept for the entry. Empty if the entry sends no heartbeats or cannot be served now. */
	readonly groupsFor: (entry: QueueEntry) => readonly GpuGroup[];
	/**
	Works like `groupsFor`, but for a grant beyond a limit. Also keeps GPUs for other requests that may exceed their
	limit, so that the queue's order holds.
	*/
	readonly groupsBeyondLimit: (entry: QueueEntry) => readonly GpuGroup[];
	readonly gives: (lease: Lease) => boolean;
	readonly reasonToGive: (lease: Lease) => EndReason;
	readonly limits: AccountLimits;
};

/**
Decides what is kept for waiting requests. `snapshot` must contain no expired leases. `isAnswering` returns false
for an entry that is stopped or sends no heartbeats.
*/
export function waitersOf(
	snapshot: Pick<Snapshot, 'queue' | 'gpus' | 'now' | 'policy' | 'policyProblem'>,
	out: OutOfService,
	isAnswering: (entry: QueueEntry) => boolean,
	own?: Receiver,
): Waiters {
	const holderOf = ({partialQueueId}: Lease): QueueEntry | undefined => {
		const record = partialQueueId === undefined ? undefined : snapshot.queue.find(({id}) => id === partialQueueId);
		return record?.kind === 'entry' ? record.entry : undefined;
	};

	const servableGroupsOf = (entry: QueueEntry): readonly GpuGroup[] => {
		const groups = servableGroups(entry, snapshot.gpus, out);
		// `isAnswering` inspects the process, so it is called last.
		return groups.length > 0 && isAnswering(entry) ? groups : [];
	};

	const givesHoldings = (entry: QueueEntry): boolean => !isAnswering(entry) || !keepsHoldings(entry, snapshot, out);
	const limits = accountLimitsOf(snapshot, {
		own,
		isServable: (entry) => servableGroupsOf(entry).length > 0,
		givesHoldings,
	});
	const {isHeldBack} = limits;
	return {
		groupsFor: (entry) => (isHeldBack(entry) ? [] : servableGroupsOf(entry)),
		groupsBeyondLimit: (entry) =>
			isHeldBack(entry) && (limits.agentLimitOf(entry) !== undefined || !limits.mayExceed(entry))
				? []
				: servableGroupsOf(entry),
		gives(lease) {
			const entry = holderOf(lease);
			return entry !== undefined && (givesHoldings(entry) || isHeldBack(entry));
		},
		reasonToGive(lease) {
			const entry = holderOf(lease);
			return entry === undefined || !isAnswering(entry)
				? 'holder-stopped'
				: isHeldBack(entry)
					? 'over-limit'
					: 'drained';
		},
		limits,
	};
}

export const distinct = (holdings: readonly Holding[]): readonly Holding[] =>
	holdings.filter(
		({index, lease}, position) =>
			holdings.findIndex((other) => other.index === index && other.lease === lease) === position,
	);

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
		// The audit record names no account, because no user took the GPUs away.
		audit: endingEntries(ended, {now: context.now, host: context.host}),
	};
}
