/** ASCII replacements for the characters of lines and graphs, for terminals without Unicode. */

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

/** Replaces the characters of lines and graphs by ASCII. Other characters, such as those of names and notes, stay as they are. */
export const inAscii = (text: string): string =>
	text.replaceAll(/\P{ASCII}/gv, (character) => plain[character] ?? character);
