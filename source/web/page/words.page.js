/** Numbers and times in words. What is unknown is a dash, never a zero. */

export const unknown = '–';

const pad = (value) => String(value).padStart(2, '0');

/** `45s`, `12m`, `1h 12m`, `3d 4h`. */
export function duration(milliseconds) {
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

export const sinceWords = (time, nowMs) => (time === undefined ? undefined : duration(nowMs - Date.parse(time)));

export const untilWords = (time, nowMs) => (time === undefined ? undefined : duration(Date.parse(time) - nowMs));

/** MiB as GB in the way GPUs are sold: `79.6 GB`. */
export const gigabytes = (mebibytes) => (mebibytes === undefined ? unknown : `${(mebibytes / 1024).toFixed(1)} GB`);

export const withUnit = (value, unit) => (value === undefined ? unknown : `${Math.round(value)}${unit}`);

export const percentOf = (part, whole) => (part === undefined || !(whole > 0) ? undefined : (part / whole) * 100);

export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

const dateAndTime = new Intl.DateTimeFormat(undefined, {
	month: 'short',
	day: 'numeric',
	hour: '2-digit',
	minute: '2-digit',
	hourCycle: 'h23',
});
const timeOfDay = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'});

export const moment = (time) => (time === undefined ? unknown : dateAndTime.format(new Date(time)));
export const clock = (time) => timeOfDay.format(new Date(time));

export const stateNames = {AVAILABLE: 'Available', IN_USE: 'In use', UNRESERVED: 'Unreserved', ERROR: 'Error'};
export const stateName = (status) => stateNames[status] ?? 'Error';

/** For one line under the name: what matters now. */
export function timeWords(gpu, nowMs) {
	if (gpu.held_for_queue !== undefined) {
		return 'held for a waiter';
	}

	const end = gpu.expiry_time ?? gpu.ends_by;
	const held = sinceWords(gpu.start_time, nowMs);
	if (gpu.status === 'IN_USE') {
		return end === undefined ? `for ${held ?? unknown}` : `for ${held ?? unknown} · ${untilWords(end, nowMs)} left`;
	}

	if (gpu.status === 'AVAILABLE') {
		return gpu.last_released === undefined ? 'never used' : `free for ${sinceWords(gpu.last_released, nowMs)}`;
	}

	return gpu.status === 'UNRESERVED' ? 'no reservation' : '';
}
