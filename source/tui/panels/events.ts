/** The panel of the events, the newest first. */
import type {AuditEntry} from '../../core/model/types.js';
import {eventText} from '../../format/events.js';
import {sanitize} from '../../format/text/text.js';
import {remembering} from '../state/memo.js';
import type {State} from '../state/state.js';
import type {Room} from '../regions.js';
import {span, type Line, type Tone} from '../widgets/styled-text.js';
import {rangeText, windowOf, type PanelBody} from '../widgets/panel-frames.js';

type ShownEvent = {readonly time: number; readonly words: string; readonly tone: Tone};

/** Someone ought to do something about it. */
const isAlarming = ({kind, reason}: AuditEntry): boolean =>
	kind === 'unreserved' ||
	kind === 'squatter' ||
	(kind === 'overuse' && reason === undefined) ||
	(kind === 'health' && reason !== undefined);

/** Those of the pool and those of this monitor together, by time. */
const shownEvents = remembering(
	({events}: State) => [events],
	({events}): readonly ShownEvent[] =>
		[
			...events.entries.map((entry): ShownEvent => ({
				time: entry.time,
				words: eventText(entry),
				tone: isAlarming(entry) ? 'warning' : 'plain',
			})),
			...events.errors.map(({time, text}): ShownEvent => ({time, words: sanitize(text), tone: 'error'})),
		]
			.toReversed()
			.toSorted((a, b) => b.time - a.time),
);

/** How many lines there are to show. */
export const eventCount = (state: State): number => shownEvents(state).length;

const marks: Readonly<Partial<Record<Tone, string>>> = {warning: 'WARN ', error: 'ERR '};

const secondsPerDay = 86_400;

/** A time of day; of another day, how many days ago as well. */
function timeText(time: number, state: State): string {
	const days = Math.floor(((state.snapshot?.now ?? time) - time) / secondsPerDay);
	return state.settings.formatTime(time) + (days > 0 ? ` -${days}d` : '');
}

export function eventsPanel(state: State, {rows}: Pick<Room, 'rows'>): PanelBody {
	const all = shownEvents(state);
	const {problem} = state.events;
	const {from, to} = windowOf(state.panels.scroll.events, {total: all.length, shown: rows});
	const lines = all
		.slice(from, to)
		.map(({time, words, tone}): Line => [
			span(` ${timeText(time, state)} `, 'dim'),
			span(marks[tone] ?? '', tone),
			span(state.settings.isAscii ? words.replaceAll(' · ', ' - ') : words),
		]);
	const reason: readonly Line[] = problem === undefined ? [] : [[span(` ${sanitize(problem)}`, 'warning')]];
	const nothing: readonly Line[] = [[span(' nothing happened yet', 'dim')]];
	return {
		lines: lines.length > 0 ? lines : reason.length > 0 ? reason : nothing,
		end: rangeText(from, to, all.length),
	};
}
