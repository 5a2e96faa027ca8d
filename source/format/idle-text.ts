import type {Warning} from '../core/rules/policy/idle-rules.js';
import {clockTime} from './text/days.js';

/** Returns `idle, goes back at 12:04 unless used`. After that time, the GPUs go back when somebody waits for them. */
export const idleText = ({deadline}: Warning, now: number): string =>
	deadline > now ? `idle, goes back at ${clockTime(deadline, now)} unless used` : 'idle, goes back when somebody waits';
