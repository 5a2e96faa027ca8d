/** Sanitizes untrusted text: notes, labels, names of processes and hosts, messages of tools. No such text may be printed without these functions. */
import {stripVTControlCharacters} from 'node:util';
import {longestNote} from '../../core/rules/request/request.js';

/** Invisible characters that affect output, with the spaces around them: controls, formats, lone surrogates, separators. U+200D stays, because emoji need it. */
const acting = /[[\p{Control}\p{Format}\p{Separator}\p{Surrogate}]--\u{200D}]+/gv;

/** Longer text is cut, because sanitizing it would take long. */
const longest = 4096;

/** Returns one harmless line: without escape sequences, with single spaces, trimmed. */
export const sanitize = (text: string): string =>
	stripVTControlCharacters(text.slice(0, longest)).replaceAll(acting, ' ').trim();

const actingTyped = /[[\p{Control}\p{Format}\p{Surrogate}\u{2028}\u{2029}]--\u{200D}]/gv;

/** Sanitizes typed or pasted text, and keeps its spaces. Cuts it to `most` UTF-16 code units. */
export const sanitizeTyped = (text: string, most = longest): string =>
	stripVTControlCharacters(text.slice(0, most)).replaceAll(actingTyped, ' ');

/** Limit for the lines of a stack, more than Node writes. A message with more lines must not fill the terminal. */
const longestStack = 50;

/** Returns the stack of an error, sanitized by line, because the message may quote other people. */
export function stackText(error: unknown): string {
	const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
	return text
		.split('\n', longestStack)
		.map((line) => (/^\s/v.test(line) ? `    ${sanitize(line)}` : sanitize(line)))
		.join('\n');
}

/** Cuts text to a number of code points, with an ellipsis. */
export function shorten(text: string, characters: number): string {
	const points = [...text];
	return points.length <= characters ? text : `${points.slice(0, Math.max(0, characters - 1)).join('')}…`;
}

/** Shortens a note, because other programs may store longer ones. */
export function shownNote(note: string): string;
export function shownNote(note: string | undefined): string | undefined;
export function shownNote(note: string | undefined): string | undefined {
	return note === undefined ? undefined : shorten(note, longestNote);
}
