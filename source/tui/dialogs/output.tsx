/** Shows the output of a `:` command, which can be scrolled. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {sanitize} from '../../format/text/text.js';
import {rangeText} from '../panels/shared/panel-frame.js';
import {outputRowsOf} from '../state/command-line/reduce.js';
import type {Output} from '../state/command-line/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {useDrawing} from '../themes/drawing-context.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {DialogBox} from './dialog-box.js';

/** Matches control characters, which could disturb the screen. Needed only if a command has not removed them. */
const active = /[\p{Bidi_Control}\p{Control}]/gv;

/** Returns a line of a table for a screen reader: the texts of the cells, without the characters that draw the lines of the table. */
const withoutRules = (text: string): string =>
	text
		.replaceAll(/[─┼]{2,}/gv, '')
		.split('│')
		.map((cell) => cell.trim())
		.join(', ');

export function OutputDialog({title, top, left, lines, chosen, tones}: Output): ReactElement {
	const rows = useMonitor(outputRowsOf);
	const {columns} = useMonitor(({size}) => size);
	const {frame} = useDrawing();
	const shown = lines.slice(top, top + rows);
	return (
		<DialogBox
			title={sanitize(title)}
			width={columns - 2}
			end={rangeText(top, Math.min(lines.length, top + rows), lines.length)}
		>
			{shown.map((text, row) => {
				const harmless = [...text.replaceAll(active, '')].slice(left).join('');
				const words = frame === 'plain' ? withoutRules(harmless) : harmless;
				const isChosen = chosen === top + row;
				return (
					<Box key={row} height={1} flexShrink={0}>
						{chosen === undefined ? undefined : <FixedLabel tone="key">{isChosen ? '>' : ' '}</FixedLabel>}
						<Label tone={isChosen ? 'strong' : (tones.get(top + row) ?? 'plain')}>{words}</Label>
					</Box>
				);
			})}
		</DialogBox>
	);
}
