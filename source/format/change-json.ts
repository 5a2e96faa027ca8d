/**
What the verbs that change something print with `--json`: what was changed, and nothing else. The names are those of `status --json`;
times are RFC 3339, durations whole seconds, and what is unknown or empty is absent.
*/
import type {AcquireRequest, Grant} from '../core/rules/allocation/request.js';
import type {Holding} from '../core/rules/leases/holdings.js';
import {latestEndOf} from '../core/rules/leases/liveness.js';
import {ownerOf} from '../core/rules/leases/ownership.js';
import type {Lease} from '../core/model/types.js';
import {timestamp} from './text/durations.js';

const time = (seconds: number | undefined): string | undefined =>
	seconds === undefined ? undefined : timestamp(seconds);

const noteJson = (note: string | undefined): string | undefined => (note === '' ? undefined : note);

/** `reserve --json` and `run --json`: the lease that was granted. */
export const grantJson = (
	{gpus, leaseId, startTime, endsBy}: Grant,
	{requester, tenure, note, need}: AcquireRequest,
) => ({
	gpu_ids: gpus,
	user: requester.label,
	actual_user: requester.account,
	type: tenure.type.toUpperCase(),
	note: noteJson(note),
	memory_mb: need?.shareMiB,
	lease_id: leaseId,
	since: timestamp(startTime),
	ends_by: time(endsBy),
});

const leaseJson = (index: number, lease: Lease) => ({
	gpu_id: index,
	user: lease.user,
	actual_user: ownerOf(lease),
	type: lease.type.toUpperCase(),
	note: noteJson(lease.note),
	memory_mb: lease.memoryMiB,
	lease_id: lease.leaseId,
	since: timestamp(lease.startTime),
});

/**
What `release --json` prints: what was given back, and which of the named GPUs were not reserved.

@param ids - Those that were named; undefined for all of the caller's.
*/
export const releaseJson = (released: readonly Holding[], ids: readonly number[] = []) => ({
	released: released.map(({index, lease}) => ({...leaseJson(index, lease), ends_by: time(latestEndOf(lease))})),
	not_reserved: ids.filter((id) => released.every(({index}) => index !== id)),
});

/** What `extend --json` prints: the new end of each GPU that was extended. */
export const extendJson = (
	extended: ReadonlyArray<{readonly index: number; readonly expiryTime: number}>,
	now: number,
) => ({
	extended: extended.map(({index, expiryTime}) => ({
		gpu_id: index,
		ends_by: timestamp(expiryTime),
		remaining_seconds: Math.max(0, Math.floor(expiryTime - now)),
	})),
});
