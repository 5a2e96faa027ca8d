import type {Host} from '../../model/ports.js';
import type {
	AuditKind,
	AuditRecord,
	EndReason,
	InstanceOfGpu,
	Lease,
	QueueEntry,
	Requester,
	Snapshot,
} from '../../model/types.js';
import {instancesHeld} from './holding-changes.js';
import type {HeldPart} from './holdings.js';
import type {Ending} from './liveness.js';
import {labelOf, ownerOf} from './ownership.js';

export type AuditContext = {
	readonly now: number;
	readonly host: string;
	/** The OS account that made the change. Absent if the owner made it, or if it happened automatically. */
	readonly account?: string;
};

export const auditContextOf = (
	{host: {hostname}}: {readonly host: Pick<Host, 'hostname'>},
	{account}: Requester,
	{now}: Pick<Snapshot, 'now'>,
): AuditContext & {readonly account: string} => ({now, host: hostname, account});

function partiesOf(
	held: Lease | QueueEntry,
	{now, host, account}: AuditContext,
): Pick<AuditRecord, 'time' | 'host' | 'account' | 'label' | 'owner'> {
	const owner = ownerOf(held);
	return {
		time: now,
		host,
		account: account ?? owner,
		label: labelOf(held),
		owner: account === undefined || account === owner ? undefined : owner,
	};
}

const endKinds: ReadonlySet<AuditKind> = new Set<AuditKind>(['released', 'expired', 'ended']);

/** Returns the ids of the leases that ended because no heartbeat came from their processes. */
export const silentLeases = (audit: readonly AuditRecord[]): ReadonlySet<string> =>
	new Set(
		audit
			.filter(({kind, reason}) => endKinds.has(kind) && reason === ('heartbeat-lost' satisfies EndReason))
			.flatMap(({leaseId}) => leaseId ?? []),
	);

export const isEndOf = ({kind, leaseId, gpus, instances}: AuditRecord, {index, lease}: HeldPart): boolean =>
	endKinds.has(kind) &&
	leaseId !== undefined &&
	leaseId === lease.leaseId &&
	(lease.mig === undefined ? gpus.includes(index) : instances?.some(({uuid}) => uuid === lease.mig?.uuid) === true);

export type GrantOptions = {
	readonly instances?: readonly InstanceOfGpu[] | undefined;
	readonly kind?: 'granted' | 'held';
	readonly entryId?: string;
	readonly forced?: boolean;
	readonly reason?: string;
};

export const grantEntry = (
	lease: Lease,
	gpus: readonly number[],
	context: AuditContext,
	{kind = 'granted', entryId, forced, reason, instances}: GrantOptions = {},
): AuditRecord => ({
	...partiesOf(lease, context),
	kind,
	gpus,
	instances,
	leaseId: lease.leaseId,
	memoryMiB: lease.memoryMiB,
	entryId,
	forced: forced === true ? true : undefined,
	until: lease.expiryTime,
	reason,
	note: lease.note,
});

function leaseFacts(parts: readonly HeldPart[], context: AuditContext) {
	const {lease} = parts[0]!;
	return {
		...partiesOf(lease, context),
		gpus: [...new Set(parts.map(({index}) => index))],
		instances: instancesHeld(parts),
		leaseId: lease.leaseId,
		memoryMiB: lease.memoryMiB,
		note: lease.note,
	};
}

export const auditEntryOf = (parts: readonly HeldPart[], context: AuditContext): Omit<AuditRecord, 'kind'> =>
	leaseFacts(parts, context);

const endingKind = ({reason}: Ending): AuditKind => (reason === 'released' || reason === 'expired' ? reason : 'ended');

/** Returns the audit records of ended leases: one for each lease, or one for each GPU if the lease has no id. */
export function endingEntries(
	ended: ReadonlyArray<{readonly holding: HeldPart; readonly ending: Ending}>,
	context: AuditContext,
): readonly AuditRecord[] {
	// Fast path: usually a single lease ends.
	const groups =
		ended.length === 1
			? [ended]
			: Map.groupBy(ended, ({holding: {index, lease}, ending: {reason, endTime}}) =>
					JSON.stringify([lease.leaseId ?? index, reason, endTime]),
				)
					.values()
					.toArray();
	return groups.map((group) => {
		const {ending} = group[0]!;
		const holdings = group.map(({holding}) => holding);
		return {
			...leaseFacts(holdings, context),
			kind: endingKind(ending),
			// Omitted for a release, which may have been made through another interface than the request.
			via: ending.reason === 'released' ? undefined : holdings[0]!.lease.via,
			until: ending.endTime === context.now ? undefined : ending.endTime,
			reason: ending.reason,
		};
	});
}

export function extensionEntries(extended: readonly HeldPart[], context: AuditContext): readonly AuditRecord[] {
	const endOf = ({lease: {expiryTime, endsBy}}: HeldPart): number | undefined => expiryTime ?? endsBy;
	const groups = Map.groupBy(extended, (part) => JSON.stringify([part.lease.leaseId ?? part.index, endOf(part)]));
	return Array.from(groups.values(), (group) => ({
		...leaseFacts(group, context),
		kind: 'extended',
		until: endOf(group[0]!),
	}));
}

/** Reason in the audit record if a running job takes its GPU back, because the lease had been lost and the GPU was free. */
export const takenBack = 'taken back';

export const beyondLimit = 'beyond the limit';

export const waitTimedOut = 'waited in vain';

/** Returns the audit record for an entry that joins the queue or leaves it without a grant. `refused` means a timeout. */
export const positionEntry = (
	kind: 'joined' | 'left' | 'refused',
	entry: QueueEntry,
	context: AuditContext,
	reason?: string,
): AuditRecord => ({
	...partiesOf(entry, context),
	kind,
	gpus: entry.requestedIds,
	count: entry.requestedIds.length > 0 ? entry.requestedIds.length : entry.requestedCount,
	need: entry.need,
	memoryMiB: entry.need?.shareMiB,
	entryId: entry.id,
	reason,
	note: entry.note,
});
