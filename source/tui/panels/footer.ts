/** The last line: the keys that count now. Built from the table of keys. */
import {bindings} from '../keys/bindings.js';
import {modeOf} from '../keys/mode.js';
import type {State} from '../state/state.js';
import {verbOf} from '../verbs/index.js';
import {underPrompt} from '../dialogs/command-line.js';
import {ellipsisOf} from '../widgets/glyphs.js';
import {fitLine, joined, lineWidth, span, type Line} from '../widgets/styled-text.js';
import {helpOf} from './help.js';

function hint({footer, intent, modes}: (typeof bindings)[number], state: State): Line {
	if (footer === undefined) {
		return [];
	}

	const verb = typeof intent === 'object' ? intent : undefined;
	const [key, usual] = footer;
	const {dialog} = state;
	const isForm = intent === 'submit' && modes.includes('form') && dialog?.kind === 'form';
	const submitWord = isForm ? verbOf(dialog).submitWord?.(dialog) : undefined;
	const word = verb?.footerWord?.(state) ?? submitWord ?? usual;
	const isOffered = verb?.reasonAgainst(state) === undefined;
	return isOffered
		? [span(key, 'key'), span(` ${word}`)]
		: // It stays where it is, grey: the key tells why not.
			[span(`${key} ${word}`, 'dim')];
}

/** As many as fit: those that can be done without go first. */
export function footerLine(state: State): Line {
	const {columns} = state.size;
	const prompt = state.dialog?.kind === 'command' ? underPrompt(state.dialog, state) : undefined;
	if (prompt !== undefined) {
		return prompt;
	}

	const mode = modeOf(state);
	const isOnePage = mode === 'help' && helpOf(state).pages === 1;
	const offered = bindings.filter(
		({modes, footer, intent}) => footer !== undefined && modes.includes(mode) && !(isOnePage && intent === 'help-next'),
	);
	const ranks = [...new Set(offered.map(({footer}) => footer![2] ?? 0))].toSorted((a, b) => b - a);
	for (const most of ranks) {
		const hints = offered.filter(({footer}) => (footer![2] ?? 0) <= most).map((binding) => hint(binding, state));
		const line = [span(' '), ...joined(hints)];
		if (lineWidth(line) <= columns || most === ranks.at(-1)) {
			return fitLine(line, columns, ellipsisOf(state));
		}
	}

	return fitLine([], columns);
}
