/** What a command of the `:` line printed. */
import {outputRowsOf} from '../state/command-line/reduce.js';
import type {Output} from '../state/command-line/state.js';
import type {State} from '../state/state.js';
import {span, type Line} from '../widgets/styled-text.js';

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
