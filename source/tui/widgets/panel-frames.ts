/** Rules, and the edges of frames, around lines. */
import type {Glyphs} from './glyphs.js';
import {fitLine, lineWidth, span, type Line, type Tone} from './styled-text.js';

/** Exactly `rows` lines of exactly `width`: what is too long is cut, what is missing is empty. */
export const block = (lines: readonly Line[], rows: number, width: number, ellipsis?: string): readonly Line[] =>
	Array.from({length: rows}, (_, row) => fitLine(lines[row] ?? [], width, ellipsis));

/** A horizontal line with words in it: `-- title ------ end --`. */
export function rule(width: number, glyphs: Glyphs, title: Line = [], end = ''): Line {
	const dashes = (length: number): Line => [span(glyphs.horizontal.repeat(Math.max(0, length)), 'frame')];
	const right: Line = end === '' ? [] : [span(` ${end} `), ...dashes(2)];
	const room = width - lineWidth(right);
	const words = fitLine(title, Math.min(lineWidth(title), Math.max(0, room - 6)), glyphs.ellipsis);
	const left: Line = title.length === 0 ? [] : [...dashes(2), span(' '), ...words, span(' ')];
	return [...left, ...dashes(room - lineWidth(left)), ...right];
}

const cornersOf = ({topLeft, topRight, leftJoint, rightJoint}: Glyphs) =>
	({
		top: [topLeft, topRight],
		'left joined': [leftJoint, topRight],
		'right joined': [topLeft, rightJoint],
		'both joined': [leftJoint, rightJoint],
	}) as const;

export type Corners = keyof ReturnType<typeof cornersOf>;

/** A panel's frame, and that of the panel or the dialog that the keys speak to. */
export type FrameTone = Extract<Tone, 'frame' | 'focus'>;

type Edge = {
	readonly title?: Line;
	readonly end?: string;
	/** Joined to the sides of the panel above. */
	readonly corners?: Corners;
	readonly tone?: FrameTone;
};

/** The top of a frame, with its title. */
export function edge(width: number, glyphs: Glyphs, {title = [], end, corners = 'top', tone = 'frame'}: Edge): Line {
	const [left, right] = cornersOf(glyphs)[corners];
	const [first, ...rest] = rule(width - 1, glyphs, title, end);
	const line = fitLine([span(left + first!.text.slice(1), first!.tone), ...rest, span(right, 'frame')], width);
	return line.map((piece) => (piece.tone === 'frame' ? span(piece.text, tone) : piece));
}

/** What stands in a panel. */
export type PanelContent = {
	readonly title: Line;
	/** At the other end of the title. */
	readonly end?: string;
	readonly lines: readonly Line[];
	/** The keys speak to it. */
	readonly isFocused: boolean;
};
