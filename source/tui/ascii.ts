/** ASCII replacements for drawing characters, for terminals without Unicode. */

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

/** Returns the text with drawing characters replaced by ASCII. Names and notes stay as they are. */
export const inAscii = (text: string): string =>
	text.replaceAll(/\P{ASCII}/gv, (character) => plain[character] ?? character);
