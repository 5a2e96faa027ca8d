/** Puts what happens to leases and positions in the queue into records of the audit log. */
import type {Host} from '../../model/ports.js';
import type {AuditKind, AuditRecord, InstanceOfGpu, Lease, QueueEntry, Requester, Snapshot} from '../../model/types.js';
import {instancesHeld} from './holding-changes.js';
import type {HeldPart} from './holdings.js';
import type {Ending} from './liveness.js';
import {labelOf, ownerOf} from './ownership.js';

/** When and where something is done, and by whom. */
export type AuditContext = {
	/** The store's clock. */
	readonly now: number;
	/** Name of this host. */
	readonly host: string;
	/** OS account that does it. Absent: its owner did it, or it happened by itself. */
	readonly account?: string;
};

/** What somebody does on this host, at the time of what was read. */
export const auditContextOf = (
	{host: {hostname}}: {readonly host: Pick<Host, 'hostname'>},
	{account}: Requester,
	{now}: Pick<Snapshot, 'now'>,
): AuditContext & {readonly account: string} => ({now, host: hostname, account});

/** Who did it, and to whom if that is another. */
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

/** Whether a record of the audit log tells of the end of this part of a lease. */
export const isEndOf = ({kind, leaseId, gpus, instances}: AuditRecord, {index, lease}: HeldPart): boolean =>
	endKinds.has(kind) &&
	leaseId !== undefined &&
	leaseId === lease.leaseId &&
	(lease.mig === undefined ? gpus.includes(index) : instances?.some(({uuid}) => uuid === lease.mig?.uuid) === true);

export type GrantOptions = {
	/** Instances of MIG that were granted. */
	readonly instances?: readonly InstanceOfGpu[] | undefined;
	readonly kind?: 'granted' | 'held';
	/** Of the position in the queue that it was got by. */
	readonly entryId?: string;
	readonly forced?: boolean;
	readonly reason?: string;
};

/** GPUs became somebody's, by one lease. */
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

/** One lease, with all of its parts that are given. */
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

const endingKind = ({reason}: Ending): AuditKind => (reason === 'released' || reason === 'expired' ? reason : 'ended');

/** Leases ended: one record for each lease, or for each GPU where a lease has no id. */
export function endingEntries(
	ended: ReadonlyArray<{readonly holding: HeldPart; readonly ending: Ending}>,
	context: AuditContext,
): readonly AuditRecord[] {
	// Most of the time one lease ends, which needs no groups.
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
			until: ending.endTime === context.now ? undefined : ending.endTime,
			reason: ending.reason,
		};
	});
}

/** Manual leases end at another time: one record for each lease and end. */
export function extensionEntries(extended: readonly HeldPart[], context: AuditContext): readonly AuditRecord[] {
	const groups = Map.groupBy(extended, ({index, lease: {leaseId, expiryTime}}) =>
		JSON.stringify([leaseId ?? index, expiryTime]),
	);
	return Array.from(groups.values(), (group) => ({
		...leaseFacts(group, context),
		kind: 'extended',
		until: group[0]!.lease.expiryTime,
	}));
}

/** Why somebody got again what they had: it was free, and no one had given it up. */
export const takenBack = 'taken back';

/** Why somebody is refused who waited for as long as they would. */
export const waitTimedOut = 'waited in vain';

/** Somebody took a position in the queue, or lost it without having been served. `refused`: the time to wait was over. */
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
