import {CanhazgpuError} from '../errors.js';
import {doubtAbout, labelOf, ownerOf} from '../core/rules/leases/ownership.js';
import type {NotYours} from '../core/rules/leases/selection.js';
import type {Requester} from '../core/model/types.js';
import {sanitize} from './text/text.js';

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
		return `GPU ${index} is held by ${label === undefined ? owner : `${owner} (${sanitize(label)})`}`;
	});
	return new CanhazgpuError(
		'not-owner',
		`No reservations found for current user on GPU(s): [${notYours.map(({index}) => index).join(' ')}]`,
		{
			hint: `${held.join(', ')}. Nothing was changed. ${who}`,
			details: notYours,
		},
	);
}
