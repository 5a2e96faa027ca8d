import {memo, type ReactElement} from 'react';
import {Text} from 'ink';
import {styleOf, type Theme} from '../theme.js';
import {merged, type Line as LineOfSpans} from './styled-text.js';

type Properties = {readonly line: LineOfSpans; readonly theme: Theme};

const isSame = (before: Properties, after: Properties): boolean =>
	before.theme === after.theme &&
	before.line.length === after.line.length &&
	before.line.every(
		({text, tone}, position) => text === after.line[position]!.text && tone === after.line[position]!.tone,
	);

/** One line of the screen. It is drawn again only when its text or its tones differ. */
const Line = memo(
	({line, theme}: Properties): ReactElement => (
		<Text wrap="truncate">
			{merged(line).map(({text, tone}, position) => (
				// A piece has no identity but its place.
				<Text key={position} {...styleOf(tone, theme)}>
					{text}
				</Text>
			))}
		</Text>
	),
	isSame,
);

type LinesProperties = {readonly lines: readonly LineOfSpans[]; readonly theme: Theme};

export function Lines({lines, theme}: LinesProperties): ReactElement[] {
	// A line has no identity but its place: what stands in it changes.
	return lines.map((line, row) => <Line key={row} line={line} theme={theme} />);
}
