/** Characters that JSON leaves as they are and a terminal may act on: C1 controls, bidirectional marks, line separators. */
const acting = /[[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]--\n]/gv;

/** By UTF-16 units, as JSON escapes. */
const escaped = (character: string): string =>
	Array.from({length: character.length}, (_, unit) => {
		// eslint-disable-next-line unicorn/prefer-code-point
		const code = character.charCodeAt(unit);
		return String.raw`\u${code.toString(16).padStart(4, '0')}`;
	}).join('');

const harmless = (json: string): string => json.replaceAll(acting, (character) => escaped(character));

/** JSON for people and programs: indented, and whatever text it holds can do nothing to a terminal. No data is lost. */
export const harmlessJson = (value: unknown): string => harmless(JSON.stringify(value, undefined, 2));

/** A list as JSON leaves it out where it is empty. */
export const absentWhenEmpty = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
	list.length > 0 ? list : undefined;

/**
The same on one line.

@param change - Makes each value within into what is written of it.
*/
export const harmlessJsonLine = (value: unknown, change?: (key: string, inner: unknown) => unknown): string =>
	harmless(JSON.stringify(value, change));
