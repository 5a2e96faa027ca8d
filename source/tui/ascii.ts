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

/** Replaces the characters of lines and graphs by ASCII, for terminals without Unicode. Other characters, such as those of names, stay as they are. */
export const inAscii = (text: string): string =>
	text.replaceAll(/\P{ASCII}/gv, (character) => plain[character] ?? character);
