import {afterQuiet, type QuietTime} from './quiet.js';

export const noticeEvents = ['expiry', 'idle', 'granted', 'overuse', 'job-ended', 'squatter'] as const;

export type NoticeEvent = (typeof noticeEvents)[number];

/** The events that cause notices if `notify.events` is not set. */
export const usualEvents: readonly NoticeEvent[] = ['expiry', 'idle', 'granted', 'overuse'];

export type NoticeKind =
	| 'ending'
	| 'idle'
	| 'beyond-limit'
	| 'parked'
	| 'reclaimed'
	| 'served'
	| 'overuse'
	| 'job-ended'
	| 'squatter'
	| 'test';

/** The event of each kind of notice. Undefined for a notice that is always sent because somebody asked for it. */
const events: Readonly<Record<NoticeKind, NoticeEvent | undefined>> = {
	ending: 'expiry',
	idle: 'idle',
	'beyond-limit': 'idle',
	parked: 'idle',
	reclaimed: 'idle',
	served: 'granted',
	overuse: 'overuse',
	'job-ended': 'job-ended',
	squatter: 'squatter',
	test: undefined,
};

/** The kinds of notices that can wait for the end of the quiet time, because the pool records that they are still due. */
const waiting: ReadonlySet<NoticeKind> = new Set(['ending', 'parked', 'reclaimed', 'overuse', 'squatter']);

export type NoticePreferences = {
	readonly events: readonly NoticeEvent[];
	readonly quiet?: QuietTime | undefined;
};

export const usualPreferences: NoticePreferences = {events: usualEvents};

export function isWanted(kind: NoticeKind, preferences: NoticePreferences): boolean {
	const event = events[kind];
	return event === undefined || preferences.events.includes(event);
}

type Moment = {
	readonly due: number;
	readonly now: number;
	/** The last moment at which the notice is useful. If the quiet time ends later, the notice is sent during the quiet time. */
	readonly latest?: number;
};

/**
Returns when to send a notice. A notice that is due in the quiet time is sent at the end of the quiet time if
possible. Undefined if the notice is not wanted.
*/
export function timeToSend(
	kind: NoticeKind,
	{due, now, latest = Infinity}: Moment,
	preferences: NoticePreferences,
): number | undefined {
	if (!isWanted(kind, preferences)) {
		return undefined;
	}

	const time = Math.max(due, now);
	return waiting.has(kind) ? afterQuiet(time, preferences.quiet, latest) : time;
}
