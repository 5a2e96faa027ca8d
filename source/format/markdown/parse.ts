/** Reads the Markdown of the help topics. Keeps what terminals and man pages can show: headings, paragraphs, lists, code, tables, bold and links. */
import {lexer, type MarkedToken, type Token, type Tokens} from 'marked';

export type Span = {readonly text: string; readonly style: 'plain' | 'bold' | 'code'; readonly target?: string};

/** Text with styles. A link is a span with its target. */
export type Inline = readonly Span[];

export type Block =
	| {readonly kind: 'heading'; readonly level: number; readonly text: Inline}
	| {readonly kind: 'paragraph'; readonly text: Inline}
	/** `mark` is `-`, or a number with a period. */
	| {readonly kind: 'item'; readonly mark: string; readonly text: Inline}
	| {readonly kind: 'code'; readonly lines: readonly string[]}
	| {readonly kind: 'table'; readonly header: readonly Inline[]; readonly rows: ReadonlyArray<readonly Inline[]>};

/** Narrows tokens to the types of `marked` itself. Only extensions of its grammar could add others, and none is used. */
const known = (tokens: readonly Token[]): readonly MarkedToken[] => tokens as readonly MarkedToken[];

function inlineOf(tokens: readonly Token[] = [], style: 'plain' | 'bold' = 'plain'): Inline {
	return known(tokens).flatMap((token): Inline => {
		switch (token.type) {
			case 'codespan': {
				return [{text: token.text, style: 'code'}];
			}

			case 'strong': {
				return inlineOf(token.tokens, 'bold');
			}

			case 'link': {
				return inlineOf(token.tokens, style).map((span) => ({...span, target: token.href}));
			}

			case 'image': {
				return [];
			}

			case 'escape': {
				return [{text: token.text, style}];
			}

			default: {
				return [{text: token.raw.replaceAll(/\s+/gv, ' '), style}];
			}
		}
	});
}

const itemsOf = ({items, start}: Tokens.List): readonly Block[] =>
	items.map(({tokens}, index) => ({
		kind: 'item',
		mark: start === '' ? '-' : `${start + index}.`,
		text: inlineOf((tokens[0] as Tokens.Text | undefined)?.tokens),
	}));

function blocksOf(token: MarkedToken): readonly Block[] {
	switch (token.type) {
		case 'heading': {
			return [{kind: 'heading', level: token.depth, text: inlineOf(token.tokens)}];
		}

		case 'paragraph': {
			const text = inlineOf(token.tokens);
			// Skips a paragraph that contains only a picture.
			return text.length === 0 ? [] : [{kind: 'paragraph', text}];
		}

		case 'list': {
			return itemsOf(token);
		}

		case 'code': {
			return [{kind: 'code', lines: token.text.split('\n')}];
		}

		case 'table': {
			const {header, rows} = token;
			const cells = (row: readonly Tokens.TableCell[]): readonly Inline[] => row.map(({tokens}) => inlineOf(tokens));
			return [{kind: 'table', header: cells(header), rows: rows.map((row) => cells(row))}];
		}

		default: {
			return [];
		}
	}
}

/** Parses Markdown, except for quotes, nested lists and HTML blocks, which no help topic has. */
export const parseMarkdown = (markdown: string): readonly Block[] =>
	known(lexer(markdown)).flatMap((token) => blocksOf(token));

/** Returns the address of a web link, the help command of a link to a topic, and undefined for any other link. */
export function targetText(target: string): string | undefined {
	const {topic} = /^(?:.*\/)?(?<topic>[a-z]+)\.md(?:#.*)?$/v.exec(target)?.groups ?? {};
	if (/^https?:/v.test(target)) {
		return target;
	}

	return topic === undefined || target.includes('../') ? undefined : `canhazgpu help ${topic}`;
}
