import {useCallback, type ReactElement} from 'react';
import {Box} from 'ink';
import type {AuditEntry} from '../../core/model/types.js';
import {eventText} from '../../format/events.js';
import {sanitize} from '../../format/text/text.js';
import {remembering} from '../state/memo.js';
import type {State} from '../state/state.js';
import {useDispatch, useMonitor, useSettings} from '../state/use-monitor.js';
import type {Tone} from '../themes/tones.js';
import {Label} from '../widgets/label.js';
import {firstLine, ScrollLines} from '../widgets/scroll-lines.js';
import {PanelFrame, rangeText, type PanelProperties} from './shared/panel-frame.js';

export type ShownEvent = {
	/** Seconds since the epoch. */
	readonly time: number;
	readonly words: string;
	readonly level: 'plain' | 'warning' | 'error';
};

/** Whether an event needs somebody's attention. */
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

const marks: Readonly<Record<ShownEvent['level'], readonly [word: string, tone: Tone]>> = {
	plain: ['', 'plain'],
	warning: ['WARN ', 'warning'],
	error: ['ERR ', 'error'],
};

const secondsPerDay = 86_400;

/** Returns the time of day. For an earlier day, adds how many days ago. */
function timeText(time: number, state: State): string {
	const days = Math.floor(((state.snapshot?.now ?? time) - time) / secondsPerDay);
	return state.settings.formatTime(time) + (days > 0 ? ` -${days}d` : '');
}

function EventLine({time, words, level}: ShownEvent): ReactElement {
	const {isAscii} = useSettings();
	const at = useMonitor((state) => timeText(time, state));
	const [mark, tone] = marks[level];
	return (
		<Label>
			<Label tone="dim">{at} </Label>
			<Label tone={tone}>{mark}</Label>
			{isAscii ? words.replaceAll(' · ', ' - ') : words}
		</Label>
	);
}

export function EventsPanel({width, rows}: PanelProperties): ReactElement {
	const dispatch = useDispatch();
	const all = useMonitor(shownEvents);
	const problem = useMonitor(({events}) => events.problem);
	const scroll = useMonitor(({panels}) => panels.scroll.events);
	const first = firstLine(scroll, all.length, rows);
	const shown = all.slice(first, first + rows);
	const limitScroll = useCallback(
		(last: number) => {
			dispatch({kind: 'scroll-limited', panel: 'events', beyond: scroll, first: last});
		},
		[dispatch, scroll],
	);
	return (
		<PanelFrame
			name="events"
			title="Events"
			end={rangeText(first, first + shown.length, all.length)}
			width={width}
			rows={rows}
		>
			<Box flexDirection="column" paddingLeft={1}>
				{all.length > 0 ? (
					<ScrollLines
						lines={all.map((event, index) => (
							<EventLine key={index} {...event} />
						))}
						rows={rows}
						scroll={scroll}
						onBeyond={limitScroll}
					/>
				) : problem === undefined ? (
					<Label tone="dim">nothing happened yet</Label>
				) : (
					<Label tone="warning">{sanitize(problem)}</Label>
				)}
			</Box>
		</PanelFrame>
	);
}
