/** Times as they are typed: a time of day, a date, how long ago. */
import {parseDuration} from '../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../errors.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/*
A time on a wall clock, without a time zone, is counted here as if it were in UTC: in milliseconds, as `Date.UTC` does.
*/

/** How far the clocks here are ahead of UTC at this instant. */
const offsetMs = (instantMs: number): number => -new Date(instantMs).getTimezoneOffset() * minuteMs;

const wallTime = (instantMs: number): number => instantMs + offsetMs(instantMs);

/**
When the clocks here show this time: once as a rule, and twice where they are set back over it. A time that is left out, where clocks
are set forward, counts from the time before: half an hour after the clocks change for a time that lies half an hour in the gap.
*/
function instantsOf(wall: number): readonly number[] {
	const offsets = new Set([offsetMs(wall - dayMs), offsetMs(wall + dayMs)]);
	const shown = [...offsets].map((offset) => wall - offset).filter((instant) => wallTime(instant) === wall);
	return shown.length > 0 ? shown.toSorted((a, b) => a - b) : [wall - offsetMs(wall - dayMs)];
}

/** The next of them, or the last that was. */
const nextOf = (wall: number, nowMs: number): number => {
	const instants = instantsOf(wall);
	return instants.find((instant) => instant > nowMs) ?? instants.at(-1)!;
};

/** Which flag it is that says the time, and what time it is now. */
type TimeOptions = {readonly flag?: '--until' | '--since' | '--begin'; readonly now?: Date};

const examples = {
	'--until': 'Write 18:30, 2026-05-01 or 2026-05-01T18:30.',
	'--begin': 'Write how long from now, such as 2h, or 18:30, 2026-05-01 or 2026-05-01T18:30.',
	'--since': 'Write how long ago, such as 7d, or 2026-05-01 or 2026-05-01T18:30.',
};

const noTime = (typed: string, flag: keyof typeof examples, problem = ''): CanhazgpuError =>
	new CanhazgpuError('usage', `${flag}: ${quoted(typed)} is not a time`, {hint: `${problem}${examples[flag]}`});

const datePattern =
	/^(?<date>\d{4}-\d{2}-\d{2})(?:[ T](?<time>\d{2}:\d{2}(?::\d{2})?)(?<offset>Z|[+\-]\d{2}:\d{2})?)?$/v;

/** Of a date that there is; NaN for any other. The language takes the 31st of February for the 3rd of March, and 24:00 for the next day. */
function wallTimeOf(date: string, time: string): number {
	const wall = Date.parse(`${date}T${time}Z`);
	return Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date ? NaN : wall;
}

/**
Reads a time of day (`18:30`, the next one) or a date and time (`2026-05-01T18:30`, with or without an offset), in this machine's
time zone unless it says otherwise. Of a time that comes twice, because clocks are set back, the one that comes next is meant.

@returns Seconds since the epoch.
@throws CanhazgpuError `usage`, also for a date that there is not.
*/
export function parseTimeOfDay(text: string, {flag = '--until', now = new Date()}: TimeOptions = {}): number {
	const typed = text.trim();
	const nowMs = now.getTime();
	const clock = /^(?<hours>\d{1,2}):(?<minutes>\d{2})$/v.exec(typed)?.groups;
	const hours = Number(clock?.['hours']);
	const minutes = Number(clock?.['minutes']);
	if (hours < 24 && minutes < 60) {
		const here = wallTime(nowMs);
		const today = here - (here % dayMs) + (hours * 60 + minutes) * minuteMs;
		const next = nextOf(today, nowMs);
		// What lies in a gap that is over comes tomorrow.
		const isToCome = next > nowMs && (wallTime(next) === today || here < today);
		return (isToCome ? next : nextOf(today + dayMs, nowMs)) / 1000;
	}

	const {date, time = '00:00', offset} = datePattern.exec(typed)?.groups ?? {};
	if (date === undefined) {
		throw noTime(typed, flag);
	}

	const wall = wallTimeOf(date, time);
	const instant = offset === undefined ? nextOf(wall, nowMs) : Date.parse(`${date}T${time}${offset}`);
	if (Number.isNaN(wall) || Number.isNaN(instant)) {
		throw noTime(typed, flag, 'There is no such day, or no such time of a day. ');
	}

	return instant / 1000;
}

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
