/** The state of open dialogs. A dialog stores its lease when it opens, because the row in the table can change. */
import type {ReserveField} from '../../format/reservation-form.js';
import type {CommandPrompt, Output} from './command-line/state.js';
import type {ProcessRow} from './processes/state.js';
import type {ColumnsDialog, OptionsDialog} from './view/state.js';
import type {Complaint} from './messages.js';
import {presetField, type TextField} from './text-field.js';

type AskingDialogBase = {
	/** The name of the command that opened the dialog. */
	readonly command: string;
	/** Whether a request was sent and has not been answered yet. */
	readonly isBusy: boolean;
};

/** A field of a form. Up and Down change a `count`, a `check` is on or off, and a `text` can be long. */
export type FormField = Omit<ReserveField, 'preset'> & {readonly field: TextField};

export type Form<About = unknown> = About &
	AskingDialogBase & {
		readonly kind: 'form';
		readonly fields: readonly FormField[];
		readonly focused: number;
		readonly complaint?: Complaint;
	};

/** A dialog in which only `y` means yes. */
export type Confirmation<About = unknown> = About & AskingDialogBase & {readonly kind: 'confirmation'};

/** A dialog in which `y` means yes and other keys change the choice. The command of the dialog defines these keys. */
export type Choice<About = unknown> = About & AskingDialogBase & {readonly kind: 'choice'};

export type AskingDialog = Form | Confirmation | Choice | CommandPrompt;

/** The dialog about a process. Shows the current values or, after the process has ended, `shown`: the values from when the dialog opened. */
export type ProcessView = {readonly kind: 'process'; readonly shown: ProcessRow};

export type Dialog = AskingDialog | Output | ProcessView | ColumnsDialog | OptionsDialog | {readonly kind: 'help'};

export const isAsking = (dialog: Dialog | undefined): dialog is AskingDialog =>
	dialog !== undefined && !['help', 'output', 'process', 'columns', 'options'].includes(dialog.kind);

/** Whether the dialog asks whether to leave the queue and quit. */
export const isQuitQuestion = (dialog: Dialog | undefined): boolean =>
	dialog?.kind === 'confirmation' && dialog.command === 'quit';

export const formOf = <About extends Record<string, unknown>>(
	command: string,
	about: About,
	fields: readonly ReserveField[],
): Form<About> => ({
	...about,
	kind: 'form',
	command,
	fields: fields.map(({preset = '', ...field}) => ({...field, field: presetField(preset)})),
	focused: 0,
	isBusy: false,
});

export const ask = <About extends Record<string, unknown>>(command: string, about: About): Confirmation<About> => ({
	...about,
	kind: 'confirmation',
	command,
	isBusy: false,
});

export const choose = <About extends Record<string, unknown>>(command: string, about: About): Choice<About> => ({
	...about,
	kind: 'choice',
	command,
	isBusy: false,
});
