/** Frames and rules around lines. */
import type {Glyphs} from './glyphs.js';
import {fitLine, lineWidth, span, type Line} from './styled-text.js';

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

const cornersOf = ({topLeft, topRight, bottomLeft, bottomRight, leftJoint, rightJoint}: Glyphs) =>
	({
		top: [topLeft, topRight],
		bottom: [bottomLeft, bottomRight],
		joined: [leftJoint, rightJoint],
		'left joined': [leftJoint, topRight],
		'right joined': [topLeft, rightJoint],
	}) as const;

type Edge = {
	readonly title?: Line;
	readonly end?: string;
	/** `joined`: to the sides of the panel above. */
	readonly corners?: keyof ReturnType<typeof cornersOf>;
	/** The keys speak to what is inside. */
	readonly isFocused?: boolean;
};

/** The top or bottom of a frame. */
export function edge(width: number, glyphs: Glyphs, {title = [], end, corners = 'top', isFocused = false}: Edge): Line {
	const [left, right] = cornersOf(glyphs)[corners];
	const [first, ...rest] = rule(width - 1, glyphs, title, end);
	const line = fitLine([span(left + first!.text.slice(1), first!.tone), ...rest, span(right, 'frame')], width);
	return isFocused ? line.map((piece) => (piece.tone === 'frame' ? span(piece.text, 'focus') : piece)) : line;
}

/** A line between the sides of a frame. */
export function inFrame(line: Line, {vertical}: Glyphs, isFocused = false): Line {
	const side = span(vertical, isFocused ? 'focus' : 'frame');
	return [side, ...line, side];
}

export type Panel = {
	readonly title: Line;
	/** At the other end of the title. */
	readonly end?: string;
	readonly lines: readonly Line[];
	readonly isFocused: boolean;
};

type Place = {readonly width: number; readonly rows: number; readonly corners?: Edge['corners']};

/** A panel's top edge and its lines between its sides. */
export function framedPanel(
	{title, end, lines, isFocused}: Panel,
	{width, rows, corners}: Place,
	glyphs: Glyphs,
): readonly Line[] {
	return [
		edge(width, glyphs, {title, end, corners, isFocused}),
		...block(lines, rows, width - 2, glyphs.ellipsis).map((line) => inFrame(line, glyphs, isFocused)),
	];
}

/** Two panels side by side, joined to the frame above them. */
export function beside(
	left: Panel,
	right: Panel,
	{width, leftWidth, rows}: {readonly width: number; readonly leftWidth: number; readonly rows: number},
	glyphs: Glyphs,
): readonly Line[] {
	const rightWidth = width - leftWidth;
	const leftLines = framedPanel(left, {width: leftWidth, rows, corners: 'left joined'}, glyphs);
	const rightLines = framedPanel(right, {width: rightWidth, rows, corners: 'right joined'}, glyphs);
	return [
		...leftLines.map((line, row) => [...line, ...rightLines[row]!]),
		[
			...edge(leftWidth, glyphs, {corners: 'bottom', isFocused: left.isFocused}),
			...edge(rightWidth, glyphs, {corners: 'bottom', isFocused: right.isFocused}),
		],
	];
}
