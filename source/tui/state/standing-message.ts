import {recentLoss} from '../../core/rules/pool/alerts.js';
import {dataLossText} from '../../format/data-loss.js';
import {policyProblemText} from '../../format/policy.js';
import {shortDuration} from '../../format/text/durations.js';
import {ownIdleWords, ownLimitWords} from './gpus/idle.js';
import type {Flash} from './messages.js';
import type {State} from './state.js';

export type Message = Omit<Flash, 'level' | 'untilMs' | 'ends'> & {readonly level: Flash['level'] | 'waiting'};

/** Returns a message about a problem that lasts, or about a request of this monitor that is waiting. */
export function standingMessage(state: State): Message | undefined {
	const {connection, snapshot, observation, scanFailure, nowMs, settings} = state;
	if (connection.kind === 'lost') {
		// The message does not contain the time, because the header shows it.
		return {level: 'warning', text: `${connection.reason} - changes are disabled`};
	}

	if (scanFailure !== undefined) {
		const readings =
			observation === undefined
				? 'no readings yet'
				: `readings are ${shortDuration((nowMs - observation.takenAtMs) / 1000)} old`;
		return {
			level: 'warning',
			text: [`GPU scan failed: ${scanFailure.message} (${readings})`, scanFailure.hint].filter(Boolean).join('. '),
		};
	}

	if (connection.kind === 'connecting' && settings.hasNoPool !== true) {
		return {level: 'ok', text: `reading the pool in ${settings.storeLocation}`};
	}

	const back = ownIdleWords(state) ?? ownLimitWords(state);
	if (back !== undefined) {
		return {level: 'warning', text: back};
	}

	const [wait, ...others] = state.waits;
	if (wait !== undefined) {
		return {level: 'waiting', text: wait.words + (others.length > 0 ? ` (and ${others.length} more)` : '')};
	}

	const loss = snapshot && recentLoss(snapshot);
	const text = loss ? dataLossText(loss, settings.formatTime) : snapshot && policyProblemText(snapshot);
	return text === undefined ? undefined : {level: 'warning', text};
}
