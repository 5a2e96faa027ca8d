/** Numbers and times in words. What is unknown is a dash, never a zero. */
import type {Gpu} from './fields.js';

export const unknown = '–';

const pad = (value: number): string => String(value).padStart(2, '0');

/** `45s`, `12m`, `1h 12m`, `3d 4h`. */
export function duration(milliseconds: number): string {
	const seconds = Math.max(0, Math.floor(milliseconds / 1000));
	if (seconds < 60) {
		return `${seconds}s`;
	}

	if (seconds < 3600) {
		return `${Math.floor(seconds / 60)}m`;
	}

	return seconds < 86_400
		? `${Math.floor(seconds / 3600)}h ${pad(Math.floor((seconds % 3600) / 60))}m`
		: `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`;
}

export const sinceWords = (time: string, nowMs: number): string => duration(nowMs - Date.parse(time));

export const untilWords = (time: string, nowMs: number): string => duration(Date.parse(time) - nowMs);

/** MiB as GB in the way GPUs are sold: `79.6 GB`. */
export const gigabytes = (mebibytes: number | undefined): string =>
	mebibytes === undefined ? unknown : `${(mebibytes / 1024).toFixed(1)} GB`;

export const withUnit = (value: number | undefined, unit: string): string =>
	value === undefined ? unknown : `${Math.round(value)}${unit}`;

export const percentOf = (part: number | undefined, whole: number | undefined): number | undefined =>
	part === undefined || whole === undefined || !(whole > 0) ? undefined : (part / whole) * 100;

export const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

const dateAndTime = new Intl.DateTimeFormat(undefined, {
	month: 'short',
	day: 'numeric',
	hour: '2-digit',
	minute: '2-digit',
	hourCycle: 'h23',
});
const hoursAndMinutes = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'});

export const dateWords = (time: string | number): string => dateAndTime.format(new Date(time));
export const timeOfDay = (timeMs: number): string => hoursAndMinutes.format(new Date(timeMs));

export const stateNames: Readonly<Record<string, string>> = {
	AVAILABLE: 'Available',
	IN_USE: 'In use',
	UNRESERVED: 'Unreserved',
	ERROR: 'Error',
};
export const stateName = (status: string): string => stateNames[status] ?? 'Error';

/** What matters now of the time of a GPU, for one line beside its user. */
export function timeWords(gpu: Gpu, nowMs: number): string {
	if (gpu.held_for_queue !== undefined) {
		return 'held for a waiter';
	}

	if (gpu.status === 'IN_USE') {
		const end = gpu.expiry_time ?? gpu.ends_by;
		const held = gpu.start_time === undefined ? unknown : sinceWords(gpu.start_time, nowMs);
		return end === undefined ? `for ${held}` : `for ${held} · ${untilWords(end, nowMs)} left`;
	}

	if (gpu.status === 'AVAILABLE') {
		return gpu.last_released === undefined ? 'never used' : `free for ${sinceWords(gpu.last_released, nowMs)}`;
	}

	return gpu.status === 'UNRESERVED' ? 'no reservation' : '';
}
