import type {Paint} from '../text/paint.js';
import {widthOf} from '../text/width.js';
import {parseMarkdown, targetText, type Block, type Inline, type Span} from './parse.js';

type MarkdownOptions = {
	readonly columns: number;
	readonly paint: Paint;
	/** Whether code is shown in color. If not, it keeps its backticks. */
	readonly hasColor: boolean;
};

/** A part of a line that is never broken, with its visible width. */
type Word = {readonly painted: string; readonly width: number};

const indent = 2;

const gap = 2;

/** A table with a column narrower than this is written row by row. */
const leastColumn = 12;

function styled({text, style}: Span, {paint, hasColor}: MarkdownOptions): string {
	switch (style) {
		case 'code': {
			return hasColor ? paint.header(text) : `\`${text}\``;
		}

		case 'bold': {
			return paint.bold(text);
		}

		case 'plain': {
			return text;
		}
	}
}

const withTargets = (inline: Inline): Inline =>
	inline.flatMap((span, index) => {
		const words =
			span.target === undefined || inline[index + 1]?.target === span.target ? undefined : targetText(span.target);
		return words === undefined || words === span.text
			? [span]
			: [
					span,
					{text: ' (', style: 'plain' as const},
					{text: words, style: 'code' as const},
					{text: ')', style: 'plain' as const},
				];
	});

/** Splits text into words. Code of moderate length stays one word, so that it can be copied. */
function wordsOf(inline: Inline, options: MarkdownOptions): readonly Word[] {
	const words: Word[] = [];
	let isOpen = false;
	const add = (span: Span): void => {
		const painted = styled(span, options);
		const width = widthOf(span.text) + (span.style === 'code' && !options.hasColor ? 2 : 0);
		const last = isOpen ? words.pop() : undefined;
		words.push({painted: (last?.painted ?? '') + painted, width: (last?.width ?? 0) + width});
		isOpen = true;
	};

	for (const span of withTargets(inline)) {
		if (span.style === 'code' && widthOf(span.text) <= options.columns * (2 / 3)) {
			add(span);
			continue;
		}

		// Long code is broken at spaces, without backticks.
		const style = span.style === 'code' ? 'plain' : span.style;
		for (const [index, text] of span.text.split(' ').entries()) {
			isOpen &&= index === 0;
			if (text !== '') {
				add({text, style});
			}
		}
	}

	return words;
}

/** Wraps words to lines of at most `columns`. A longer word gets its own line. */
function wrapWords(words: readonly Word[], columns: number): readonly Word[] {
	const lines: Word[] = [];
	for (const word of words) {
		const last = lines.at(-1);
		if (last === undefined || last.width + 1 + word.width > columns) {
			lines.push(word);
		} else {
			lines[lines.length - 1] = {painted: `${last.painted} ${word.painted}`, width: last.width + 1 + word.width};
		}
	}

	return lines;
}

const wrapInline = (inline: Inline, columns: number, options: MarkdownOptions): readonly Word[] =>
	wrapWords(wordsOf(inline, {...options, columns}), columns);

const blanks = (count: number): string => ' '.repeat(Math.max(0, count));

/** Returns the widths of the columns. If their cells do not fit, the wide columns share what is left. */
function columnWidths(naturals: readonly number[], columns: number): readonly number[] {
	const room = columns - gap * (naturals.length - 1);
	const open = new Set(naturals.keys());
	const widths = [...naturals];
	let rest = room;
	for (;;) {
		const share = Math.floor(rest / Math.max(1, open.size));
		const small = [...open].filter((column) => naturals[column]! <= share);
		if (small.length === 0) {
			for (const column of open) {
				widths[column] = share;
			}

			return widths;
		}

		for (const column of small) {
			open.delete(column);
			rest -= naturals[column]!;
		}
	}
}

