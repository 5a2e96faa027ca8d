/** Whose a lease is. The OS account decides; a label never does. */
import type {Lease, QueueEntry, Requester} from './types.js';

/**
The account that owns it. Records without one were written before accounts were kept: their label was the account.
*/
export const ownerOf = (held: Lease | QueueEntry): string => held.actualUser ?? held.user;

/** The label it bears, when that is not simply the account. */
export const labelOf = (held: Lease | QueueEntry): string | undefined =>
	held.user === ownerOf(held) ? undefined : held.user;

/** True when the account holds it itself. */
export const owns = (requester: Requester, held: Lease | QueueEntry): boolean => ownerOf(held) === requester.account;

/** True when the account may change it: its own, or anybody's for root. */
export const mayChange = (requester: Requester, held: Lease | QueueEntry): boolean =>
	owns(requester, held) || requester.uid === 0;
