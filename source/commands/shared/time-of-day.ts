import {parseDuration} from '../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../errors.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/* A wall time is what a local clock shows, as a number: the milliseconds that `Date.UTC` returns for that date and time. */

/** Returns how far local clocks are ahead of UTC at an instant. */
const offsetMs = (instantMs: number): number => -new Date(instantMs).getTimezoneOffset() * minuteMs;

const wallTime = (instantMs: number): number => instantMs + offsetMs(instantMs);

/** Returns the instants at which local clocks show a wall time: two if clocks are set back, and one in place of a time that clocks skip. */
function instantsOf(wall: number): readonly number[] {
	const offsets = new Set([offsetMs(wall - dayMs), offsetMs(wall + dayMs)]);
	const shown = [...offsets].map((offset) => wall - offset).filter((instant) => wallTime(instant) === wall);
	return shown.length > 0 ? shown.toSorted((a, b) => a - b) : [wall - offsetMs(wall - dayMs)];
}

/** Returns the next instant at which local clocks show a wall time. If all have passed, returns the last one. */
const nextOf = (wall: number, nowMs: number): number => {
	const instants = instantsOf(wall);
	return instants.find((instant) => instant > nowMs) ?? instants.at(-1)!;
};

type TimeOptions = {readonly flag?: '--until' | '--since' | '--begin'; readonly now?: Date};

const examples = {
	'--until': 'Write 18:30, 2026-05-01 or 2026-05-01T18:30.',
	'--begin': 'Write how long from now, such as 2h, or a time such as 18:30, 2026-05-01 or 2026-05-01T18:30.',
	'--since': 'Write how long ago, such as 7d, or a time such as 2026-05-01 or 2026-05-01T18:30.',
};

const noTime = (typed: string, flag: keyof typeof examples, problem = ''): CanhazgpuError =>
	new CanhazgpuError('usage', `${flag}: ${quoted(typed)} is not a time`, {hint: `${problem}${examples[flag]}`});

const datePattern =
	/^(?<date>\d{4}-\d{2}-\d{2})(?:[ T](?<time>\d{2}:\d{2}(?::\d{2})?)(?<offset>Z|[+\-]\d{2}:\d{2})?)?$/v;

/** Parses a wall time. Returns NaN if the date does not exist. `Date` alone would read February 31 as March 3, and 24:00 as the next day. */
function wallTimeOf(date: string, time: string): number {
	const wall = Date.parse(`${date}T${time}Z`);
	return Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date ? NaN : wall;
}

/**
Parses a time of day (`18:30`, meaning its next occurrence) or a date and time (`2026-05-01T18:30`, with or without an offset). Returns seconds since
the epoch. Without an offset, the time is local. A local time that occurs twice, because clocks are set back, means the next occurrence, or the first one
for `--since`.
@throws CanhazgpuError `usage`, also for a date that does not exist.
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
		// If clocks skip the time today, and have already been set forward, the time means tomorrow.
		const isToCome = next > nowMs && (wallTime(next) === today || here < today);
		return (isToCome ? next : nextOf(today + dayMs, nowMs)) / 1000;
	}

	const {date, time = '00:00', offset} = datePattern.exec(typed)?.groups ?? {};
	if (date === undefined) {
		throw noTime(typed, flag);
	}

	const wall = wallTimeOf(date, time);
	const localInstant = flag === '--since' ? instantsOf(wall)[0]! : nextOf(wall, nowMs);
	const instant = offset === undefined ? localInstant : Date.parse(`${date}T${time}${offset}`);
	if (Number.isNaN(wall) || Number.isNaN(instant)) {
		throw noTime(typed, flag, 'There is no such date or time. ');
	}

	return instant / 1000;
}

type Since = {readonly seconds: number} | {readonly time: number};

/** Parses a past time: its age (`2h`, `7d`), or a local date and time (`2026-05-01`, `2026-05-01T18:30`). */
export function parseSince(typed: string, now = new Date()): Since {
	const isDate = /^\s*\d{4}-/v.test(typed);
	if (!isDate && !/^[\s\d+.dhms]+$/v.test(typed)) {
		throw noTime(typed.trim(), '--since');
	}

	if (!isDate) {
		return {seconds: parseDuration(typed, '--since')};
	}

	const time = parseTimeOfDay(typed, {flag: '--since', now});
	if (time * 1000 > now.getTime()) {
		throw new CanhazgpuError('usage', `--since: ${quoted(typed)} is in the future`, {
			hint: 'Write how long ago, such as 7d, or a date in the past.',
		});
	}

	return {time};
}
