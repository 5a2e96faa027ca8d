/**
Reservations beyond `max-gpus`, which `limits.slack=on` allows while nobody else waits. These reservations are marked, and the newest of them
go back when somebody else waits. Only manual reservations of whole GPUs can be marked, because the GPUs of a job cannot go back before the job ends.
*/
import type {Need} from '../../model/need.js';
import type {Lease, LeaseSlack, LeaseType, Snapshot} from '../../model/types.js';
import {holdingsIn, type Holding} from '../leases/holdings.js';
import {timedEndOf} from '../leases/liveness.js';
import {ownerOf} from '../leases/ownership.js';
import {policyValue, type StoredPolicy} from '../policy/policy.js';
import {isPartOfGpu} from '../request/request.js';
import {limitOf, type Limit} from './limits.js';

export type SlackRequest = {readonly type: LeaseType; readonly need: Need | undefined};

/** Whether the policy lets this request exceed `max-gpus` while nobody else waits. */
export const canUseSlack = (policy: StoredPolicy, {type, need}: SlackRequest): boolean =>
	type === 'manual' && !isPartOfGpu(need) && policyValue(policy, 'limits.slack') === 'on';

export type SlackLease = {
	readonly holdings: readonly Holding[];
	readonly lease: Lease;
	readonly slack: LeaseSlack;
	/** The limit that the account exceeds with this reservation. Undefined if the reservation now fits within the limit. */
	readonly limit: Limit | undefined;
};

const newestFirst = ({lease: a}: Pick<SlackLease, 'lease'>, {lease: b}: Pick<SlackLease, 'lease'>): number =>
	a.startTime === b.startTime ? (a.leaseId! < b.leaseId! ? 1 : -1) : b.startTime - a.startTime;

type Pooled = StoredPolicy & Pick<Snapshot, 'gpus' | 'now'>;

/**
Returns the marked reservations, the newest first. While an account exceeds its limit, its newest reservations are
beyond the limit. An unreadable policy limits nobody.
*/
export function slackLeasesIn(snapshot: Pooled): readonly SlackLease[] {
	const {gpus, now} = snapshot;
	if (gpus.every((record) => record.kind !== 'leased' || record.lease.slack === undefined)) {
		return [];
	}

	const held = holdingsIn(gpus).filter(({lease}) => (timedEndOf(lease) ?? Infinity) > now);
	const accounts = Map.groupBy(held, ({lease}) => ownerOf(lease));
	return accounts
		.entries()
		.flatMap(([account, all]) => {
			const marked = all.filter(({lease}) => lease.slack !== undefined && lease.leaseId !== undefined);
			const leases = Array.from(Map.groupBy(marked, ({lease}) => lease.leaseId).values(), (holdings) => ({
				holdings,
				lease: holdings[0]!.lease,
				slack: holdings[0]!.lease.slack!,
			})).toSorted(newestFirst);
			let count = all.length;
			return leases.map((one): SlackLease => {
				const limit = limitOf(snapshot, 'max-gpus', {account, groups: one.slack.groups});
				const isBeyond = limit !== undefined && count > limit.value;
				count -= isBeyond ? one.holdings.length : 0;
				return {...one, limit: isBeyond ? limit : undefined};
			});
		})
		.toArray()
		.toSorted(newestFirst);
}

export type BeyondLimit = {
	readonly limit: Limit;
	/** Store time at which the GPUs go back. Undefined while nobody else waits for them. */
	readonly deadline: number | undefined;
};

export function beyondLimitOf(lease: Lease, snapshot: Pooled & Pick<Snapshot, 'queue'>): BeyondLimit | undefined {
	const {leaseId, slack} = lease;
	const limit =
		slack === undefined ? undefined : slackLeasesIn(snapshot).find((marked) => marked.lease.leaseId === leaseId)?.limit;
	// A deadline stays recorded until the next scan after the last waiting request has left.
	const isWaitedFor = snapshot.queue.some(
		(record) => record.kind === 'entry' && ownerOf(record.entry) !== ownerOf(lease),
	);
	return limit && {limit, deadline: isWaitedFor ? slack?.deadline : undefined};
}
