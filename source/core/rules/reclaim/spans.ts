/** Spans of time that the store keeps for a reservation. A span begins at an observation, and later observations extend it. */
import type {GraceTimer, Snapshot} from '../../model/types.js';
import {longestGapSeconds} from '../policy/idle-rules.js';

/** Seconds after which a span that continues is written again. Less than half of the longest gap, so that one late write does not break the span. */
const refreshSeconds = 120;

type Span = {readonly since: number; readonly seen: number};

export const spanFrom = (since: number, seenAt: number): Span => ({since: Math.ceil(since), seen: Math.floor(seenAt)});

/** Whether a stored span can be extended: there was no long gap between observations, and the store has lost nothing since its start. */
export const isUnbroken = ({since, seen}: Span, seenAt: number, {revision}: Pick<Snapshot, 'revision'>): boolean =>
	Math.abs(seenAt - seen) <= longestGapSeconds && revision.since !== undefined && revision.since <= since;

/** Returns the span extended to the newest observation, or the same object if the observation need not be stored yet. */
export function seenAgain<Stored extends Span>(span: Stored, seenAt: number): Stored {
	const seen = Math.max(span.seen, Math.floor(seenAt));
	return seen - span.seen >= refreshSeconds ? {...span, seen} : span;
}

/** Tolerance for rounding: a grace period may seem longer than it is, because its times are whole seconds. */
const roundingSeconds = 1;

type Grace = {
	readonly warned?: number | undefined;
	readonly deadline?: number | undefined;
	readonly timer?: GraceTimer | undefined;
};

/**
Returns the seconds since the end of a grace period, by the machine's monotonic clock, because the store's clock may have been set in the meantime. If
the monotonic clock is not the one on which the period began, for example after a reboot, the store's clock decides alone.
*/
export const secondsSinceGrace = (
	{warned = 0, deadline, timer}: Grace & {readonly deadline: number},
	at: number,
	now: GraceTimer | undefined,
): number =>
	timer === undefined || timer.clock !== now?.clock || now.seconds < timer.seconds
		? at - deadline
		: now.seconds - timer.seconds - (deadline - warned);

/** Whether a grace period has ended by both clocks. */
export const isGraceOver = ({deadline, ...grace}: Grace, at: number, now: GraceTimer | undefined): boolean =>
	deadline !== undefined && at >= deadline && secondsSinceGrace({...grace, deadline}, at, now) >= -roundingSeconds;
