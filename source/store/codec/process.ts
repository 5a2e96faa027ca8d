import type {ProcessIdentity} from '../../core/types.js';
import type {Fields} from './fields.js';

/** Reads a process from the two fields that hold its pid and its start time. */
export function readProcess(fields: Fields, pidName: string, startName: string): ProcessIdentity | undefined {
	const pid = fields.whole(pidName);
	const startTicks = fields.whole(startName);
	return pid === undefined ? undefined : startTicks === undefined ? {pid} : {pid, startTicks};
}
