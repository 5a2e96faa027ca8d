import type {World} from '../model/ports.js';
import type {QueueEntry, Requester} from '../model/types.js';
import {
	limitedGroupsOf,
	limitsOf,
	noLimits,
	requireWithinMaxGpus,
	tenureWithin,
	type Limits,
} from '../rules/limits/limits.js';
import {canUseSlack} from '../rules/limits/slack.js';
import type {StoredPolicy} from '../rules/policy/policy.js';
import type {AcquireRequest, TimedRequest, Wanted} from '../rules/request/request.js';

/** Returns the limits of a requester. Looks up the Unix groups of this process only if a group has limits. */
export const limitsFor = ({host}: Pick<World, 'host'>, snapshot: StoredPolicy, requester: Requester): Limits =>
	limitsOf(snapshot, requester, host.groupsAmong);

/** Returns the Unix groups of this process that have limits. Undefined if there are none, so that nothing is stored. */
export function groupsFor({host}: Pick<World, 'host'>, snapshot: StoredPolicy): QueueEntry['groups'] {
	const groups = host.groupsAmong(limitedGroupsOf(snapshot));
	return groups.length === 0 ? undefined : groups;
}

/** Returns the request with its duration. Throws `impossible` if the limits can never allow it. */
export function withinLimits(
	request: AcquireRequest,
	wanted: Wanted,
	{limits, policy}: {readonly limits: Limits; readonly policy: StoredPolicy},
): TimedRequest {
	if (!canUseSlack(policy, {type: request.tenure.type, need: wanted.need})) {
		requireWithinMaxGpus(wanted, limits, request.requester.account);
	}

	return {...request, tenure: tenureWithin(request.tenure, limits)};
}

export const withoutLimits = (request: AcquireRequest): TimedRequest => ({
	...request,
	tenure: tenureWithin(request.tenure, noLimits),
});
