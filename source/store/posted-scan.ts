import {longestScan, type PostedScan} from '../core/model/ports.js';

/** Clocks are read a moment apart; a scan from further ahead is of no one's making. */
const toleranceSeconds = 1;

/**
Reads what is posted, `SECONDS TEXT`.

@returns Undefined when nothing is posted, or nothing that makes sense.
*/
export function parsePosted(stored: string | undefined, now: number): PostedScan | undefined {
	const {seconds, text} = /^(?<seconds>\d{1,12}(?:\.\d{1,9})?) (?<text>.*)$/sv.exec(stored ?? '')?.groups ?? {};
	return seconds === undefined || text === undefined ? undefined : postedScan(Number(seconds), text, now);
}

/** The same from its parts. */
export function postedScan(time: number, text: string, now: number): PostedScan | undefined {
	const ageSeconds = now - time;
	return text.length > longestScan || ageSeconds < -toleranceSeconds
		? undefined
		: {text, time, ageSeconds: Math.max(0, ageSeconds)};
}
