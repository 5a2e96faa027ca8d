/** Characters that act on a terminal but are not escaped in JSON: C1 controls, bidirectional marks, separators. */
const acting = /[[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]--\n]/gv;

/** Escapes by UTF-16 units, like JSON. */
const escaped = (character: string): string =>
	Array.from({length: character.length}, (_, unit) => {
		// eslint-disable-next-line unicorn/prefer-code-point
		const code = character.charCodeAt(unit);
		return String.raw`\u${code.toString(16).padStart(4, '0')}`;
	}).join('');

/** Escapes the characters in JSON that act on a terminal. Does not change the data. */
export const harmlessText = (json: string): string => json.replaceAll(acting, (character) => escaped(character));

/** Returns indented JSON that cannot act on a terminal, without losing data. */
export const harmlessJson = (value: unknown): string => harmlessText(JSON.stringify(value, undefined, 2));

export const absentWhenEmpty = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
	list.length > 0 ? list : undefined;

/** Returns the same as {@link harmlessJson}, but on one line. `change` is the replacer of `JSON.stringify`. */
export const harmlessJsonLine = (value: unknown, change?: (key: string, inner: unknown) => unknown): string =>
	harmlessText(JSON.stringify(value, change));
