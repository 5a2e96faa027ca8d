/** Lines of styled text, before anything is drawn: what the view is made of and what tests read. */
import {truncate, widthOf} from '../../format/text/width.js';

/** Tenths of the whole. */
type Tenth = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

/** How much of the processors, or of the memory, is in use. */
export type LoadTone = `load-${Tenth}` | `memory-${Tenth}`;

/** The same as a bar on its track. */
export type BarTone = `${LoadTone}-bar`;

/** What a piece of text says about itself; theme.ts says how it is drawn. */
export type Tone =
	| LoadTone
	| BarTone
	| 'plain'
	| 'strong'
	| 'dim'
	| 'frame'
	/** The frame of the panel that the keys speak to. */
	| 'focus'
	| 'heading'
	| 'free'
	| 'mine'
	| 'others'
	| 'warning'
	| 'error'
	| 'success'
	| 'key'
	| 'marked';

/**
The tone of a share of the whole.

@param share - 0 to 1; what is more or less counts as its nearer end, and a share of nothing as none.
*/
export const loadTone = (of: 'load' | 'memory', share: number): LoadTone =>
	`${of}-${(share > 0 ? Math.min(10, Math.round(share * 10)) : 0) as Tenth}`;

export const barTone = (tone: LoadTone): BarTone => `${tone}-bar`;

/** Its spaces are seen, too. */
const hasGround = (tone: Tone): boolean => tone === 'marked' || tone.endsWith('-bar');

export type Span = {readonly text: string; readonly tone: Tone};

/** One line of the screen. */
export type Line = readonly Span[];

export const span = (text: string, tone: Tone = 'plain'): Span => ({text, tone});

export const lineText = (line: Line): string => line.map(({text}) => text).join('');

export const lineWidth = (line: Line): number => line.reduce((sum, {text}) => sum + widthOf(text), 0);

/** Exactly `columns` wide: cut at its end, or filled up with spaces. */
export function fitLine(line: Line, columns: number, ellipsis = '…'): Line {
	const fitted: Span[] = [];
	let room = columns;
	for (const {text, tone} of line) {
		const cut = truncate(text, room, ellipsis);
		fitted.push({text: cut, tone});
		room -= widthOf(cut);
		if (cut !== text) {
			break;
		}
	}

	return room > 0 ? [...fitted, span(' '.repeat(room))] : fitted;
}

/** `left` and `right` at the ends of a line; the left one gives way. */
export function spread(left: Line, right: Line, columns: number, ellipsis?: string): Line {
	const rightWidth = lineWidth(right);
	return rightWidth >= columns
		? fitLine(right, columns, ellipsis)
		: [...fitLine(left, columns - rightWidth, ellipsis), ...right];
}

/** The same text in one tone: for what is out of date. */
export const inTone = (line: Line, tone: Tone): Line => line.map(({text}) => ({text, tone}));

/** A selected line stands out, beside its mark. */
export const inBold = (line: Line): Line =>
	line.map(({text, tone}) => ({text, tone: tone === 'plain' ? 'strong' : tone}));

/** Puts a separator between pieces that are not empty. */
export const joined = (pieces: readonly Line[], separator = '  '): Line =>
	pieces
		.filter((piece) => piece.length > 0)
		.flatMap((piece, position) => (position === 0 ? piece : [span(separator), ...piece]));

/** What looks the same in fewer pieces, each of which costs time to draw. Space has no letters to be coloured. */
export function merged(line: Line): Line {
	const pieces: Span[] = [];
	for (const piece of line) {
		const last = pieces.at(-1);
		const isSpace = (): boolean => !hasGround(piece.tone) && !hasGround(last!.tone) && piece.text.trimStart() === '';
		if (last !== undefined && (last.tone === piece.tone || isSpace())) {
			pieces[pieces.length - 1] = span(last.text + piece.text, last.tone);
		} else {
			pieces.push(piece);
		}
	}

	return pieces;
}
