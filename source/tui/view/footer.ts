/** The last line: the keys that count now. Built from the table of keys. */
import {bindings, type Intent, type Mode} from '../keys.js';
import {modeOf} from '../mode.js';
import {reasonAgainst, type Verb} from '../permissions.js';
import type {State} from '../state.js';
import {fitLine, lineWidth, span, type Line} from './spans.js';

const verbs: Readonly<Partial<Record<Intent, Verb>>> = {
	'open-reserve': 'reserve',
	'open-reserve-these': 'reserve-these',
	'open-release': 'release',
	'open-extend': 'extend',
};

const isOffered = (state: State, intent: Intent): boolean => {
	const verb = verbs[intent];
	return verb === undefined || reasonAgainst(state, verb) === undefined;
};

function hintsOf(mode: Mode, state: State): readonly Line[] {
	return bindings
		.filter((binding) => binding.modes.includes(mode) && binding.footer !== undefined)
		.map(({footer: [key, word] = ['', ''], intent}) =>
			isOffered(state, intent)
				? [span(key, 'key'), span(` ${word}`)]
				: // It stays where it is, grey: the key tells why not.
					[span(`${key} ${word}`, 'dim')],
		);
}

export function footerLine(state: State): Line {
	const {columns} = state.size;
	const line: Line = hintsOf(modeOf(state), state).flatMap((hint) => [span('  '), ...hint]);
	return fitLine(lineWidth(line) > columns ? line : [span(' '), ...line.slice(1)], columns);
}
