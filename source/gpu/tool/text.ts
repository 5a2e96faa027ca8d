/** Cuts extremely long text, without splitting a character. */
export const cap = (text: string, length: number): string => text.slice(0, length).replace(/\p{Surrogate}$/v, '');

/** Removes characters that control a terminal or change the direction of text from a tool's words. */
export const plain = (text: string): string =>
	text.replaceAll(/[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]/gv, '');
