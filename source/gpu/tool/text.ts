/** Cuts absurdly long text, without leaving half a character. */
export const cap = (text: string, length: number): string => text.slice(0, length).replace(/\p{Surrogate}$/v, '');

/** A tool's words, which are printed as they are: without what would control a terminal or change the direction of text. */
export const plain = (text: string): string =>
	text.replaceAll(/[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]/gv, '');
