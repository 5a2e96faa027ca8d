/** Texts about idle reservations that go back to the pool, or that their owners keep. */
import type {Parked, Warning} from '../core/rules/policy/idle-rules.js';
import type {BeyondLimit} from '../core/rules/limits/slack.js';
import {clockTime} from './text/days.js';
import {gpuList} from './text/gpu-list.js';
import {counted} from './text/numbers.js';

/** Formats a time in seconds since the epoch as a time of day. */
type Clock = (time: number) => string;

const whenText = (deadline: number, now: number, clock: Clock): string =>
	deadline > now ? `at ${clock(deadline)} unless used` : 'when somebody is waiting';

export const idleText = ({deadline}: Warning, now: number, clock: Clock = (time) => clockTime(time, now)): string =>
	`idle, goes back ${whenText(deadline, now, clock)}`;

export const idleSinceText = ({since, deadline}: Warning, now: number, clock: Clock): string =>
	`idle since ${clock(since)}, goes back ${whenText(deadline, now, clock)}`;

export const ownIdleText = (gpus: readonly number[], {since, deadline}: Warning, now: number, clock: Clock): string =>
	`${gpuList(gpus)} ${gpus.length === 1 ? 'goes' : 'go'} back ${whenText(deadline, now, clock)}: idle since ${clock(since)}`;

export function shortIdleText(
	{deadline}: Pick<Warning, 'deadline'>,
	now: number,
	clock: Clock,
	isNarrow: boolean,
): string {
	const verb = isNarrow ? 'back' : 'goes back';
	return deadline > now ? `${verb} at ${clock(deadline)}` : `${verb} if wanted`;
}

/** Returns `parked since 10:04 (no load)` for GPUs that hold memory and do nothing. */
export const parkedText = ({since}: Parked, clock: Clock): string => `parked since ${clock(since)} (no load)`;

export const keptText = (keepUntil: number, clock: Clock): string => `kept until ${clock(keepUntil)} even if idle`;

/** Returns `beyond its limit of 4 GPUs`, and the time at which the GPUs go back because somebody waits. */
export function beyondLimitText(
	{limit, deadline}: BeyondLimit,
	now: number,
	clock: Clock = (time) => clockTime(time, now),
): string {
	const words = `beyond its limit of ${counted(limit.value, 'GPU')}`;
	return deadline === undefined ? words : `${words}, goes back ${deadline > now ? `at ${clock(deadline)}` : 'now'}`;
}

export const ownLimitText = (
	gpus: readonly number[],
	{limit, deadline = 0}: BeyondLimit,
	now: number,
	clock: Clock,
): string =>
	`${gpuList(gpus)} ${gpus.length === 1 ? 'goes' : 'go'} back ${deadline > now ? `at ${clock(deadline)}` : 'now'}: you hold more than your limit of ${counted(limit.value, 'GPU')}`;

/** Returns when the GPUs go back, for whichever reason comes first. */
export function reclaimTimeOf({
	warning,
	beyondLimit,
}: {
	readonly warning?: Warning | undefined;
	readonly beyondLimit?: BeyondLimit | undefined;
}): number | undefined {
	const times = [warning?.deadline, beyondLimit?.deadline].filter((time) => time !== undefined);
	return times.length === 0 ? undefined : Math.min(...times);
}
