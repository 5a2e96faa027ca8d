import {lazy, Suspense, type ReactElement} from 'react';
import {Box, Text} from 'ink';
import type {State} from '../state/state.js';
import {lookOf, type Look} from '../theme.js';
import {linearLines} from '../screen-reader.js';
import {viewOf} from '../view/view.js';
import type {Line as LineOfSpans} from '../widgets/styled-text.js';
import {Line} from './line.js';

const ReportTable = lazy(async () => import('./report-table.js'));

type LinesProperties = {readonly lines: readonly LineOfSpans[]; readonly look: Look};

function Lines({lines, look}: LinesProperties): ReactElement[] {
	// A line of the screen is its place: what stands in it changes.
	return lines.map((line, row) => <Line key={row} line={line} look={look} />);
}

/** For a screen reader: one thing after another, in words. */
function LinearScreen({state}: {readonly state: State}): ReactElement {
	return (
		<Box flexDirection="column">
			{linearLines(state).map((line, row) => (
				<Text key={row}>{line}</Text>
			))}
		</Box>
	);
}

/** The whole screen: never taller or wider than the terminal, or Ink would clear and repaint it. */
function FullScreen({state}: {readonly state: State}): ReactElement {
	const {size, settings} = state;
	const {lines, overlay, table} = viewOf(state);
	const look = lookOf(settings);
	return (
		<Box flexDirection="column" width={size.columns} height={size.rows} overflow="hidden">
			<Lines lines={lines} look={look} />
			{table && (
				<Box position="absolute" flexDirection="column" top={table.top} left={table.left}>
					<Suspense fallback={undefined}>
						<ReportTable rows={table.rows} look={look} />
					</Suspense>
				</Box>
			)}
			{overlay && (
				<Box position="absolute" flexDirection="column" top={overlay.top} left={overlay.left}>
					<Lines lines={overlay.lines} look={look} />
				</Box>
			)}
		</Box>
	);
}

export function Screen({state}: {readonly state: State}): ReactElement {
	return state.settings.isLinear ? <LinearScreen state={state} /> : <FullScreen state={state} />;
}
