/** The `:` line at the foot of the screen, and what is said under it. */
import type {CommandPrompt} from '../../state/command-line/state.js';
import type {State} from '../../state/state.js';
import {fieldSpans} from '../../widgets/field.js';
import {ellipsisOf, type Glyphs} from '../../widgets/glyphs.js';
import {fitLine, span, type Line} from '../../widgets/styled-text.js';

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
