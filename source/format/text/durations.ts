export const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** Returns `1h 2m 15s` or `0h 0m 5s`, the Go program's format, which scripts parse. */
export function longDuration(seconds: number): string {
	const whole = Math.max(0, Math.floor(seconds));
	return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m ${whole % 60}s`;
}

/** Returns a configured duration with fractions of a second: `0h 0m 0.3s`. */
export const setDuration = (seconds: number): string =>
	[...longDuration(seconds).split(' ').slice(0, -1), `${Number((seconds % 60).toPrecision(6))}s`].join(' ');

/** Returns at most six characters, for the monitor: `45s`, `12m`, `1h12m`, `3d04h`. */
export function shortDuration(seconds: number): string {
	const whole = Math.max(0, Math.floor(seconds));
	if (whole < 60) {
		return `${whole}s`;
	}

	if (whole < 3600) {
		return `${Math.floor(whole / 60)}m`;
	}

	return whole < 100 * 3600
		? `${Math.floor(whole / 3600)}h${twoDigits(Math.floor((whole % 3600) / 60))}m`
		: `${Math.floor(whole / 86_400)}d${twoDigits(Math.floor((whole % 86_400) / 3600))}h`;
}

/** Returns one unit in at most four characters: `45s`, `12m`, `47h`, `3d`. */
export function roughDuration(seconds: number): string {
	const whole = Math.max(0, Math.floor(seconds));
	if (whole < 60) {
		return `${whole}s`;
	}

	if (whole < 3600) {
		return `${Math.floor(whole / 60)}m`;
	}

	return whole < 48 * 3600 ? `${Math.floor(whole / 3600)}h` : `${Math.floor(whole / 86_400)}d`;
}

/** Returns the shortest exact form that a user could type: `8h`, `1h30m`, `45s`. */
export function typedDuration(seconds: number): string {
	let rest = Math.max(1, Math.round(seconds));
	let text = '';
	for (const [unit, size] of [
		['d', 86_400],
		['h', 3600],
		['m', 60],
		['s', 1],
	] as const) {
		const amount = Math.floor(rest / size);
		rest -= amount * size;
		text += amount > 0 ? `${amount}${unit}` : '';
	}

	return text;
}

/** Returns the shortest form of a scan interval that a user could type: `0.5s`, `2s`, `1m30s`. */
export const intervalText = (milliseconds: number): string =>
	milliseconds % 1000 === 0 ? typedDuration(milliseconds / 1000) : `${Number((milliseconds / 1000).toFixed(3))}s`;

/** Returns RFC 3339 in UTC, with milliseconds only if necessary. */
export const timestamp = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

export const optionalTimestamp = (seconds: number | undefined): string | undefined =>
	seconds === undefined ? undefined : timestamp(seconds);
