/** The JSON of commands that change something. Names as in `status --json`, RFC 3339 times, durations in whole seconds. Unknown values are absent. */
import type {AcquireRequest, Grant} from '../../core/rules/request/request.js';
import type {ExtendResult} from '../../core/operations/engine.js';
import type {Holding} from '../../core/rules/leases/holdings.js';
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import {ownerOf} from '../../core/rules/leases/ownership.js';
import type {Lease} from '../../core/model/types.js';
import {instanceText} from '../../core/rules/mig/instances.js';
import {reclaimTimeOf} from '../idle-text.js';
import {heldInstanceJson, instancesJson, missingParts, type HeldPart, type NamedParts} from '../instances.js';
import {shownVia} from '../text/note.js';
import {optionalTimestamp, timestamp} from '../text/durations.js';

const noteJson = (note: string | undefined): string | undefined => (note === '' ? undefined : note);

export const grantJson = (
	{gpus, instances, leaseId, startTime, endsBy, keepUntil, isBeyondLimit, place}: Grant,
	{requester, tenure, note, via, need}: AcquireRequest,
) => ({
	gpu_ids: gpus,
	mig_instances: instances && instancesJson(instances),
	user: requester.label,
	actual_user: requester.account,
	type: tenure.type.toUpperCase(),
	note: noteJson(note),
	via: shownVia(via),
	memory_mb: need?.shareMiB,
	lease_id: leaseId,
	since: timestamp(startTime),
	ends_by: optionalTimestamp(endsBy),
	keep_until: optionalTimestamp(keepUntil === undefined ? undefined : Math.min(keepUntil, endsBy ?? Infinity)),
	beyond_limit: isBeyondLimit,
	node: place?.node,
	node_gpu_ids: place?.gpuIds,
});

const leaseJson = (index: number, lease: Lease) => ({
	gpu_id: index,
	user: lease.user,
	actual_user: ownerOf(lease),
	type: lease.type.toUpperCase(),
	note: noteJson(lease.note),
	via: shownVia(lease.via),
	memory_mb: lease.memoryMiB,
	mig_instance: lease.mig && heldInstanceJson(lease.mig),
	lease_id: lease.leaseId,
	since: timestamp(lease.startTime),
});

function notReservedJson(named: NamedParts | undefined, changed: readonly HeldPart[]) {
	const {ids, instances} = missingParts(named ?? {ids: [], instances: []}, changed);
	return {
		not_reserved: ids,
		not_reserved_instances:
			named === undefined || named.instances.length === 0 ? undefined : instances.map((name) => instanceText(name)),
	};
}

export const releaseJson = (released: readonly Holding[], named: NamedParts | undefined) => ({
	released: released.map(({index, lease}) => ({
		...leaseJson(index, lease),
		ends_by: optionalTimestamp(latestEndOf(lease)),
	})),
	...notReservedJson(named, released),
});

export const extendJson = (extended: ExtendResult['extended'], named: NamedParts | undefined, now: number) => ({
	extended: extended.map(({index, lease: {mig} = {}, expiryTime, keepUntil, ...returning}) => ({
		gpu_id: index,
		mig_instance: mig && heldInstanceJson(mig),
		ends_by: timestamp(expiryTime),
		remaining_seconds: Math.max(0, Math.floor(expiryTime - now)),
		keep_until: optionalTimestamp(keepUntil),
		reclaim_at: optionalTimestamp(reclaimTimeOf(returning)),
	})),
	...notReservedJson(named, extended),
});
