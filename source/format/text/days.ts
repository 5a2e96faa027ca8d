/** A day of this machine's time zone: its name, and when the next begins. */
export function localDay(time: number): {readonly key: string; readonly next: number} {
	const date = new Date(time * 1000);
	const pad = (value: number): string => String(value).padStart(2, '0');
	const key = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
	return {key, next: new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime() / 1000};
}
