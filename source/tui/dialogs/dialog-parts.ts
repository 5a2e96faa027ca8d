/** What all dialogs are put together from. */
import {sanitize} from '../../format/text/text.js';
import {wrap} from '../../format/text/width.js';
import type {AskingDialog} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {equivalentCommand} from '../verbs/request.js';
import type {Glyphs} from '../widgets/glyphs.js';
import {span, type Line, type Tone} from '../widgets/styled-text.js';

export type DialogView = {
	readonly title: string;
	readonly lines: readonly Line[];
	readonly width: number;
	/** On the right of its upper edge. */
	readonly end?: string;
};

/** The words of a dialog that asks for something. */
export type DialogText = {
	readonly title: string;
	/** What it is about. */
	readonly lines: readonly Line[];
	/** Undefined for a form, which asks by its fields. */
	readonly question?: string;
	/** As wide as dialogs may be, unless given. */
	readonly width?: number;
	readonly end?: string;
};

const widest = 84;
/** The sides of the frame, and a space at each. */
export const sides = 4;

export const dialogWidth = ({size}: State): number => Math.min(widest, size.columns - 2);

/** Text that may need several lines. */
export const paragraph = (text: string, tone: Tone, state: State, glyphs: Glyphs): readonly Line[] =>
	wrap(text, dialogWidth(state) - sides, 4, glyphs.ellipsis).map((line) => [span(line, tone)]);

/** The command that does the same. */
export const commandLines = (dialog: AskingDialog, state: State, glyphs: Glyphs): readonly Line[] =>
	paragraph(`$ ${sanitize(equivalentCommand(dialog, state.settings.requester))}`, 'key', state, glyphs);

export const asking: Line = [span('asking the pool', 'dim')];
