/** What another host's `status --json` says, in the words of this API: so the page shows every box in the same way. */
import {timestamp} from '../format/durations.js';
import {sanitize} from '../format/text.js';

type Row = Readonly<Record<string, unknown>>;

const longestText = 500;

/** Texts of other hosts are whatever they are: harmless here, at whatever depth. */
export function harmless(value: unknown, depth = 0): unknown {
	if (typeof value === 'string') {
		return sanitize(value).slice(0, longestText);
	}

	if (typeof value !== 'object' || value === null || depth > 4) {
		return typeof value === 'object' ? undefined : value;
	}

	return Array.isArray(value)
		? value.map((item) => harmless(item, depth + 1))
		: Object.fromEntries(Object.entries(value).map(([key, inner]) => [sanitize(key), harmless(inner, depth + 1)]));
}

/** `1h 2m 15s` in seconds; undefined for anything else. */
export function secondsOf(duration: unknown): number | undefined {
	const {h, m, s} = /^(?<h>\d{1,7})h (?<m>\d{1,2})m (?<s>\d{1,2})s$/v.exec(String(duration))?.groups ?? {};
	return h === undefined ? undefined : Number(h) * 3600 + Number(m) * 60 + Number(s);
}

/** The peer writes this for a time that is not set. */
const setTime = (time: unknown): unknown => (String(time).startsWith('0001-') ? undefined : time);

/**
@param now - Seconds since the epoch, for the start of what has lasted for a while.
*/
export function fromCommandRow(row: Row, now: number): Row {
	const {type, duration, validation, model, details, ...same} = harmless(row) as Record<string, unknown>;
	const seconds = secondsOf(duration);
	const freeFor =
		typeof details === 'string' ? secondsOf(/^free for (?<time>.*)$/v.exec(details)?.groups?.['time']) : undefined;
	const {last_released: released, last_heartbeat: heartbeat, expiry_time: expiry} = same;
	return {
		...same,
		reservation_type: typeof type === 'string' ? type.toLowerCase() : undefined,
		duration: seconds === undefined ? undefined : seconds * 1e9,
		start_time: seconds === undefined ? undefined : timestamp(Math.floor(now - seconds)),
		last_released: setTime(released) ?? (freeFor === undefined ? undefined : timestamp(Math.floor(now - freeFor))),
		last_heartbeat: setTime(heartbeat),
		expiry_time: setTime(expiry),
		validation_info: validation,
		model_info: model,
	};
}
