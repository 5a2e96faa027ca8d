/** What a dialog holds while it is open. What it will act on is captured when it opens: a lease, never a line of the table. */
import type {CommandPrompt, Output} from './command-line/state.js';
import type {ProcessRow} from './processes/state.js';
import type {ColumnsDialog} from './view/state.js';
import type {Complaint} from './messages.js';
import {presetField, type TextField} from './text-field.js';

/** What the dialogs of verbs share; beside it each holds what its verb is about. */
type VerbDialogBase = {
	/** The name of the verb that opened it. */
	readonly verb: string;
	/** The change was sent and not yet answered. */
	readonly isBusy: boolean;
};

export type FormField = {
	readonly name: string;
	/** Up and down change a count; a check is ticked; a text may be long. */
	readonly kind: 'count' | 'duration' | 'text' | 'check';
	readonly label: string;
	readonly hint: string;
	/** Of a count. */
	readonly most?: number;
	/** What the hint and the bound become as the fields are filled in. */
	readonly follow?: (values: Readonly<Record<string, string>>) => Pick<FormField, 'hint' | 'most'>;
	readonly field: TextField;
};

export type Form<About = unknown> = About &
	VerbDialogBase & {
		readonly kind: 'form';
		readonly fields: readonly FormField[];
		readonly focused: number;
		readonly complaint?: Complaint;
	};

/** Takes `y`, and nothing else, for yes. */
export type Confirmation<About = unknown> = About & VerbDialogBase & {readonly kind: 'confirmation'};

/** Takes `y` for yes as well, and has keys of its verb for choosing. */
export type Choice<About = unknown> = About & VerbDialogBase & {readonly kind: 'choice'};

/** Those that ask for something to be done. */
export type AskingDialog = Form | Confirmation | Choice | CommandPrompt;

/** One process, as it was when it was opened: what is known now is shown as long as it runs. */
export type ProcessView = {readonly kind: 'process'; readonly shown: ProcessRow};

export type Dialog = AskingDialog | Output | ProcessView | ColumnsDialog | {readonly kind: 'help'};

/** Narrows to those that ask for something to be done. */
export const isAsking = (dialog: Dialog | undefined): dialog is AskingDialog =>
	dialog !== undefined && !['help', 'output', 'process', 'columns'].includes(dialog.kind);

export type NewField = Omit<FormField, 'field'> & {readonly preset?: string};

export const formOf = <About extends Record<string, unknown>>(
	verb: string,
	about: About,
	fields: readonly NewField[],
): Form<About> => ({
	...about,
	kind: 'form',
	verb,
	fields: fields.map(({preset = '', ...field}) => ({...field, field: presetField(preset)})),
	focused: 0,
	isBusy: false,
});

export const ask = <About extends Record<string, unknown>>(verb: string, about: About): Confirmation<About> => ({
	...about,
	kind: 'confirmation',
	verb,
	isBusy: false,
});

export const choose = <About extends Record<string, unknown>>(verb: string, about: About): Choice<About> => ({
	...about,
	kind: 'choice',
	verb,
	isBusy: false,
});
