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

/** Replaces the characters of lines and graphs with ASCII, for terminals without Unicode. Other characters, such as those in names, stay. */
export const inAscii = (text: string): string =>
	text.replaceAll(/\P{ASCII}/gv, (character) => plain[character] ?? character);
