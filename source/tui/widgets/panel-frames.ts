/** Rules, and the edges of frames, around lines. */
import {widthOf} from '../../format/text/width.js';
import type {Glyphs} from './drawing.js';
import {fitLine, lineWidth, span, type Line, type Span, type Tone} from './styled-text.js';

/** Exactly `rows` lines of exactly `width`: what is too long is cut, what is missing is empty. */
export const block = (lines: readonly Line[], rows: number, width: number, ellipsis?: string): readonly Line[] =>
	Array.from({length: rows}, (_, row) => fitLine(lines[row] ?? [], width, ellipsis));

/** Blocks of lines beside one another; what is missing below a short one is left out, so that it comes last. */
export const sideBySide = (blocks: ReadonlyArray<readonly Line[]>, separator: Span): readonly Line[] =>
	Array.from({length: Math.max(0, ...blocks.map(({length}) => length))}, (_, row) =>
		blocks.flatMap((lines, index) => [...(index === 0 ? [] : [separator]), ...(lines[row] ?? [])]),
	);

/** A horizontal line with words in it: `-- title ------ end --`. */
export function rule(width: number, glyphs: Glyphs, title: Line = [], end = ''): Line {
	const dashes = (length: number): Line => [span(glyphs.horizontal.repeat(Math.max(0, length)), 'frame')];
	const right: Line = end === '' ? [] : [span(` ${end} `), ...dashes(2)];
	const room = width - lineWidth(right);
	const words = fitLine(title, Math.min(lineWidth(title), Math.max(0, room - 6)), glyphs.ellipsis);
	const left: Line = title.length === 0 ? [] : [...dashes(2), span(' '), ...words, span(' ')];
	return [...left, ...dashes(room - lineWidth(left)), ...right];
}

/** What stands in a corner of a frame. */
type Corner = Exclude<keyof Glyphs, 'horizontal' | 'vertical' | 'branch' | 'ellipsis' | 'caret'>;

export type Corners = readonly [left: Corner, right: Corner];

/** A panel's frame, and that of the panel or the dialog that the keys speak to. */
export type FrameTone = Extract<Tone, 'frame' | 'focus'>;

type Edge = {
	readonly title?: Line;
	readonly end?: string;
	/** Joints, where panels stand beside it or above it. */
	readonly corners?: Corners;
	readonly tone?: FrameTone;
	readonly joint?: Joint;
};

/** Where the sides of two panels above meet an edge, in cells from its left end; what is left and right of it is the lower edge of each. */
export type Joint = {readonly at: number; readonly left: FrameTone; readonly right: FrameTone};

/** The frame of a line in other tones on both sides of a joint, and the joint itself unless a title stands there. */
function withJoint(line: Line, {at, left, right}: Joint, {horizontal, upJoint}: Glyphs): Line {
	let start = 0;
	return line.flatMap((piece) => {
		const from = start;
		const width = widthOf(piece.text);
		start += width;
		if (piece.tone !== 'frame') {
			return [piece];
		}

		const offset = Math.max(0, Math.min(width, at - from));
		const [before, after] = [piece.text.slice(0, offset), piece.text.slice(offset)];
		const joined = from <= at && after.startsWith(horizontal) ? upJoint + after.slice(1) : after;
		return [span(before, left), span(joined, right)].filter(({text}) => text !== '');
	});
}

/** The top of a frame, with its title. */
export function edge(
	width: number,
	glyphs: Glyphs,
	{title = [], end, corners = ['topLeft', 'topRight'], tone = 'frame', joint}: Edge,
): Line {
	const [left, right] = corners;
	const [first, ...rest] = rule(width - 1, glyphs, title, end);
	const corner = glyphs[left] + first!.text.slice(1);
	const line = fitLine([span(corner, first!.tone), ...rest, span(glyphs[right], 'frame')], width);
	return withJoint(line, joint ?? {at: width, left: tone, right: tone}, glyphs);
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

/** What a panel makes of its room. */
export type PanelBody = {
	/** What its title says behind its name. */
	readonly beside?: readonly Line[];
	/** At the other end of the title: which of its lines are shown. */
	readonly end: string;
	readonly lines: readonly Line[];
};

/** Which of a panel's lines are in view. */

type Extent = {readonly total: number; readonly shown: number};

/** Which lines are shown: no further than there are any. */
export function windowOf(first: number, {total, shown}: Extent): {readonly from: number; readonly to: number} {
	const from = Math.max(0, Math.min(first, total - shown));
	return {from, to: Math.min(total, from + Math.max(0, shown))};
}

/** `1-24 of 64`, when not all are in view. */
export const rangeText = (from: number, to: number, total: number): string =>
	to - from < total && to > from ? `${from + 1}-${to} of ${total}` : '';
