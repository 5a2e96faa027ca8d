/** The command line at the foot of the screen, and the panel with what a command printed. */
import type {Complaint} from '../dialogs.js';
import {fieldOf, type TextField} from '../text-field.js';

export type CommandPrompt = {
	readonly kind: 'command';
	readonly field: TextField;
	/** Lines that were typed before, newest last. */
	readonly history: readonly string[];
	/** Which of them is shown; undefined: what is being typed. */
	readonly place?: number;
	/** What was being typed before the history was looked through. */
	readonly draft: string;
	/** What Tab found, when it was more than one. */
	readonly candidates: readonly string[];
	readonly complaint?: Complaint;
	readonly isBusy: boolean;
};

/** What a command printed, to be scrolled. */
export type Output = {
	readonly kind: 'output';
	readonly title: string;
	readonly lines: readonly string[];
	/** First line and first column shown. */
	readonly top: number;
	readonly left: number;
};

export const commandPrompt = (history: readonly string[]): CommandPrompt => ({
	kind: 'command',
	field: fieldOf(''),
	history,
	draft: '',
	candidates: [],
	isBusy: false,
});

export const outputOf = (title: string, lines: readonly string[]): Output => ({
	kind: 'output',
	title,
	lines,
	top: 0,
	left: 0,
});

/** The part of the line that Tab completes. */
export const beforeCaret = ({value, caret}: TextField): string => [...value].slice(0, caret).join('');
