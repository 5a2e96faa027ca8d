/** The state of a GPU as the monitor shows it. It is more detailed than in `status` or on the dashboard. */
import {idleGraceSeconds, isCalledIdle} from '../../../core/rules/usage/idle.js';
import {owns} from '../../../core/rules/leases/ownership.js';
import {shownStateOf, type StatusRow} from '../../../core/rules/pool/status.js';
import type {Lease, Requester} from '../../../core/model/types.js';
import {roughDuration} from '../../../format/text/durations.js';
import {states, type MonitorState} from '../../../format/states.js';

export const byUrgency: readonly MonitorState[] = [
	'error',
	'unreserved',
	'mine',
	'waiting',
	'idle',
	'in-use',
	'unknown',
	'drained',
	'available',
];

const leasesOf = ({lease, shares = []}: StatusRow): readonly Lease[] =>
	lease === undefined ? shares.map((share) => share.lease) : [lease];

export const isMine = (row: StatusRow, requester: Requester): boolean =>
	leasesOf(row).some((lease) => owns(requester, lease));

const isIdle = ({lease, use, heldSeconds, processes, idleSeconds}: StatusRow): boolean =>
	isCalledIdle({
		type: lease?.type,
		heldSeconds,
		idleSeconds,
		isUnused: use.kind === 'idle' && processes.every(({kind}) => kind === 'graphics'),
	});

/** Returns `Idle 6h`. Returns `Idle` if it is not known yet for how long the GPU has been idle. */
export const idleWord = (idleSeconds = 0): string =>
	idleSeconds < idleGraceSeconds ? states.idle.short : `${states.idle.short} ${roughDuration(idleSeconds)}`;

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

export function stateName(row: StatusRow, requester: Requester, isScanned: boolean): string {
	const state = monitorStateOf(row, requester, isScanned);
	return state === 'idle' ? idleWord(row.idleSeconds) : states[state].short;
}
