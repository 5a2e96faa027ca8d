/** What all dialogs are put together from. */
import {wrap} from '../../format/text/width.js';
import type {Glyphs} from './drawing.js';
import {span, type Line, type Tone} from './styled-text.js';

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
/** What the width of a dialog depends on. */
type Screen = {readonly size: {readonly columns: number}};

/** The sides of the frame, and a space at each. */
export const sides = 4;

export const dialogWidth = ({size}: Screen): number => Math.min(widest, size.columns - 2);

/** Of one text. */
const mostLines = 4;

/** Text that may need several lines. */
export const paragraph = (
	{text, tone, most = mostLines}: {readonly text: string; readonly tone: Tone; readonly most?: number},
	screen: Screen,
	glyphs: Glyphs,
): readonly Line[] => wrap(text, dialogWidth(screen) - sides, most, glyphs.ellipsis).map((line) => [span(line, tone)]);

/** Of a question about one thing. */
export const questionWidth = (screen: Screen): number => Math.min(66, dialogWidth(screen));

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
