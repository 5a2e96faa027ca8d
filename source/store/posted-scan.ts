import {longestScan, type PostedScan} from '../core/model/ports.js';

/** How far in the future a scan may be, because two processes read the clock at different moments. */
const toleranceSeconds = 1;

/** Parses a posted scan, `SECONDS TEXT`. Undefined if there is none or if it is invalid. */
export function parsePosted(stored: string | undefined, now: number): PostedScan | undefined {
	const {seconds, text} = /^(?<seconds>\d{1,12}(?:\.\d{1,9})?) (?<text>.*)$/sv.exec(stored ?? '')?.groups ?? {};
	return seconds === undefined || text === undefined ? undefined : postedScan(Number(seconds), text, now);
}

export function postedScan(time: number, text: string, now: number): PostedScan | undefined {
	const ageSeconds = now - time;
	return text.length > longestScan || ageSeconds < -toleranceSeconds
		? undefined
		: {text, time, ageSeconds: Math.max(0, ageSeconds)};
}
