import {CanhazgpuError} from '../errors.js';
import {doubtAbout, labelOf, ownerOf, owns} from '../core/rules/leases/ownership.js';
import {holdingsIn, type HeldPart} from '../core/rules/leases/holdings.js';
import type {Lease, QueueEntry, Requester, Snapshot} from '../core/model/types.js';
import {namedText, partName} from './instances.js';
import {sanitize} from './text/text.js';

export const ownerText = (account: string, label: string | undefined): string =>
	label === undefined ? sanitize(account) : `${sanitize(account)} (${sanitize(label)})`;

export const holderText = (held: Lease | QueueEntry): string => ownerText(ownerOf(held), labelOf(held));

const partsOfNotYours = (notYours: readonly HeldPart[]): string =>
	namedText(
		notYours.filter(({lease}) => lease.mig === undefined).map(({index}) => index),
		notYours.flatMap(({index, lease: {mig}}) => (mig?.number === undefined ? [] : [{gpu: index, number: mig.number}])),
	);

export function notYoursError(
	action: 'release' | 'extend',
	notYours: readonly HeldPart[],
	requester: Requester,
): CanhazgpuError {
	const who = doubtAbout(requester) ?? `Only the holder's account or root can ${action} it.`;
	const held = notYours.map(({index, lease}) => `${partName({index, lease})} is held by ${holderText(lease)}`);
	return new CanhazgpuError('not-owner', `No reservations found for current user on ${partsOfNotYours(notYours)}`, {
		hint: `${held.join(', ')}. Nothing was changed. ${who}`,
		details: notYours,
	});
}

export const gone = (what: string): CanhazgpuError =>
	new CanhazgpuError('not-found', `${what} has already ended`, {hint: 'Nothing was changed.'});

export const notOwner = (whose: string, owner: string): CanhazgpuError =>
	new CanhazgpuError('not-owner', `${whose} belongs to ${sanitize(owner)}`, {
		hint: 'Nothing was changed. You can change only what is yours.',
	});

/** Throws unless the requester's account owns the lease. Used by interfaces in which even root may change only its own leases. */
export function requireOwnLease(snapshot: Pick<Snapshot, 'gpus'>, requester: Requester, leaseId: string): void {
	const lease = holdingsIn(snapshot.gpus).find((holding) => holding.lease.leaseId === leaseId)?.lease;
	if (lease === undefined) {
		throw gone('That reservation');
	}

	if (!owns(requester, lease)) {
		throw notOwner('That reservation', ownerOf(lease));
	}
}
