/**
The boundary for text from other people: notes, labels, process names, host names, tools' messages. Every face passes such text
through here before it prints it, so that it can do nothing to a terminal or a page.
*/
import {stripVTControlCharacters} from 'node:util';

/**
Characters that act instead of being seen: C0 and C1 controls, DEL, zero-width and bidirectional marks, embeddings, overrides and
isolates, line and paragraph separators, the byte order mark, and lone surrogates. The joiner U+200D stays: emoji need it.
*/
const acting =
	/[\u{0}-\u{1F}\u{7F}-\u{9F}\u{AD}\u{61C}\u{180E}\u{200B}\u{200C}\u{200E}\u{200F}\u{2028}-\u{202E}\u{2060}-\u{206F}\u{D800}-\u{DFFF}\u{FEFF}\u{FFF9}-\u{FFFB}]+/gv;

/** More than any face shows; what is longer is cut before it costs time. */
const longest = 4096;

/** One harmless line: escape sequences removed, runs of acting characters turned into one space, ends trimmed. */
export const sanitize = (text: string): string =>
	stripVTControlCharacters(text.slice(0, longest)).replaceAll(acting, ' ').trim();

/** At most `characters` code points, the last of them an ellipsis when something was cut. */
export function shorten(text: string, characters: number): string {
	const points = [...text];
	return points.length <= characters ? text : `${points.slice(0, Math.max(0, characters - 1)).join('')}…`;
}
