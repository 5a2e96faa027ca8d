import {CanhazgpuError} from '../errors.js';
import {doubtAbout, labelOf, ownerOf} from '../core/rules/leases/ownership.js';
import type {NotYours} from '../core/rules/leases/selection.js';
import type {Requester} from '../core/model/types.js';
import {namedText, partName} from './instances.js';
import {sanitize} from './text/text.js';

/** The GPUs without their number: `GPU(s): [0 1]`. */
const partsOfNotYours = (notYours: readonly NotYours[]): string =>
	namedText(
		notYours.filter(({lease}) => lease.mig === undefined).map(({index}) => index),
		notYours.flatMap(({index, lease: {mig}}) => (mig?.number === undefined ? [] : [{gpu: index, number: mig.number}])),
	);

/** What to say when somebody names GPUs that others hold. */
export function notYoursError(
	verb: 'release' | 'extend',
	notYours: readonly NotYours[],
	requester: Requester,
): CanhazgpuError {
	const who = doubtAbout(requester) ?? `Only the holder's account or root may ${verb} it.`;
	const held = notYours.map(({index, lease}) => {
		const label = labelOf(lease);
		const owner = sanitize(ownerOf(lease));
		return `${partName({index, lease})} is held by ${label === undefined ? owner : `${owner} (${sanitize(label)})`}`;
	});
	return new CanhazgpuError('not-owner', `No reservations found for current user on ${partsOfNotYours(notYours)}`, {
		hint: `${held.join(', ')}. Nothing was changed. ${who}`,
		details: notYours,
	});
}
