/** The options dialog. The screen behind it shows how the chosen theme and graphs look. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {Clickable, KeyButton} from '../mouse/clickable.js';
import {useDispatch, useMonitor} from '../state/use-monitor.js';
import {optionLines, type OptionLine} from '../state/view/options.js';
import type {OptionsDialog as Options} from '../state/view/state.js';
import {Hint} from '../widgets/hint.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {DialogBox, DialogGap} from './dialog-box.js';

const width = 66;
/** Width of the mark before the selected row, in terminal columns. */
const margin = 2;
const labelWidth = 10;
/** Width of the longest theme name with its arrows, in terminal columns. */
const valueWidth = 25;

const Arrow = ({sign, name}: {readonly sign: string; readonly name: string}): ReactElement => (
	<KeyButton name={name}>
		<Label tone="key">{sign}</Label>
	</KeyButton>
);

type RowProperties = OptionLine & {readonly index: number; readonly isSelected: boolean};

function OptionRow({label, value, present, count, index, isSelected}: RowProperties): ReactElement {
	const dispatch = useDispatch();
	const hasArrows = isSelected && count > 1;
	return (
		<Clickable
			onClick={() => {
				dispatch({kind: 'field-pointed', field: index});
			}}
		>
			<FixedLabel width={margin} tone="key">
				{isSelected ? '>' : ' '}
			</FixedLabel>
			<FixedLabel width={labelWidth} tone={isSelected ? 'strong' : 'plain'}>
				{label}
			</FixedLabel>
			<Box width={valueWidth} flexShrink={0}>
				{hasArrows ? <Arrow sign="< " name="left" /> : <Label>{'  '}</Label>}
				<Label tone={isSelected ? 'strong' : 'plain'}>{value}</Label>
				{hasArrows ? <Arrow sign=" >" name="right" /> : undefined}
			</Box>
			<Label tone="dim">{present === undefined ? '' : `now ${present}`}</Label>
		</Clickable>
	);
}

const Meaning = ({meaning, position, count}: OptionLine): ReactElement => (
	<Box paddingLeft={margin} gap={2} justifyContent="space-between" flexShrink={0}>
		<Label>{meaning}</Label>
		<FixedLabel tone="dim">{count > 1 ? `${position} of ${count}` : ''}</FixedLabel>
	</Box>
);

export function OptionsDialog({selected}: Options): ReactElement {
	const lines = useMonitor(optionLines);
	const line = lines.find(({name}) => name === selected);
	return (
		<DialogBox title="Options" width={width}>
			{lines.map((each, index) => (
				<OptionRow key={each.name} {...each} index={index} isSelected={each.name === selected} />
			))}
			<DialogGap />
			{line === undefined ? undefined : <Meaning {...line} />}
			<DialogGap />
			<Box paddingLeft={margin} flexShrink={0}>
				<Hint name="S" word="saves your changes to your config for next time" />
			</Box>
		</DialogBox>
	);
}
