/**
The boundary for text from other people: notes, labels, process names, host names, tools' messages. Every face passes such text
through here before it prints it, so that it can do nothing to a terminal or a page.
*/
import {stripVTControlCharacters} from 'node:util';
import {longestNote} from '../../core/rules/request/request.js';

/**
Characters that act instead of being seen, with the blanks around them: controls, formats (bidirectional overrides, zero-width marks, byte order mark), lone
surrogates, line and paragraph separators. The joiner U+200D stays: emoji need it.
*/
const acting = /[[\p{Control}\p{Format}\p{Separator}\p{Surrogate}]--\u{200D}]+/gv;

/** More than any face shows; what is longer is cut before it costs time. */
const longest = 4096;

/** One harmless line: escape sequences removed, runs of acting characters and blanks turned into one space, ends trimmed. */
export const sanitize = (text: string): string =>
	stripVTControlCharacters(text.slice(0, longest)).replaceAll(acting, ' ').trim();

/** Characters that act on a terminal, other than blanks. */
const actingTyped = /[[\p{Control}\p{Format}\p{Surrogate}\u{2028}\u{2029}]--\u{200D}]/gv;

/** Returns text that a person typed or pasted: harmless, with its blanks as they are. */
export const sanitizeTyped = (text: string): string =>
	stripVTControlCharacters(text.slice(0, longest)).replaceAll(actingTyped, ' ');

/** More lines of a stack than Node writes, so that a message with many of its own fills no terminal. */
const longestStack = 50;

/** The stack of an error for a terminal, harmless line by line: its message may quote what other people wrote. */
export function stackText(error: unknown): string {
	const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
	return text
		.split('\n', longestStack)
		.map((line) => (/^\s/v.test(line) ? `    ${sanitize(line)}` : sanitize(line)))
		.join('\n');
}

/** At most `characters` code points, the last of them an ellipsis when something was cut. */
export function shorten(text: string, characters: number): string {
	const points = [...text];
	return points.length <= characters ? text : `${points.slice(0, Math.max(0, characters - 1)).join('')}…`;
}

/** A note as far as a face shows it: other programs may have stored more than this one takes. */
export function shownNote(note: string): string;
export function shownNote(note: string | undefined): string | undefined;
export function shownNote(note: string | undefined): string | undefined {
	return note === undefined ? undefined : shorten(note, longestNote);
}
