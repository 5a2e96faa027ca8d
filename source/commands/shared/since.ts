import {parseDuration} from '../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {noTime, parseTimeOfDay} from './time-of-day.js';

/** From when on: so many seconds before now, or a time in seconds since the epoch. */
type Since = {readonly seconds: number} | {readonly time: number};

/**
Reads what `--since` says: how long ago (`2h`, `7d`), or a date and time here (`2026-05-01`, `2026-05-01T18:30`).

@throws CanhazgpuError `usage` for anything else, and for a time that is still to come.
*/
export function parseSince(typed: string, now = new Date()): Since {
	const isDate = /^\s*\d{4}-/v.test(typed);
	// Neither a date nor anything of which durations are made.
	if (!isDate && !/^[\s\d+.dhms]+$/v.test(typed)) {
		throw noTime(typed.trim(), '--since');
	}

	if (!isDate) {
		return {seconds: parseDuration(typed, '--since')};
	}

	const time = parseTimeOfDay(typed, {flag: '--since', now});
	if (time * 1000 > now.getTime()) {
		throw new CanhazgpuError('usage', `--since: ${quoted(typed)} is still to come`, {
			hint: 'Write how long ago, such as 7d, or a date that was.',
		});
	}

	return {time};
}
