/** The column chooser: which columns of the GPU table are shown, and in which order. The table changes immediately. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {gpuColumns} from '../panels/gpus/columns.js';
import {firstLine, rangeText} from '../panels/shared/panel-frame.js';
import {useMonitor} from '../state/use-monitor.js';
import {listedColumns, type ColumnsDialog as Columns} from '../state/view/state.js';
import {remembering} from '../state/memo.js';
import type {State} from '../state/state.js';
import {Hint} from '../widgets/hint.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {DialogBox} from './dialog-box.js';

const width = 58;
const titleWidth = 9;

/** Lines of the screen that the list must not cover: the message, the keys, the head of the table and the dialog's own lines. */
const otherRows = 10;

const listed = remembering(
	({view, observation}: State) => [view, observation],
	(state) => listedColumns(state),
);

export function ColumnsDialog({selected}: Columns): ReactElement {
	const {shown, all} = useMonitor(listed);
	const {rows: screenRows} = useMonitor(({size}) => size);
	const rows = Math.max(3, Math.min(all.length, screenRows - otherRows));
	const first = firstLine(selected - Math.floor(rows / 2), all.length, rows);
	return (
		<DialogBox title="Columns of the GPUs" width={width} end={rangeText(first, first + rows, all.length)}>
			{all.slice(first, first + rows).map((name, index) => {
				const isSelected = first + index === selected;
				const {title, meaning} = gpuColumns[name];
				return (
					<Box key={name} flexShrink={0}>
						<Label tone="key">{isSelected ? '> ' : '  '}</Label>
						<Label tone={isSelected ? 'strong' : 'plain'}>{shown.includes(name) ? '[x] ' : '[ ] '}</Label>
						<FixedLabel width={titleWidth} tone={isSelected ? 'strong' : 'plain'}>
							{title.trim()}
						</FixedLabel>
						<Label tone="dim">{meaning}</Label>
					</Box>
				);
			})}
			<Label> </Label>
			<Hint name="S" word="saves them to your config for next time" />
		</DialogBox>
	);
}