const bare = (cell: Inline, {hasColor}: MarkdownOptions): Inline =>
	!hasColor && cell.length > 0 && cell.every(({text, style}) => style === 'code' || text.trim() === '')
		? cell.map((span) => ({...span, style: 'plain' as const}))
		: cell;

function tableLines({header, rows}: Extract<Block, {kind: 'table'}>, options: MarkdownOptions): readonly string[] {
	const {columns, paint} = options;
	const hasHeader = header.some((cell) => cell.length > 0);
	const titles = header.map((cell) => cell.map((span) => ({...span, style: 'bold' as const})));
	const all = [...(hasHeader ? [titles] : []), ...rows].map((row) =>
		header.map((_, column) => wordsOf(bare(row[column] ?? [], options), options)),
	);
	const lineWidth = (words: readonly Word[]): number => words.reduce((sum, {width}) => sum + width + 1, -1);
	const longestWord = (column: number): number =>
		Math.max(...all.map((row) => Math.max(0, ...row[column]!.map(({width}) => width))));
	const naturals = header.map((_, column) => Math.max(0, ...all.map((row) => lineWidth(row[column]!))));
	const widths = columnWidths(naturals, columns - indent);
	const isTooNarrow = widths.some(
		(width, column) => width < naturals[column]! && width < Math.max(leastColumn, longestWord(column)),
	);
	if (isTooNarrow) {
		return rows.flatMap((row) => {
			const [first = [], ...others] = row;
			// Puts the title of the column before each cell, so that a default is not taken for one of the choices. The last cell needs no title.
			const stacked = others.flatMap((cell, index): readonly Inline[] => {
				const title = index < others.length - 1 ? (header[index + 1] ?? []) : [];
				return cell.length === 0
					? []
					: [title.length === 0 ? cell : [...title, {text: ': ', style: 'plain' as const}, ...cell]];
			});
			return [
				...wrapInline(bare(first, options), columns - indent, options).map(
					({painted}) => blanks(indent) + paint.bold(painted),
				),
				...stacked.flatMap((cell) =>
					wrapInline(cell, columns - indent * 3, options).map(({painted}) => blanks(indent * 3) + painted),
				),
			];
		});
	}

	return all.flatMap((row) => {
		const cells = row.map((words, column) => wrapWords(words, widths[column]!));
		const height = Math.max(1, ...cells.map(({length}) => length));
		return Array.from({length: height}, (_, line) =>
			(
				blanks(indent) +
				cells
					.map((cell, column) => {
						const {painted, width} = cell[line] ?? {painted: '', width: 0};
						return painted + blanks(widths[column]! - width);
					})
					.join(blanks(gap))
			).trimEnd(),
		);
	});
}

function blockLines(block: Block, options: MarkdownOptions): readonly string[] {
	const {columns, paint} = options;
	switch (block.kind) {
		case 'heading': {
			const text = block.text.map((span) => ({...span, style: 'plain' as const}));
			return wrapInline(text, columns, options).map(({painted}) => paint.bold(painted));
		}

		case 'paragraph': {
			return wrapInline(block.text, columns, options).map(({painted}) => painted);
		}

		case 'item': {
			const hang = block.mark.length + 1;
			return wrapInline(block.text, columns - hang, options).map(
				({painted}, line) => `${line === 0 ? `${block.mark} ` : blanks(hang)}${painted}`,
			);
		}

		case 'code': {
			return block.lines.map((line) => (line === '' ? '' : blanks(indent * 2) + line));
		}

		case 'table': {
			return tableLines(block, options);
		}
	}
}

export function markdownText(markdown: string, options: MarkdownOptions): string {
	const blocks = parseMarkdown(markdown);
	return blocks
		.flatMap((block, index) => {
			const before = blocks[index - 1];
			const isTight = before === undefined || (block.kind === 'item' && before.kind === 'item');
			return [...(isTight ? [] : ['']), ...blockLines(block, options)];
		})
		.join('\n');
}
