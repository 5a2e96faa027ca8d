/** A day of this machine's time zone: its name, and when the next begins. */
export function localDay(time: number): {readonly key: string; readonly next: number} {
	const date = new Date(time * 1000);
	const pad = (value: number): string => String(value).padStart(2, '0');
	const key = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
	return {key, next: new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime() / 1000};
}

/** A time of day here, to the minute, with its date where that is not today's: `15:20`, `2026-05-01 15:20`. */
export function clockTime(time: number, now: number): string {
	const date = new Date(time * 1000);
	const clock = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
	const {key} = localDay(time);
	return key === localDay(now).key ? clock : `${key} ${clock}`;
}
