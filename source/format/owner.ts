import {CanhazgpuError} from '../errors.js';
import {doubtAbout, labelOf, ownerOf} from '../core/rules/leases/ownership.js';
import type {HeldPart} from '../core/rules/leases/holdings.js';
import type {Lease, QueueEntry, Requester} from '../core/model/types.js';
import {namedText, partName} from './instances.js';
import {sanitize} from './text/text.js';

export const ownerText = (account: string, label: string | undefined): string =>
	label === undefined ? sanitize(account) : `${sanitize(account)} (${sanitize(label)})`;

export const holderText = (held: Lease | QueueEntry): string => ownerText(ownerOf(held), labelOf(held));

/** Returns the GPUs and instances that belong to other users, without their count: `GPU(s): [0 1]`. */
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
