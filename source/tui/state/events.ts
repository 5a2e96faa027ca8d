/** What happened to the pool, and what went wrong in this monitor: the events that are shown. */
import type {AuditEntry} from '../../core/model/types.js';

/** So many are kept; `canhazgpu events` has them all. */
export const mostEvents = 300;

/** An error that was shown here. */
export type OwnError = {readonly time: number; readonly text: string};

export type Events = {
	/** Oldest first. */
	readonly entries: readonly AuditEntry[];
	readonly errors: readonly OwnError[];
	/** Why the entries cannot be read. */
	readonly problem?: string;
};

export const emptyEvents: Events = {entries: [], errors: []};

export type EventUpdates =
	/** All that are known. */
	| {readonly kind: 'events-arrived'; readonly entries: readonly AuditEntry[]}
	| {readonly kind: 'events-lost'; readonly reason: string};

export function withEventUpdates(events: Events, update: EventUpdates): Events {
	if (update.kind === 'events-lost') {
		return events.problem === update.reason ? events : {...events, problem: update.reason};
	}

	return {...events, problem: undefined, entries: update.entries.slice(-mostEvents)};
}
