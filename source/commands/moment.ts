import {CanhazgpuError} from '../errors.js';

/**
Reads a time of day (`18:30`, the next one) or a date and time (`2026-05-01T18:30`, with or without an offset), in this machine's
time zone unless it says otherwise.

@returns Seconds since the epoch.
@throws CanhazgpuError `usage`.
*/
export function parseMoment(text: string, now = new Date()): number {
	const trimmed = text.trim();
	const clock = /^(?<hours>\d{1,2}):(?<minutes>\d{2})$/v.exec(trimmed)?.groups;
	if (clock && Number(clock['hours']) < 24 && Number(clock['minutes']) < 60) {
		const moment = new Date(now);
		moment.setHours(Number(clock['hours']), Number(clock['minutes']), 0, 0);
		if (moment <= now) {
			moment.setDate(moment.getDate() + 1);
		}

		return moment.getTime() / 1000;
	}

	const isDate = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?(?:Z|[+\-]\d{2}:\d{2})?)?$/v.test(trimmed);
	// A date alone means its midnight here; the language would take it for UTC.
	const milliseconds = isDate
		? Date.parse(trimmed.length === 10 ? `${trimmed}T00:00` : trimmed.replace(' ', 'T'))
		: NaN;
	if (Number.isNaN(milliseconds)) {
		throw new CanhazgpuError('usage', `--until: ${JSON.stringify(trimmed)} is not a time`, {
			hint: 'Write 18:30, 2026-05-01 or 2026-05-01T18:30.',
		});
	}

	return milliseconds / 1000;
}
