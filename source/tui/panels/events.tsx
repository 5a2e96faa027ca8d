import {useCallback, type ReactElement} from 'react';
import {Box} from 'ink';
import {sanitize} from '../../format/text/text.js';
import {eventTime, shownEvents, type ShownEvent} from '../state/events.js';
import {useDispatch, useMonitor, useSettings} from '../state/use-monitor.js';
import type {Tone} from '../themes/tones.js';
import {Label} from '../widgets/label.js';
import {firstLine, ScrollLines} from '../widgets/scroll-lines.js';
import {PanelFrame, rangeText, type PanelProperties} from './shared/panel-frame.js';

const marks: Readonly<Record<ShownEvent['level'], readonly [word: string, tone: Tone]>> = {
	plain: ['', 'plain'],
	warning: ['WARN ', 'warning'],
	error: ['ERR ', 'error'],
};

function EventLine({time, words, level}: ShownEvent): ReactElement {
	const {isAscii} = useSettings();
	const at = useMonitor((state) => eventTime(time, state));
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
		<PanelFrame name="events" end={rangeText(first, first + shown.length, all.length)} width={width} rows={rows}>
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
					<Label tone="dim">nothing has happened yet</Label>
				) : (
					<Label tone="warning">{sanitize(problem)}</Label>
				)}
			</Box>
		</PanelFrame>
	);
}
