import process from 'node:process';
import type {ProcessIdentity} from '../../core/model/types.js';
import {ownUid} from '../accounts/users.js';
import {liveness} from './processes.js';
import {ownerOfProcess} from './files.js';

/** The result of sending a signal. `gone`: the process has ended, and another process may have its pid. */
type SignalOutcome = 'sent' | 'gone' | 'not-yours' | 'unknown';

/** Sends a signal to a process, but never to one of another account (even as root) or one whose start time is unknown or different. 0 only checks. */
export function sendSignal(identity: ProcessIdentity, signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 0): SignalOutcome {
	const {pid, startTicks} = identity;
	if (startTicks === undefined) {
		return 'unknown';
	}

	// The owner is read before the start time is compared, so the comparison fails if another process has taken the pid.
	const owner = ownerOfProcess(pid);
	const [state] = liveness([identity]);
	if (state === 'dead' || state === 'unknown') {
		return state === 'dead' ? 'gone' : 'unknown';
	}

	if (owner === undefined || owner !== ownUid()) {
		return 'not-yours';
	}

	try {
		process.kill(pid, signal);
		return 'sent';
	} catch (error) {
		const {code} = error as NodeJS.ErrnoException;
		return code === 'ESRCH' ? 'gone' : 'not-yours';
	}
}
