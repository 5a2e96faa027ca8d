/** The command line at the foot of the screen, and what a command printed. */
import {outputRowsOf} from '../command-line/reduce.js';
import type {CommandPrompt, Output} from '../command-line/state.js';
import type {State} from '../state/state.js';
import {fieldSpans} from '../widgets/field.js';
import {ellipsisOf, type Glyphs} from '../widgets/glyphs.js';
import {fitLine, span, type Line} from '../widgets/styled-text.js';

/** `:reserve -g 2`, with its caret. */
export const promptLine = ({field}: CommandPrompt, {columns}: State['size'], glyphs: Glyphs): Line =>
	fitLine([span(' :', 'key'), ...fieldSpans(field, Math.max(8, columns - 3), glyphs)], columns, glyphs.ellipsis);

/** What there is to say about it: that it was wrong, or what could stand there. Undefined: nothing but the keys. */
export function underPrompt({complaint, candidates, isBusy}: CommandPrompt, state: State): Line | undefined {
	const {columns} = state.size;
	const line = (...spans: Line): Line => fitLine([span(' '), ...spans], columns, ellipsisOf(state));
	if (isBusy) {
		return line(span('asking the pool', 'dim'));
	}

	if (complaint !== undefined) {
		const hint = (complaint.hint ?? '') === '' ? '' : `  ${complaint.hint}`;
		return line(span('ERR ', 'error'), span(complaint.message), span(hint, 'dim'));
	}

	return candidates.length === 0 ? undefined : line(span(candidates.join('  '), 'dim'));
}

/** What the tables of the command line are drawn with, for terminals that know only ASCII. */
const plainly: Readonly<Record<string, string>> = {
	'│': '|',
	'─': '-',
	'┼': '+',
	'●': '*',
	'⚠': '!',
	'✓': '+',
	'✗': 'x',
	'█': '#',
	'…': '~',
};

const inAscii = (text: string): string => text.replaceAll(/\P{ASCII}/gv, (sign) => plainly[sign] ?? sign);

/** The part of the output that is scrolled to, and where that is. */
export function outputLines(output: Output, state: State): {readonly lines: readonly Line[]; readonly range: string} {
	const {top, left, lines, chosen, tones} = output;
	const rows = outputRowsOf(state);
	// What verbs print has passed the boundary for text; a character that acts would still spoil the frame.
	const harmless = (text: string): string => text.replaceAll(/[\p{Bidi_Control}\p{Control}]/gv, '');
	const shown = lines.slice(top, top + rows).map((text, row): Line => {
		const part = [...harmless(text)].slice(left).join('');
		const words = state.settings.isAscii ? inAscii(part) : part;
		const tone = tones.get(top + row) ?? 'plain';
		return chosen === undefined
			? [span(words, tone)]
			: top + row === chosen
				? [span('>', 'key'), span(words, 'strong')]
				: [span(' '), span(words, tone)];
	});
	const range = lines.length > rows ? `${top + 1}-${Math.min(lines.length, top + rows)} of ${lines.length}` : '';
	return {lines: shown, range};
}
