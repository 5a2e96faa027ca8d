import {CanhazgpuError} from '../../../errors.js';
import type {Lease, Snapshot} from '../../model/types.js';
import {policyRows, policyValue, type StoredPolicy} from './policy.js';

/** The longest gap between two observations. After a longer gap, idle times start again. */
export const longestGapSeconds = 300;

export type IdleRules = {
	readonly afterSeconds: number;
	readonly graceSeconds: number;
	readonly isOnlyWanted: boolean;
};

/** Returns the rules. Undefined if idle GPUs never go back to the pool, which is also the case if a policy key for idle GPUs cannot be read. */
export function idleRulesOf(snapshot: StoredPolicy): IdleRules | undefined {
	const afterSeconds = policyValue(snapshot, 'idle.after');
	if (afterSeconds === 'off') {
		return undefined;
	}

	const graceSeconds = policyValue(snapshot, 'idle.grace');
	const when = policyValue(snapshot, 'idle.when');
	return graceSeconds === 'never' || when === 'never' || policyValue(snapshot, 'idle.keep-max') === 'any'
		? undefined
		: {afterSeconds, graceSeconds, isOnlyWanted: when === 'wanted'};
}

/** A warning to the owner that a reservation is idle. Contains when the idle time began, and when the GPUs go back to the pool. */
export type Warning = {
	readonly since: number;
	/** Store time. After the deadline, the GPUs go back as soon as somebody waits for them. */
	readonly deadline: number;
};

type Clocked = StoredPolicy & Pick<Snapshot, 'now'>;

/** Returns the warning of a lease. Undefined if there is none, or if the last observation is too old. */
export function warningOf({idle, keepUntil = 0}: Lease, snapshot: Clocked): Warning | undefined {
	const {now} = snapshot;
	return idle?.deadline === undefined ||
		Math.abs(now - idle.seen) > longestGapSeconds ||
		keepUntil > now ||
		idleRulesOf(snapshot) === undefined
		? undefined
		: {since: idle.since, deadline: idle.deadline};
}

/** How long a reservation must have memory in use and no load to count as parked. */
export const parkedAfterSeconds = 2 * 60 * 60;

/** A reservation that has held memory without load for a long time. Being parked is no reason to return a reservation to the pool. */
export type Parked = {readonly since: number};

/** Returns since when a lease is parked. Undefined if the lease is not parked, if its owner keeps it, or if the last observation is too old. */
export function parkedOf({parked, keepUntil = 0}: Lease, snapshot: Clocked): Parked | undefined {
	const {now} = snapshot;
	return parked === undefined ||
		now - parked.since < parkedAfterSeconds ||
		Math.abs(now - parked.seen) > longestGapSeconds ||
		keepUntil > now ||
		idleRulesOf(snapshot) === undefined
		? undefined
		: {since: parked.since};
}

/** Returns until when the owner keeps the reservation, at the latest until its end. Undefined if the owner does not keep it. */
export const keptUntil = (
	{keepUntil, expiryTime = Infinity}: Lease,
	{now}: Pick<Snapshot, 'now'>,
): number | undefined => (keepUntil === undefined || keepUntil <= now ? undefined : Math.min(keepUntil, expiryTime));

const usualKeepSeconds = 2 * 60 * 60;

/** Returns how long user interfaces offer to keep idle GPUs: two hours, or less if the policy requires it. */
export function offeredKeepSeconds(snapshot: StoredPolicy): number {
	const most = policyValue(snapshot, 'idle.keep-max');
	return most === 'any' ? usualKeepSeconds : Math.min(most, usualKeepSeconds);
}

/** Throws `usage` for a time that is longer than the policy allows. */
export function checkKeep(snapshot: StoredPolicy, keepSeconds: number | undefined): void {
	const most = policyValue(snapshot, 'idle.keep-max');
	if (keepSeconds === undefined || most === 'any' || keepSeconds <= most) {
		return;
	}

	const {value} = policyRows(snapshot).find(({key}) => key === 'idle.keep-max')!;
	throw new CanhazgpuError('usage', `--keep can be at most ${value} in this pool`, {
		hint: `The limit is idle.keep-max=${value}. Nothing was changed. Try: --keep ${value}`,
	});
}
