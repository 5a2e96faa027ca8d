/** Measures text in terminal columns: wide characters and emoji count two, combining marks none. */
import {stringWidth} from './string-width.cjs';

/** Characters of one column and one UTF-16 unit: ASCII, frames, bars, and the symbols of our tables. */
const plain = /^[\u{20}-\u{7E}\u{2026}\u{2500}-\u{259F}●⚠✓✗]*$/v;

export const widthOf = (text: string): number => (plain.test(text) ? text.length : stringWidth(text));

let made: Intl.Segmenter | undefined;

/** Created on first use, because creation is slow. */
const segmenter = (): Intl.Segmenter => {
	made ??= new Intl.Segmenter();
	return made;
};

/** Returns the longest beginning of a text that fits, without splitting a wide character. */
function beginning(text: string, columns: number): string {
	let taken = '';
	let width = 0;
	for (const {segment} of segmenter().segment(text)) {
		width += widthOf(segment);
		if (width > columns) {
			break;
		}

		taken += segment;
	}

	return taken;
}

export function truncate(text: string, columns: number, ellipsis = '…'): string {
	if (widthOf(text) <= columns) {
		return text;
	}

	return columns < 1 ? '' : beginning(text, columns - widthOf(ellipsis)).trimEnd() + ellipsis;
}

/** Cuts or pads text to an exact width. `end` pads on the left. */
export function fit(text: string, columns: number, align: 'start' | 'end' = 'start', ellipsis = '…'): string {
	const cut = truncate(text, columns, ellipsis);
	const space = ' '.repeat(Math.max(0, columns - widthOf(cut)));
	return align === 'start' ? cut + space : space + cut;
}

/** Wraps text between words to at most `most` lines. Words that are too long are cut. */
export function wrap(text: string, columns: number, most: number, ellipsis = '…'): readonly string[] {
	const lines: string[] = [];
	let rest = text.trim();
	while (rest !== '' && lines.length < most - 1 && widthOf(rest) > columns) {
		const start = beginning(rest, columns + 1);
		const space = start.lastIndexOf(' ');
		const line = space > 0 ? start.slice(0, space) : beginning(rest, columns);
		if (line === '') {
			break;
		}

		lines.push(line.trimEnd());
		rest = rest.slice(line.length).trimStart();
	}

	return rest === '' ? lines : [...lines, truncate(rest, columns, ellipsis)];
}
