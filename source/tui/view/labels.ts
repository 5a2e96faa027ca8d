/** One GPU of the table in words: what state it is in and who has it. */
import {owns} from '../../core/rules/leases/ownership.js';
import type {StatusRow} from '../../core/rules/pool/status.js';
import type {Requester} from '../../core/model/types.js';
import {roughDuration, shortDuration} from '../../format/text/durations.js';
import {userWords} from '../../format/status-labels.js';
import {sanitize} from '../../format/text/text.js';
import {span, type Span} from '../widgets/styled-text.js';

/** An end nearer than this is marked. */
const soonSeconds = 15 * 60;
/** A reservation may take this long to get going before it is called idle. */
const graceSeconds = 10 * 60;
/** Hotter than this is marked. */
export const hotCelsius = 80;

export const isMine = (row: StatusRow, requester: Requester): boolean =>
	row.lease !== undefined && owns(requester, row.lease);

/** Held for a while, and nothing runs on it: manual leases as soon as that is seen, jobs once they have been watched doing nothing. */
export const isIdle = ({lease, use, heldSeconds = 0, processes, idleSeconds = 0}: StatusRow): boolean =>
	lease?.type === 'manual'
		? use.kind === 'idle' && processes.length === 0 && heldSeconds >= graceSeconds
		: idleSeconds >= graceSeconds;

/** `IDLE-6h`; `IDLE` while nobody has watched it for long enough to say how long. */
const idleWord = ({idleSeconds = 0}: StatusRow): string =>
	idleSeconds < graceSeconds ? 'IDLE' : `IDLE-${roughDuration(idleSeconds)}`;

/** Nobody new gets it: drained by hand, or unfit. */
export const isOutOfService = ({drain, health}: Pick<StatusRow, 'drain' | 'health'>): boolean =>
	drain !== undefined || health.length > 0;

/** What is wrong with a GPU that still answers, or why it was taken out of service. */
export function serviceWords({drain, health}: Pick<StatusRow, 'drain' | 'health'>): Span | undefined {
	const [problem] = health;
	if (problem !== undefined) {
		return span(sanitize(problem.words), 'error');
	}

	if (drain === undefined) {
		return undefined;
	}

	const by = drain.by === undefined ? '' : ` by ${sanitize(drain.by)}`;
	return span(`drained${by}${drain.reason === undefined ? '' : `: ${sanitize(drain.reason)}`}`, 'warning');
}

export function stateWord(row: StatusRow, requester: Requester, isScanned: boolean): Span {
	switch (row.state) {
		case 'available': {
			return row.health.length > 0
				? span('UNFIT', 'error')
				: row.drain === undefined
					? span('FREE', 'free')
					: span('DRAINED', 'warning');
		}

		case 'unreserved': {
			return span('UNRESERVED', 'warning');
		}

		case 'error': {
			return isScanned ? span('ERROR', 'error') : span('unknown', 'dim');
		}

		case 'in-use': {
			if (row.lease?.partialQueueId !== undefined) {
				return span('waiting', 'others');
			}

			if (isMine(row, requester)) {
				return span('mine', 'mine');
			}

			return isIdle(row) ? span(idleWord(row), 'warning') : span('reserved', 'others');
		}
	}
}

export function ownerWords(row: StatusRow, requester: Requester): Span {
	if (row.owner !== undefined) {
		return span(userWords(row), isMine(row, requester) ? 'mine' : 'plain');
	}

	// The question mark: they use it, and nothing says that they may.
	return row.state === 'unreserved' ? span(`${userWords(row)}?`, 'warning') : span('-', 'dim');
}

/** When it ends: a time, or with its job. */
export function endWords({lease, remainingSeconds}: StatusRow): Span {
	if (lease === undefined) {
		return span('-', 'dim');
	}

	if (lease.partialQueueId !== undefined) {
		return span('queued');
	}

	if (remainingSeconds === undefined) {
		return span(lease.type === 'run' ? 'on-exit' : 'never');
	}

	return remainingSeconds < soonSeconds
		? span(`!${shortDuration(remainingSeconds)}`, 'warning')
		: span(shortDuration(remainingSeconds));
}
