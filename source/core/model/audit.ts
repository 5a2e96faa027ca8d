/**
The audit log: what happened to the pool, by whom. A record is appended in the same commit as the change that it is about, so that neither is
there without the other. Heartbeats have no records.
*/

import type {InstanceOfGpu} from './mig.js';
import type {Need} from './need.js';

export const auditKinds = [
	/** GPUs became somebody's. */
	'granted',
	/** GPUs are held for somebody who waits for more of them. */
	'held',
	'released',
	'extended',
	/** The time of a manual reservation was over. */
	'expired',
	/** Ended for another reason: see `reason`. */
	'ended',
	/** Somebody asked and got nothing, at once or when the time to wait was over. */
	'refused',
	'joined',
	/** Left the queue without having been served. */
	'left',
	'drained',
	'undrained',
	/** A key of the policy was set or unset: see `key` and `value`. */
	'policy',
	/** The pool was made, remade, or put back after the store had lost it: see `reason`. */
	'pool',
	/** Somebody uses a GPU that no one reserved. */
	'unreserved',
	/** Somebody uses a GPU that another has reserved. */
	'squatter',
	/** A share uses more of a GPU's memory than it asked for; with `reason`, it no longer does. */
	'overuse',
	/** A GPU became unfit to be handed out, or fit again. */
	'health',
	/** Anything else worth knowing, in words. */
	'notice',
] as const;

export type AuditKind = (typeof auditKinds)[number];

export type AuditBefore = {
	readonly count?: number;
	readonly provider?: string;
	/** The pool was there before, when that is another store. */
	readonly location?: string;
	/** Why GPUs were out of service. */
	readonly reason?: string;
	/** Value of a policy key. Absent if the key was not set. */
	readonly value?: string;
};

export type AuditRecord = {
	/** On the store's clock: the time of the event, or of its discovery. */
	readonly time: number;
	readonly kind: AuditKind;
	/** OS account that did it; of what happens by itself: whose it was. */
	readonly account?: string;
	/** The label, when that is not simply the account. */
	readonly label?: string;
	/** OS account it was done to, when that is another. */
	readonly owner?: string;
	/** Name of the host on which it was done or noticed. */
	readonly host?: string;
	/** Sorted. What was asked for by id, where nothing was got. */
	readonly gpus: readonly number[];
	/** Instances of MIG among those GPUs that it is about. Absent: the GPUs themselves. */
	readonly instances?: readonly InstanceOfGpu[];
	/** Number of requested GPUs if none were granted, or the size of a pool. */
	readonly count?: number;
	/** Requirements of the request. */
	readonly need?: Need;
	/** Provider of the pool. */
	readonly provider?: string;
	/** Memory requested for a share of a GPU. */
	readonly memoryMiB?: number;
	/** Memory in use by a share's processes. Absent for a whole GPU. */
	readonly usedMiB?: number;
	/** This key of the policy changed, or `all` when a record that could not be read was removed. */
	readonly key?: string;
	/** New value of the key. Absent if the key was unset. */
	readonly value?: string;
	/** Configuration before the change. */
	readonly before?: AuditBefore;
	readonly leaseId?: string;
	/** The queue entry. */
	readonly entryId?: string;
	/** Whether unreserved use or an unknown reading was ignored. */
	readonly forced?: boolean;
	/** When the lease ends; of one that ended: when it did. */
	readonly until?: number;
	/** An EndReason, or words. */
	readonly reason?: string;
	readonly note?: string;
	/** The face it was done by, where that is another than a terminal. */
	readonly via?: 'web';
};

/** A record as it stands in the audit log. The id says where, and nothing else. */
export type AuditEntry = AuditRecord & {readonly id: string};

export type AuditQuery = {
	/** Only entries recorded at or after this time. */
	readonly fromTime?: number;
	/** Only entries after this one. Ids from another store are ignored. */
	readonly afterId?: string;
	/** Maximum number of entries, newest first. */
	readonly newest?: number;
};
