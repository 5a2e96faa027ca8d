/** The daily quiet time, in which notices wait. Uses the local time of this machine. */

/** Minutes since midnight. `until` can be on the next day: `22:00-07:00`. */
export type QuietTime = {readonly from: number; readonly until: number};

const pattern = /^(?<from>\d{1,2}:\d{2})\s*-\s*(?<until>\d{1,2}:\d{2})$/v;

function minutesOf(time: string): number | undefined {
	const [hours, minutes] = time.split(':').map(Number) as [number, number];
	return hours < 24 && minutes < 60 ? hours * 60 + minutes : undefined;
}

/** Parses `22:00-07:00`. Returns undefined for other texts, and for a quiet time that starts and ends at the same time. */
export function parseQuietTime(text: string): QuietTime | undefined {
	const {from: first = '', until: last = ''} = pattern.exec(text.trim())?.groups ?? {};
	const from = minutesOf(first);
	const until = minutesOf(last);
	return from === undefined || until === undefined || from === until ? undefined : {from, until};
}

const clockText = (minutes: number): string =>
	[Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');

export const quietTimeText = ({from, until}: QuietTime): string => `${clockText(from)}-${clockText(until)}`;

/** Returns when the quiet time that contains this moment ends, in seconds since the epoch. Undefined outside of the quiet time. */
export function quietEnd(seconds: number, {from, until}: QuietTime): number | undefined {
	const date = new Date(seconds * 1000);
	const minute = date.getHours() * 60 + date.getMinutes();
	const isAfterStart = minute >= from;
	const isBeforeEnd = minute < until;
	if (from < until ? !isAfterStart || !isBeforeEnd : !isAfterStart && !isBeforeEnd) {
		return undefined;
	}

	const days = isBeforeEnd ? 0 : 1;
	const end = new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, Math.floor(until / 60), until % 60);
	// When clocks are set back, a time of day occurs twice in one night. The quiet time ends at the first occurrence.
	return end.getTime() > date.getTime() ? end.getTime() / 1000 : undefined;
}

/** Returns the end of the quiet time if `time` is in it and the end is not after `latest`. Otherwise returns `time`. */
export function afterQuiet(time: number, quiet: QuietTime | undefined, latest: number): number {
	const end = quiet === undefined ? undefined : quietEnd(time, quiet);
	return end === undefined || end > latest ? time : end;
}
