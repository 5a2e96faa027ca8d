import type {Silence} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';

/** Reads the watch over a silent holder. One that cannot be read is none: another is begun in its place, and no GPU is lost for that. */
export function readSilence(fields: Fields): Silence | undefined {
	const silence = fields.object('silence');
	const clock = silence?.anyText('clock');
	const seconds = silence?.anyNumber('seconds');
	const since = silence?.anyNumber('since');
	const lastHeartbeat = silence?.anyNumber('last_heartbeat');
	return clock === undefined || seconds === undefined || since === undefined
		? undefined
		: {clock, seconds, since, ...(lastHeartbeat !== undefined && {lastHeartbeat})};
}

/** The same, to be written. */
export const silenceRecord = (silence: Silence | undefined): Readonly<Record<string, unknown>> | undefined =>
	silence && {
		clock: silence.clock,
		seconds: silence.seconds,
		since: silence.since,
		last_heartbeat: silence.lastHeartbeat,
	};
