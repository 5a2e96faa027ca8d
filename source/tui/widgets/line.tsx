import {memo, type ReactElement} from 'react';
import {Text} from 'ink';
import {paintOf, type Theme} from '../theme.js';
import {merged, type Line as LineOfSpans} from './styled-text.js';

type Properties = {readonly line: LineOfSpans; readonly theme: Theme};

const isSame = (before: Properties, after: Properties): boolean =>
	before.theme === after.theme &&
	before.line.length === after.line.length &&
	before.line.every(
		({text, tone}, position) => text === after.line[position]!.text && tone === after.line[position]!.tone,
	);

/** The line with its colours. Left to Ink, each piece is styled in every frame; here, only when its line changes. */
const painted = (line: LineOfSpans, theme: Theme): string =>
	merged(line)
		.map(({text, tone}) => paintOf(tone, theme)(text))
		.join('');

/** One line of the screen. It is drawn again only when its text or its tones differ. */
const Line = memo(
	({line, theme}: Properties): ReactElement => <Text wrap="truncate">{painted(line, theme)}</Text>,
	isSame,
);

type LinesProperties = {readonly lines: readonly LineOfSpans[]; readonly theme: Theme};

export function Lines({lines, theme}: LinesProperties): ReactElement[] {
	// A line has no identity but its position: what stands in it changes.
	return lines.map((line, row) => <Line key={row} line={line} theme={theme} />);
}
