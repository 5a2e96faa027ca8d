import type {AuditEntry} from '../../core/model/types.js';
import {eventText} from '../../format/events.js';
import {sanitize} from '../../format/text/text.js';
import {remembering} from './memo.js';
import type {State} from './state.js';

export type ShownEvent = {
	/** Seconds since the epoch. */
	readonly time: number;
	readonly words: string;
	readonly level: 'plain' | 'warning' | 'error';
};

const isAlarming = ({kind, reason}: AuditEntry): boolean =>
	kind === 'unreserved' ||
	kind === 'squatter' ||
	(kind === 'overuse' && reason === undefined) ||
	(kind === 'health' && reason !== undefined);

/** Returns the events of the pool and the errors that this monitor has shown, newest first. */
export const shownEvents = remembering(
	({events}: State) => [events],
	({events}): readonly ShownEvent[] =>
		[
			...events.entries.map((entry): ShownEvent => ({
				time: entry.time,
				words: eventText(entry),
				level: isAlarming(entry) ? 'warning' : 'plain',
			})),
			...events.errors.map(({time, text}): ShownEvent => ({time, words: sanitize(text), level: 'error'})),
		]
			.toReversed()
			.toSorted((a, b) => b.time - a.time),
);

const secondsPerDay = 86_400;

/** Returns the time of day. For an earlier day, adds the number of days since then. */
export function eventTime(time: number, state: State): string {
	const days = Math.floor(((state.snapshot?.now ?? time) - time) / secondsPerDay);
	return state.settings.formatTime(time) + (days > 0 ? ` -${days}d` : '');
}
