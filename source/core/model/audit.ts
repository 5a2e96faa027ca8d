/** The audit log: what happened to the pool. Changes and their records are written in the same commit. Heartbeats are not recorded. */

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
	/** A request was refused at once, or its waiting time was up. */
	'refused',
	'joined',
	'left',
	'drained',
	'undrained',
	'policy',
	/** The pool was created, replaced or restored, as `reason` says. */
	'pool',
	'unreserved',
	'squatter',
	/** A share uses more of a GPU's memory than it reserved. If the record has a `reason`, the overuse has ended. */
	'overuse',
	/** A reservation is idle and goes back to the pool at `until`. If the record has a `reason`, the warning was withdrawn. */
	'idle',
	/** A reservation beyond its account's limit goes back to the pool at `until`. If the record has a `reason`, the warning was withdrawn. */
	'beyond-limit',
	'health',
	/** Detached jobs were submitted. `count` is their number. If `value` is `again`, ended jobs were submitted again. */
	'submitted',
	/** A detached job ended. `value` is its final state. */
	'finished',
	/** Any other event, described in words. */
	'notice',
] as const;

export type AuditKind = (typeof auditKinds)[number];

export type AuditBefore = {
	readonly count?: number;
	readonly provider?: string;
	/** The pool's previous location, if the pool has moved. */
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
	/** For a refusal, the number of requested GPUs. For the kind `pool`, the number of GPUs in the pool. */
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
	/** The id of a detached job, or of an array. */
	readonly jobId?: string;
	/** Whether the request was made with `--force`, which ignores use without a reservation and unknown readings. */
	readonly forced?: boolean;
	readonly until?: number;
	readonly reason?: string;
	readonly note?: string;
	/** The interface through which the change was made: `web`, or `mcp` with the client's name. Absent for the command line and the monitor. */
	readonly via?: string;
};

/** A record of the audit log, with its position in the log as `id`. */
export type AuditEntry = AuditRecord & {readonly id: string};

export type AuditQuery = {
	readonly fromTime?: number;
	/** Selects only entries after the one with this id, or since its time if that entry was removed. An id from another store is ignored. */
	readonly afterId?: string;
	/** The maximum number of entries. If more entries match, only the newest are returned. */
	readonly newest?: number;
};
