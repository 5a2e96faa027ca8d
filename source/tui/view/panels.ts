/** Frames and rules around lines. */
import type {Glyphs} from './glyphs.js';
import {fitLine, lineWidth, span, type Line} from './spans.js';

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
};

/** The top or bottom of a frame. */
export function edge(width: number, glyphs: Glyphs, {title = [], end, corners = 'top'}: Edge): Line {
	const [left, right] = cornersOf(glyphs)[corners];
	const [first, ...rest] = rule(width - 1, glyphs, title, end);
	const line = [span(left + first!.text.slice(1), first!.tone), ...rest];
	return fitLine([...line, span(right, 'frame')], width);
}

/** A line between the sides of a frame. */
export const inFrame = (line: Line, {vertical}: Glyphs): Line => [
	span(vertical, 'frame'),
	...line,
	span(vertical, 'frame'),
];

type Panel = {readonly title: string; readonly lines: readonly Line[]; readonly width: number};

/** Two panels side by side, joined to the frame above them. */
export function beside(left: Panel, right: Panel, rows: number, glyphs: Glyphs): readonly Line[] {
	const leftLines = block(left.lines, rows, left.width - 2, glyphs.ellipsis);
	const rightLines = block(right.lines, rows, right.width - 2, glyphs.ellipsis);
	const title = ({title: words}: Panel): Line => [span(words, 'strong')];
	return [
		[
			...edge(left.width, glyphs, {title: title(left), corners: 'left joined'}),
			...edge(right.width, glyphs, {title: title(right), corners: 'right joined'}),
		],
		...leftLines.map((line, row) => [...inFrame(line, glyphs), ...inFrame(rightLines[row]!, glyphs)]),
		[...edge(left.width, glyphs, {corners: 'bottom'}), ...edge(right.width, glyphs, {corners: 'bottom'})],
	];
}
