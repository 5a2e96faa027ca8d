/** The audit log: what happened to the pool. A record is appended in the commit of its change. Heartbeats have none. */

import type {InstanceOfGpu} from './mig.js';
import type {Need} from './need.js';

export const auditKinds = [
	'granted',
	/** GPUs are held for a request that waits for more of them. */
	'held',
	'released',
	'extended',
	'expired',
	'ended',
	/** A request got nothing, at once or when its waiting time was up. */
	'refused',
	'joined',
	/** A request left the queue without a grant. */
	'left',
	'drained',
	'undrained',
	'policy',
	/** The pool was created, replaced or restored: see `reason`. */
	'pool',
	'unreserved',
	'squatter',
	/** A share uses more of a GPU's memory than it reserved. With `reason`: the overuse ended. */
	'overuse',
	'health',
	/** Anything else worth knowing, in words. */
	'notice',
] as const;

export type AuditKind = (typeof auditKinds)[number];

export type AuditBefore = {
	readonly count?: number;
	readonly provider?: string;
	/** The pool's previous store, if it has moved. */
	readonly location?: string;
	readonly reason?: string;
	readonly value?: string;
};

export type AuditRecord = {
	/** Store time of the event. An automatic event, such as an expiry, has the time at which it was noticed. */
	readonly time: number;
	readonly kind: AuditKind;
	/** OS account of the actor. An automatic event, such as an expiry, has the owner's account. */
	readonly account?: string;
	readonly label?: string;
	/** OS account of the owner, if somebody else acted. */
	readonly owner?: string;
	readonly host?: string;
	readonly gpus: readonly number[];
	readonly instances?: readonly InstanceOfGpu[];
	/** How many GPUs were requested, for a refusal. How many the pool has, for `pool`. */
	readonly count?: number;
	readonly need?: Need;
	readonly provider?: string;
	readonly memoryMiB?: number;
	readonly usedMiB?: number;
	/** The policy key that changed, or `all` if an unreadable record was removed. */
	readonly key?: string;
	readonly value?: string;
	readonly before?: AuditBefore;
	readonly leaseId?: string;
	readonly entryId?: string;
	/** Whether use without a reservation or an unknown reading was ignored. */
	readonly forced?: boolean;
	readonly until?: number;
	readonly reason?: string;
	readonly note?: string;
	/** The interface that was used. Absent for a terminal. */
	readonly via?: 'web';
};

/** `id` is the position in the log. */
export type AuditEntry = AuditRecord & {readonly id: string};

export type AuditQuery = {
	readonly fromTime?: number;
	/** Only entries after this one. Ids from another store are ignored. */
	readonly afterId?: string;
	/** The greatest number of entries. The newest are returned. */
	readonly newest?: number;
};
