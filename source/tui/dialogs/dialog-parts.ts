/** What all dialogs are put together from. */
import {wrap} from '../../format/text/width.js';
import type {State} from '../state/state.js';
import type {Glyphs} from '../widgets/glyphs.js';
import {span, type Line, type Tone} from '../widgets/styled-text.js';

export type DialogView = {
	readonly title: string;
	readonly lines: readonly Line[];
	readonly width: number;
	/** On the right of its upper edge. */
	readonly end?: string;
	/** The first of its lines that is a field of a form; the others follow. */
	readonly fieldsFrom?: number;
	/** Where it asks for yes or no: the line, and the cells of both letters in it. */
	readonly question?: {readonly line: number; readonly yes: number; readonly no: number};
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

/** Of a question about one thing. */
export const questionWidth = (state: State): number => Math.min(66, dialogWidth(state));

/** What a question is about, and what to mind. */
export const aboutAndWarning = (
	about: readonly Line[],
	warning: string | undefined,
	width: number,
	glyphs: Glyphs,
): readonly Line[] => [
	...about,
	...(warning === undefined
		? [[]]
		: wrap(warning, width - sides, 2, glyphs.ellipsis).map((line): Line => [span(line, 'warning')])),
];
