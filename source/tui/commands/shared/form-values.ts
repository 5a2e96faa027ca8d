import {CanhazgpuError} from '../../../errors.js';
import {parseDuration, shortestHoldSeconds} from '../../../core/rules/leases/durations.js';
import type {Form} from '../../state/dialogs.js';

export const valueOf = ({fields}: Form, name: string): string =>
	fields.find((field) => field.name === name)?.field.value.trim() ?? '';

/**
Returns the value of the field `duration` in seconds.

@throws CanhazgpuError `usage` for an invalid or too short duration.
*/
export function secondsOf(form: Form): number {
	const seconds = parseDuration(valueOf(form, 'duration'), 'Duration');
	if (seconds < shortestHoldSeconds) {
		throw new CanhazgpuError('usage', 'Duration: less than a second', {hint: 'Write 30m, 2h, 1d or 1h30m.'});
	}

	return seconds;
}
