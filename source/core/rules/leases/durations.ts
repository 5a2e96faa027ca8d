import {CanhazgpuError, quoted} from '../../../errors.js';

const secondsPerUnit: Readonly<Record<string, number>> = {s: 1, m: 60, h: 3600, d: 86_400};

/** A hundred years. Longer durations are typing errors, and the Go program, which counts nanoseconds, would overflow. */
export const longestSeconds = 100 * 365 * 86_400;

/** The shortest time for which a GPU can be held, because the store keeps whole seconds. */
export const shortestHoldSeconds = 1;

/**
Parses a duration such as `30m`, `1d`, `0.5h` or `1h30m` into seconds. Throws `usage` for zero and for an invalid
text. `what` names the value in the error.
*/
export function parseDuration(text: string, what: string): number {
	const hint = 'Write a number and a unit: 30s, 30m, 2h, 1d, 0.5h or 1h30m.';
	const trimmed = text.trim();
	if (/^\d+(?:\.\d+)?$/v.test(trimmed) && Number(trimmed) > 0) {
		throw new CanhazgpuError('usage', `${what}: ${quoted(trimmed)} has no unit`, {
			hint: `Did you mean ${trimmed}m (minutes) or ${trimmed}h (hours)?`,
		});
	}

	if (!/^\+?(?:(?:\d+(?:\.\d*)?|\.\d+)[dhms])+$/v.test(trimmed)) {
		throw new CanhazgpuError('usage', `${what}: ${quoted(trimmed)} is not a duration`, {hint});
	}

	let seconds = 0;
	let previousUnit = Infinity;
	for (const part of trimmed.replace(/^\+/v, '').split(/(?<=[dhms])/v)) {
		const unitSeconds = secondsPerUnit[part.at(-1)!]!;
		if (unitSeconds >= previousUnit) {
			throw new CanhazgpuError('usage', `${what}: ${quoted(trimmed)} repeats a unit, or its units are out of order`, {
				hint: 'Write each unit once, the largest first: 1d12h30m.',
			});
		}

		previousUnit = unitSeconds;
		seconds += Number(part.slice(0, -1)) * unitSeconds;
	}

	if (!(seconds > 0)) {
		throw new CanhazgpuError('usage', `${what} must be more than zero, not ${quoted(trimmed)}`, {
			hint: 'Write 30s, 30m, 2h, 1d, 0.5h or 1h30m.',
		});
	}

	if (seconds > longestSeconds) {
		throw new CanhazgpuError('usage', `${what}: ${quoted(trimmed)} is longer than a hundred years`, {
			hint: 'The longest is 36500d.',
		});
	}

	return seconds;
}

/** Parses how long GPUs are held. Throws like {@link parseDuration}, and for less than a second. */
export function parseHold(text: string, what: string): number {
	const seconds = parseDuration(text, what);
	if (seconds < shortestHoldSeconds) {
		throw new CanhazgpuError('usage', `${what}: ${quoted(text.trim())} is less than a second`, {
			hint: 'Write 30s, 30m, 2h, 1d, 0.5h or 1h30m.',
		});
	}

	return seconds;
}

export const secondsOf = (text: string): number | undefined => {
	try {
		return parseDuration(text, '');
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return undefined;
		}

		throw error;
	}
};
