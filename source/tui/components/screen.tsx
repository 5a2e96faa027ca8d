import type {ReactElement} from 'react';
import {Box} from 'ink';
import type {State} from '../state.js';
import {viewOf} from '../view/view.js';
import type {Line as LineOfSpans} from '../view/spans.js';
import {Line} from './line.js';

type LinesProperties = {readonly lines: readonly LineOfSpans[]; readonly hasColor: boolean};

function Lines({lines, hasColor}: LinesProperties): ReactElement[] {
	// A line of the screen is its place: what stands in it changes.
	return lines.map((line, row) => <Line key={row} line={line} hasColor={hasColor} />);
}

/** The whole screen: never taller or wider than the terminal, or Ink would clear and repaint it. */
export function Screen({state}: {readonly state: State}): ReactElement {
	const {size, settings} = state;
	const {lines, overlay} = viewOf(state);
	return (
		<Box flexDirection="column" width={size.columns} height={size.rows} overflow="hidden">
			<Lines lines={lines} hasColor={settings.hasColor} />
			{overlay && (
				<Box position="absolute" flexDirection="column" top={overlay.top} left={overlay.left}>
					<Lines lines={overlay.lines} hasColor={settings.hasColor} />
				</Box>
			)}
		</Box>
	);
}
