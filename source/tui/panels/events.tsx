import type {ReactElement} from 'react';
import {Box} from 'ink';
import {sanitize} from '../../format/text/text.js';
import {eventTime, shownEvents, type ShownEvent} from '../state/events.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import type {Tone} from '../themes/tones.js';
import {Label} from '../widgets/label.js';
import {PanelFrame, useScroll, type PanelProperties} from './shared/panel-frame.js';

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
	const all = useMonitor(shownEvents);
	const problem = useMonitor(({events}) => events.problem);
	const {first, to, range} = useScroll('events', all.length, rows);
	return (
		<PanelFrame name="events" end={range} width={width} rows={rows}>
			<Box flexDirection="column" paddingLeft={1} height={all.length > 0 ? rows : undefined}>
				{all.length > 0 ? (
					all.slice(first, to).map((event, index) => <EventLine key={index} {...event} />)
				) : problem === undefined ? (
					<Label tone="dim">nothing has happened yet</Label>
				) : (
					<Label tone="warning">{sanitize(problem)}</Label>
				)}
			</Box>
		</PanelFrame>
	);
}
