/** Markdown as the source of a man page. The build makes the man pages with it; the program itself does not load it. */
import {parseMarkdown, targetText, type Block, type Inline} from './parse.js';

/** What roff would take for a command or for typography, as the sign itself. Hyphens stay hyphens, so that flags can be copied. */
const signs: Readonly<Record<string, string>> = {
	'\\': String.raw`\e`,
	'-': String.raw`\-`,
	"'": String.raw`\(aq`,
	'`': String.raw`\(ga`,
	'^': String.raw`\(ha`,
	'~': String.raw`\(ti`,
	'"': String.raw`\(dq`,
};

const roffEscape = (text: string): string => text.replaceAll(/["'\-\\^`~]/gv, (sign) => signs[sign]!);

/** A line that begins with a dot would be a command. */
const textLine = (line: string): string => (line.startsWith('.') ? String.raw`\&${line}` : line);

function inlineRoff(inline: Inline): string {
	const parts = inline.map(({text, style, target}, index) => {
		const shown = style === 'plain' ? roffEscape(text) : String.raw`\fB${roffEscape(text)}\fR`;
		const words = target === undefined || inline[index + 1]?.target === target ? undefined : targetText(target);
		const topic = words?.startsWith('canhazgpu help ') === true ? words.split(' ').at(-1) : undefined;
		const destination = topic === undefined ? words : `canhazgpu-${topic}(7)`;
		return destination === undefined || destination === text ? shown : `${shown} (${roffEscape(destination)})`;
	});
	return textLine(parts.join('').trim());
}

/** A row: its first cell, and under it the others, those before the last with the title of their column. */
function rowRoff(row: readonly Inline[], header: readonly Inline[]): readonly string[] {
	const [first = [], ...others] = row;
	const texts = others.flatMap((cell, index) => {
		const isLast = index === others.length - 1;
		const title = inlineRoff(header[index + 1] ?? []);
		return cell.length === 0 ? [] : [isLast || title === '' ? inlineRoff(cell) : `${title}: ${inlineRoff(cell)}.`];
	});
	return [
		'.TP',
		first.length === 0 ? String.raw`\&` : inlineRoff(first),
		...(texts.length === 0 ? [String.raw`\&`] : texts),
	];
}

/** @param isFirst - Under a heading, where a paragraph begins by itself. */
function blockRoff(block: Block, isFirst: boolean): readonly string[] {
	const paragraph = isFirst ? [] : ['.PP'];
	switch (block.kind) {
		case 'heading': {
			const text = inlineRoff(block.text.map((span) => ({...span, style: 'plain' as const})));
			return [`.${block.level <= 2 ? 'SH' : 'SS'} ${text}`];
		}

		case 'paragraph': {
			return [...paragraph, inlineRoff(block.text)];
		}

		case 'item': {
			return [block.mark === '-' ? String.raw`.IP \(bu 2` : `.IP ${block.mark} 4`, inlineRoff(block.text)];
		}

		case 'code': {
			return [
				...paragraph,
				'.RS 4',
				'.EX',
				...block.lines.map((line) => (line === '' ? String.raw`\&` : textLine(roffEscape(line)))),
				'.EE',
				'.RE',
			];
		}

		case 'table': {
			return block.rows.flatMap((row) => rowRoff(row, block.header));
		}
	}
}

type ManPage = {
	readonly name: string;
	readonly section: 1 | 7;
	/** One line, for `apropos`. */
	readonly summary: string;
	readonly version: string;
	/** Its first heading is left out: the name of the page says it. */
	readonly markdown: string;
};

/** The whole page. */
export function manPage({name, section, summary, version, markdown}: ManPage): string {
	const blocks = parseMarkdown(markdown).filter((block) => block.kind !== 'heading' || block.level > 1);
	const startsWithText = blocks[0]?.kind !== 'heading';
	return [
		`.TH ${roffEscape(name.toUpperCase())} ${section} "" "canhazgpu ${version}" "canhazgpu"`,
		// Names of variables and commands must not be hyphenated. The macros of groff go by HY, and set it back at each heading.
		'.nh',
		'.nr HY 0',
		'.SH NAME',
		String.raw`${roffEscape(name)} \- ${roffEscape(summary)}`,
		...(startsWithText ? ['.SH DESCRIPTION'] : []),
		...blocks.flatMap((block, index) => blockRoff(block, (blocks[index - 1]?.kind ?? 'heading') === 'heading')),
		'',
	].join('\n');
}
