import {memo, type ReactElement} from 'react';
import {Text} from 'ink';
import {styleOf, type Look} from '../theme.js';
import {merged, type Line as LineOfSpans} from './styled-text.js';

type Properties = {readonly line: LineOfSpans; readonly look: Look};

const isSame = (before: Properties, after: Properties): boolean =>
	before.look === after.look &&
	before.line.length === after.line.length &&
	before.line.every(
		({text, tone}, position) => text === after.line[position]!.text && tone === after.line[position]!.tone,
	);

/** One line of the screen. It is drawn again only when its text or its tones differ. */
const Line = memo(
	({line, look}: Properties): ReactElement => (
		<Text wrap="truncate">
			{merged(line).map(({text, tone}, position) => (
				// A piece has no identity but its place.
				<Text key={position} {...styleOf(tone, look)}>
					{text}
				</Text>
			))}
		</Text>
	),
	isSame,
);

type LinesProperties = {readonly lines: readonly LineOfSpans[]; readonly look: Look};

export function Lines({lines, look}: LinesProperties): ReactElement[] {
	// A line has no identity but its place: what stands in it changes.
	return lines.map((line, row) => <Line key={row} line={line} look={look} />);
}
