/** Plain ASCII in place of what borders, ellipses and tables are drawn with, for terminals that know nothing else. */

const plain: Readonly<Record<string, string>> = {
	'│': '|',
	'─': '-',
	'━': '=',
	'┼': '+',
	'╭': '+',
	'╮': '+',
	'╰': '+',
	'╯': '+',
	'●': '*',
	'⚠': '!',
	'✓': '+',
	'✗': 'x',
	'█': '#',
	'…': '~',
};

/** Returns the text with ASCII in place of drawing characters. Names of people and their texts stay as they are. */
export const inAscii = (text: string): string =>
	text.replaceAll(/\P{ASCII}/gv, (character) => plain[character] ?? character);
