/** Text in terminal columns: wide characters and emoji count two, marks that combine count none. */
import {stringWidth} from './string-width.cjs';

/** One column each, and one UTF-16 unit: Latin, what frames and bars are made of, and the marks of our own tables. */
const plain = /^[\u{20}-\u{7E}\u{2026}\u{2500}-\u{259F}●⚠✓✗]*$/v;

/** How many columns it takes. */
export const widthOf = (text: string): number => (plain.test(text) ? text.length : stringWidth(text));

let made: Intl.Segmenter | undefined;

/** Made when it is first needed: that takes a while. */
const segmenter = (): Intl.Segmenter => {
	made ??= new Intl.Segmenter();
	return made;
};

/** The longest beginning of the text that takes at most `columns`, never half of a wide character. */
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

/** At most `columns` wide, the last of them an ellipsis when something was cut. */
export function truncate(text: string, columns: number, ellipsis = '…'): string {
	if (widthOf(text) <= columns) {
		return text;
	}

	return columns < 1 ? '' : beginning(text, columns - widthOf(ellipsis)).trimEnd() + ellipsis;
}

/** Exactly `columns` wide: cut or filled with spaces, which stand before the text when it is aligned to the end. */
export function fit(text: string, columns: number, align: 'start' | 'end' = 'start', ellipsis = '…'): string {
	const cut = truncate(text, columns, ellipsis);
	const space = ' '.repeat(Math.max(0, columns - widthOf(cut)));
	return align === 'start' ? cut + space : space + cut;
}

/** Lines of at most `columns`, broken between words; a word that is too long is cut. At most `most` lines. */
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
