/** Whose a lease is. The OS account decides; a label never does. */
import type {Lease, QueueEntry, Requester} from './types.js';

/**
The account that owns it. Records without one were written before accounts were kept: their label was the account.
*/
export const ownerOf = (held: Lease | QueueEntry): string => held.actualUser ?? held.user;

/** The label it bears, when that is not simply the account. */
export const labelOf = (held: Lease | QueueEntry): string | undefined =>
	held.user === ownerOf(held) ? undefined : held.user;

/**
Whether two records tell of one lease. The peer's bear no id, and what the peer rewrites loses its own: then whose it is, and since when, must
do.
*/
export const isSameLease = (a: Lease, b: Lease): boolean =>
	a.leaseId === undefined || b.leaseId === undefined
		? a.user === b.user && a.type === b.type && Math.floor(a.startTime) === Math.floor(b.startTime)
		: a.leaseId === b.leaseId;

/** True when the account holds it itself. */
export const owns = (requester: Requester, held: Lease | QueueEntry): boolean => ownerOf(held) === requester.account;

/** True when the account may change it: its own, or anybody's for root. */
export const mayChange = (requester: Requester, held: Lease | QueueEntry): boolean =>
	owns(requester, held) || requester.uid === 0;
