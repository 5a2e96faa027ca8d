import type {ReactElement} from 'react';
import {Box, Text} from 'ink';
import {placedDialog} from '../dialogs/dialog.js';
import {isTooSmall, smallest} from '../layout.js';
import {linearLines} from '../screen-reader.js';
import {rowsOf, type State} from '../state/state.js';
import {themeOf} from '../theme.js';
import {footerLine} from '../panels/footer.js';
import {hostsHeadLines} from '../panels/hosts-head.js';
import {headerLine, summaryLine} from '../panels/header.js';
import {messageLine} from '../panels/message.js';
import {glyphsOf} from '../widgets/drawing.js';
import {Lines} from '../widgets/line.js';
import {Panel} from '../widgets/panel.js';
import {block} from '../widgets/panel-frames.js';
import {span, type Line} from '../widgets/styled-text.js';
import {Body} from './body.js';

type Properties = {readonly state: State};

/** For a screen reader: one thing after another, in words. */
function LinearScreen({state}: Properties): ReactElement {
	return (
		<Box flexDirection="column">
			{linearLines(state).map((line, row) => (
				<Text key={row}>{line}</Text>
			))}
		</Box>
	);
}

/** What stands over the panels. */
function Dialog({state}: Properties): ReactElement | undefined {
	const {size, settings} = state;
	const glyphs = glyphsOf(state);
	const placed = placedDialog(state);
	if (placed === undefined) {
		return undefined;
	}

	const {title, lines, end, width, height, top, left} = placed;
	const theme = themeOf(settings);
	// A blank at either side: frames below end there, and do not run into the dialog's.
	const margin = block([], height, width + 2);
	return (
		<>
			<Box position="absolute" flexDirection="column" top={top} left={left - 1}>
				<Lines lines={margin} theme={theme} />
			</Box>
			<Panel
				top={top}
				left={left}
				title={[span(title, 'strong')]}
				end={end}
				lines={lines.map((line) => [span(' '), ...line])}
				width={width}
				rows={Math.min(lines.length, size.rows - 1)}
				tone="focus"
				hasBottom={lines.length + 2 <= size.rows}
				theme={theme}
				glyphs={glyphs}
			/>
		</>
	);
}

/** The two lines on top. */
const headLines = (state: State): readonly Line[] =>
	state.panels.focus === 'hosts' ? hostsHeadLines(state) : [headerLine(state), summaryLine(rowsOf(state), state)];

/** What is left when there is no room for more. Its footer names the keys that still work. */
function smallLines(state: State): readonly Line[] {
	const {columns, rows: height} = state.size;
	const need = `need ${smallest.columns}x${smallest.rows}, have ${columns}x${height}`;
	const beside: State = {...state, size: {...state.size, columns: Math.max(0, columns - need.length - 3)}};
	const words = [span(' '), span(need, 'warning'), span('  '), ...footerLine(beside)];
	const waits: readonly Line[] = state.waits.length > 0 ? [[span(' Quitting leaves the queue', 'warning')]] : [];
	const lines = height < 2 ? [words] : [headLines(state)[1]!, words, ...waits];
	return block(lines, height, columns, glyphsOf(state).ellipsis);
}

/**
The whole screen: never taller or wider than the terminal, or Ink would clear and repaint it. Every line is cut where it is made: to have Ink
clip them once more would take a quarter of the time of a frame.
*/
function FullScreen({state}: Properties): ReactElement {
	const {size, settings} = state;
	const theme = themeOf(settings);
	return (
		<Box flexDirection="column" width={size.columns} height={size.rows}>
			{isTooSmall(state) ? (
				<Lines lines={smallLines(state)} theme={theme} />
			) : (
				<>
					<Lines lines={headLines(state)} theme={theme} />
					<Body state={state} />
					<Lines lines={[messageLine(state), footerLine(state)]} theme={theme} />
					<Dialog state={state} />
				</>
			)}
		</Box>
	);
}

export function Screen({state}: Properties): ReactElement {
	return state.settings.isLinear ? <LinearScreen state={state} /> : <FullScreen state={state} />;
}
