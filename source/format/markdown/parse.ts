/**
Parses the Markdown of the help topics: headings, paragraphs, lists, fenced code and tables; code, bold and links within
a line.
*/
import {sanitize} from '../text/text.js';

export type Span = {readonly text: string; readonly style: 'plain' | 'bold' | 'code'; readonly target?: string};

/** Sanitized text with styles. A link is a span with its target. */
export type Inline = readonly Span[];

export type Block =
	| {readonly kind: 'heading'; readonly level: number; readonly text: Inline}
	| {readonly kind: 'paragraph'; readonly text: Inline}
	/** `mark` is `-`, or a number with a period. */
	| {readonly kind: 'item'; readonly mark: string; readonly text: Inline}
	| {readonly kind: 'code'; readonly lines: readonly string[]}
	| {readonly kind: 'table'; readonly header: readonly Inline[]; readonly rows: ReadonlyArray<readonly Inline[]>};

const inlinePart =
	/(?<!\\)(?:`(?<code>[^`]+)`|\*\*(?<bold>[^*]+)\*\*|(?<image>!)?\[(?<label>[^\[\]]+)\]\((?<target>[^\(\)]+)\))/gv;

const unescaped = (text: string): string => text.replaceAll(/\\(?<mark>[\p{Punctuation}\p{Symbol}])/gv, '$<mark>');

/** Sanitizing trims, but the spaces beside a styled word must stay. */
const harmless = (text: string): string => {
	const inner = sanitize(text);
	return inner === ''
		? text === ''
			? ''
			: ' '
		: `${/^\s/v.test(text) ? ' ' : ''}${inner}${/\s$/v.test(text) ? ' ' : ''}`;
};

function inlineOf(text: string, style: 'plain' | 'bold' = 'plain'): Inline {
	const spans: Span[] = [];
	let end = 0;
	const addPlain = (part: string): void => {
		if (part !== '') {
			spans.push({text: harmless(unescaped(part)), style});
		}
	};

	for (const match of text.matchAll(inlinePart)) {
		addPlain(text.slice(end, match.index));
		end = match.index + match[0].length;
		const {code, bold, image, label, target} = match.groups!;
		if (code !== undefined) {
			spans.push({text: harmless(code), style: 'code'});
		} else if (bold !== undefined) {
			spans.push(...inlineOf(bold, 'bold'));
		} else if (label !== undefined && image === undefined) {
			spans.push(...inlineOf(label, style).map((span) => ({...span, target: sanitize(target!)})));
		}
	}

	addPlain(text.slice(end));
	return spans;
}

/** Keeps the spaces of code, and removes what acts on a terminal. */
const codeLine = (line: string): string =>
	line.replaceAll('\t', ' '.repeat(4)).replaceAll(/[^ ]+/gv, (word) => sanitize(word));

/** Splits a row: `| a | b |` -> `a`, `b`. A cell can contain `\|`. */
const cellsOf = (line: string): readonly Inline[] =>
	line
		.trim()
		.replace(/^\|/v, '')
		.replace(/\|$/v, '')
		.split(/(?<!\\)\|/v)
		.map((cell) => inlineOf(cell.trim().replaceAll(String.raw`\|`, '|')));

const fence = /^```/v;
const headingLine = /^(?<marks>#{1,6}) (?<text>.*)$/v;
const itemLine = /^(?<mark>-|\d+\.) (?<text>.*)$/v;
const tableLine = /^\|/v;

const startsBlock = (line: string): boolean =>
	line.trim() === '' || [fence, headingLine, itemLine, tableLine].some((pattern) => pattern.test(line));

export function parseMarkdown(markdown: string): readonly Block[] {
	const lines = markdown.split(/\r?\n/v);
	const blocks: Block[] = [];
	let index = 0;
	const takeWhile = (isPart: (line: string) => boolean): readonly string[] => {
		const start = index;
		while (index < lines.length && isPart(lines[index]!)) {
			index++;
		}

		return lines.slice(start, index);
	};

	/** Joins the lines of a paragraph or an item. */
	const takeText = (first: string): Inline => {
		index++;
		return inlineOf([first, ...takeWhile((line) => !startsBlock(line))].map((line) => line.trim()).join(' '));
	};

	while (index < lines.length) {
		const line = lines[index]!;
		const {marks, text: title} = headingLine.exec(line)?.groups ?? {};
		const {mark, text: item} = itemLine.exec(line)?.groups ?? {};
		if (line.trim() === '') {
			index++;
		} else if (line.startsWith('```')) {
			index++;
			blocks.push({kind: 'code', lines: takeWhile((each) => !each.startsWith('```')).map((each) => codeLine(each))});
			index++;
		} else if (marks !== undefined) {
			index++;
			blocks.push({kind: 'heading', level: marks.length, text: inlineOf(title!)});
		} else if (mark !== undefined) {
			blocks.push({kind: 'item', mark, text: takeText(item!)});
		} else if (line.startsWith('|')) {
			const [header = '', , ...rows] = takeWhile((each) => each.startsWith('|'));
			blocks.push({kind: 'table', header: cellsOf(header), rows: rows.map((row) => cellsOf(row))});
		} else {
			const text = takeText(line);
			// Skips a paragraph that contains only a picture.
			if (text.some((span) => span.text.trim() !== '')) {
				blocks.push({kind: 'paragraph', text});
			}
		}
	}

	return blocks;
}

/** Returns the command for a link to another topic, and nothing for a link within the repository. */
export function targetText(target: string): string | undefined {
	const {topic} = /^(?:.*\/)?(?<topic>[a-z]+)\.md(?:#.*)?$/v.exec(target)?.groups ?? {};
	if (/^https?:/v.test(target)) {
		return target;
	}

	return topic === undefined || target.includes('../') ? undefined : `canhazgpu help ${topic}`;
}
