/** Shows the note of a reservation or a queue entry together with the interface of the request. */
import type {Lease} from '../../core/model/types.js';
import {sanitize, shorten, shownNote} from './text.js';

/** The longest text that this program writes into `via`. Other programs may write more. */
const longestVia = 64;

export const shownVia = (via: string | undefined): string | undefined =>
	via === undefined ? undefined : shorten(sanitize(via), longestVia);

/** Returns a sanitized text: `eval (via mcp claude-code)`, `eval`, or `via mcp claude-code`. Empty without a note and without `via`. */
export function noteWords({note = '', via}: Partial<Pick<Lease, 'note' | 'via'>>): string {
	const words = sanitize(shownNote(note));
	const source = via === undefined ? '' : `via ${shownVia(via)}`;
	return words === '' || source === '' ? `${words}${source}` : `${words} (${source})`;
}

export function noteCell(held: Parameters<typeof noteWords>[0], characters: number): string {
	const words = noteWords(held);
	return words === '' ? '-' : shorten(words, characters);
}
