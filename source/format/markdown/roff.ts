import {parseMarkdown, targetText, type Block, type Inline} from './parse.js';

/** Escapes for characters that roff would interpret. Hyphens stay hyphens, so that flags can be copied. */
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

/** Protects a line that starts with a period, which would be a roff request. */
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

/** Returns a row of a table as its first cell, followed by the other cells with the titles of their columns. */
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

/** @param isFirst - Whether the block follows a heading. A heading already starts a paragraph. */
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
	/** The line that `apropos` shows and searches. */
	readonly summary: string;
	readonly version: string;
	/** The first heading is skipped, because the page already begins with its name. */
	readonly markdown: string;
};

export function manPage({name, section, summary, version, markdown}: ManPage): string {
	const blocks = parseMarkdown(markdown).filter((block) => block.kind !== 'heading' || block.level > 1);
	const startsWithText = blocks[0]?.kind !== 'heading';
	return [
		`.TH ${roffEscape(name.toUpperCase())} ${section} "" "canhazgpu ${version}" "canhazgpu"`,
		// Names must not be hyphenated. At each heading, groff's macros set hyphenation to the value of HY.
		'.nh',
		'.nr HY 0',
		'.SH NAME',
		String.raw`${roffEscape(name)} \- ${roffEscape(summary)}`,
		...(startsWithText ? ['.SH DESCRIPTION'] : []),
		...blocks.flatMap((block, index) => blockRoff(block, (blocks[index - 1]?.kind ?? 'heading') === 'heading')),
		'',
	].join('\n');
}
