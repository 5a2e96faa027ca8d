/** A dialog that asks a question. Only `y` means yes. */
import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';
import {KeyButton} from '../mouse/clickable.js';
import {Label} from '../widgets/label.js';
import {CommandText, DialogBox, DialogGap, Paragraph, useDialogWidth} from './dialog-box.js';

const Answer = ({letter, name}: {readonly letter: string; readonly name: string}): ReactElement => (
	<KeyButton name={name}>
		<Label tone="warning">{letter}</Label>
	</KeyButton>
);

export const Question = ({children}: {readonly children: string}): ReactElement => (
	<Box flexShrink={0}>
		<Label tone="strong">{children} </Label>
		<Answer letter="y" name="y" />
		<Label tone="warning">/</Label>
		<Answer letter="N" name="n" />
	</Box>
);

/** The question before the monitor quits and its waiting requests leave the queue. */
export const quitQuestion = 'Leave the queue and quit?';

/** Width of the dialog if the question is about one thing. */
const questionWidth = 66;

type Properties = {
	readonly title: string;
	readonly question: string;
	readonly warning?: string;
	readonly end?: string;
	readonly isBusy: boolean;
	/** Whether the dialog is as wide as a form. Set for dialogs that contain a list. */
	readonly isWide?: boolean;
	readonly children?: ReactNode;
};

export function Confirm({title, question, warning, end, isBusy, isWide = false, children}: Properties): ReactElement {
	const width = useDialogWidth(isWide ? undefined : questionWidth);
	return (
		<DialogBox title={title} width={width} end={end}>
			{children}
			{warning === undefined ? (
				<DialogGap />
			) : (
				<Paragraph tone="warning" most={2} mostWhenLow={2}>
					{warning}
				</Paragraph>
			)}
			{isBusy ? <Label tone="dim">asking the pool</Label> : <Question>{question}</Question>}
			<DialogGap />
			<CommandText />
		</DialogBox>
	);
}
