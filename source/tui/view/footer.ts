/** The last line: the keys that count now. Built from the table of keys. */
import {bindings, type Binding, type Intent} from '../keys.js';
import {modeOf} from '../mode.js';
import {reasonAgainst, type Verb} from '../permissions.js';
import type {State} from '../state.js';
import {fitLine, joined, span, type Line} from './spans.js';

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

function hint({footer, intent}: Binding, state: State): Line {
	if (footer === undefined) {
		return [];
	}

	const [key, word] = footer;
	return isOffered(state, intent)
		? [span(key, 'key'), span(` ${word}`)]
		: // It stays where it is, grey: the key tells why not.
			[span(`${key} ${word}`, 'dim')];
}

export function footerLine(state: State): Line {
	const hints = bindings.filter(({modes}) => modes.includes(modeOf(state))).map((binding) => hint(binding, state));
	return fitLine([span(' '), ...joined(hints)], state.size.columns);
}
