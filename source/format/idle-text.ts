import type {Warning} from '../core/rules/policy/idle-rules.js';
import type {BeyondLimit} from '../core/rules/limits/slack.js';
import {clockTime} from './text/days.js';
import {counted} from './text/numbers.js';

/** Returns `idle, goes back at 12:04 unless used`. After that time, the GPUs go back when somebody waits for them. */
export const idleText = ({deadline}: Warning, now: number): string =>
	deadline > now ? `idle, goes back at ${clockTime(deadline, now)} unless used` : 'idle, goes back when somebody waits';

/** Returns `beyond its limit of 4 GPUs`, and when the GPUs go back if somebody waits for them. */
export function beyondLimitText({limit, deadline}: BeyondLimit, now: number): string {
	const words = `beyond its limit of ${counted(limit.value, 'GPU')}`;
	return deadline === undefined
		? words
		: `${words}, goes back ${deadline > now ? `at ${clockTime(deadline, now)}` : 'now'}`;
}

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
