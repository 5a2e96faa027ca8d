import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';
import {Clickable, usePressKey} from '../mouse/clickable.js';
import type {Form as FormState, FormField} from '../state/dialogs.js';
import {useDispatch} from '../state/use-monitor.js';
import {Hint} from '../widgets/hint.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {TextInput} from '../widgets/text-input.js';
import {CommandText, DialogBox, DialogGap, Paragraph, useDialogWidth, useIsLow} from './dialog-box.js';

const labelWidth = 10;
/** Width of the field of a short value, in terminal columns. Longer text scrolls. */
const valueWidth = 10;
const textWidth = 40;

type FieldProperties = FormField & {readonly index: number; readonly isFocused: boolean};

function Field({kind, label, hint, field, index, isFocused}: FieldProperties): ReactElement {
	const dispatch = useDispatch();
	const press = usePressKey();
	const isLong = kind === 'text' && field.value !== '';
	const width = isLong ? textWidth : valueWidth;
	return (
		<Clickable
			onClick={() => {
				dispatch({kind: 'field-pointed', field: index});
				if (kind === 'check') {
					press(' ');
				}
			}}
		>
			<FixedLabel width={2} tone="key">
				{isFocused ? '>' : ' '}
			</FixedLabel>
			<FixedLabel width={labelWidth} tone={isFocused ? 'strong' : 'plain'}>
				{label}
			</FixedLabel>
			<Box width={width} flexShrink={0}>
				{kind === 'check' ? (
					<Label tone={isFocused ? 'marked' : 'plain'}>{field.value === '' ? '[ ]' : '[x]'}</Label>
				) : (
					<TextInput field={field} width={width} isFocused={isFocused} />
				)}
			</Box>
			{isLong ? undefined : (
				<Box marginLeft={2}>
					<Label tone="dim">{hint}</Label>
				</Box>
			)}
		</Clickable>
	);
}

function Complaint({complaint}: Pick<FormState, 'complaint'>): ReactElement | undefined {
	if (complaint === undefined) {
		return undefined;
	}

	const {message, hint = '', canWait = false} = complaint;
	return (
		<>
			<Paragraph tone="error" most={4} mostWhenLow={3}>
				{message}
			</Paragraph>
			{hint === '' ? undefined : (
				<Paragraph most={4} mostWhenLow={1}>
					{hint}
				</Paragraph>
			)}
			{canWait ? <Hint name="w" word="waits for them in the queue" /> : undefined}
		</>
	);
}

type Properties = {
	readonly form: FormState;
	readonly title: string;
	readonly children?: ReactNode;
};

export function Form({form, title, children}: Properties): ReactElement {
	const {fields, focused, complaint, isBusy} = form;
	const isLow = useIsLow();
	return (
		<DialogBox title={title} width={useDialogWidth()}>
			{children === undefined || (isLow && complaint !== undefined) ? undefined : (
				<Box flexDirection="column" flexShrink={0}>
					{children}
					<DialogGap />
				</Box>
			)}
			{fields.map((field, index) => (
				<Field key={field.name} {...field} index={index} isFocused={index === focused} />
			))}
			<DialogGap />
			<CommandText />
			{isBusy ? (
				<Label tone="dim">asking the pool</Label>
			) : complaint === undefined ? (
				// Keeps a line free for an error, so that the dialog does not change its height.
				<DialogGap />
			) : (
				<Complaint complaint={complaint} />
			)}
		</DialogBox>
	);
}
