/** The state of a GPU as the monitor tells it, finer than what every face tells. */
import {owns} from '../../../core/rules/leases/ownership.js';
import {shownStateOf, type StatusRow} from '../../../core/rules/pool/status.js';
import type {Lease, Requester} from '../../../core/model/types.js';
import {roughDuration} from '../../../format/text/durations.js';
import {states, type MonitorState} from '../../../format/states.js';

/** A reservation may take this long to get going before it is called idle. */
const graceSeconds = 10 * 60;

/** All leases on a GPU. */
const leasesOf = ({lease, shares = []}: StatusRow): readonly Lease[] =>
	lease === undefined ? shares.map((share) => share.lease) : [lease];

export const isMine = (row: StatusRow, requester: Requester): boolean =>
	leasesOf(row).some((lease) => owns(requester, lease));

/** Held for a while, and nothing runs on it: manual leases as soon as that is seen, jobs once they have been watched doing nothing. */
export const isIdle = ({lease, use, heldSeconds = 0, processes, idleSeconds = 0}: StatusRow): boolean =>
	lease?.type === 'manual'
		? use.kind === 'idle' && processes.length === 0 && heldSeconds >= graceSeconds
		: idleSeconds >= graceSeconds;

/** `Idle 6h`; `Idle` while nobody has watched it for long enough to say how long. */
const idleWord = ({idleSeconds = 0}: StatusRow): string =>
	idleSeconds < graceSeconds ? states.idle.short : `${states.idle.short} ${roughDuration(idleSeconds)}`;

export function monitorStateOf(row: StatusRow, requester: Requester, isScanned: boolean): MonitorState {
	const state = shownStateOf(row);
	if (state === 'error' && !isScanned) {
		return 'unknown';
	}

	if (state !== 'in-use') {
		return state;
	}

	if (row.lease?.partialQueueId !== undefined) {
		return 'waiting';
	}

	return isMine(row, requester) ? 'mine' : isIdle(row) ? 'idle' : state;
}

/** The state in words. */
export function stateName(row: StatusRow, requester: Requester, isScanned: boolean): string {
	const state = monitorStateOf(row, requester, isScanned);
	return state === 'idle' ? idleWord(row) : states[state].short;
}
