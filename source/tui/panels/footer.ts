/** The last line: the keys that count now. Built from the table of keys. */
import type {Binding} from '../keys/bindings.js';
import {bindingsWith} from '../keys/custom.js';
import {modeOf} from '../state/keys.js';
import type {State} from '../state/state.js';
import {verbOf} from '../verbs/index.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {fitLine, joined, lineWidth, span, type Line} from '../widgets/styled-text.js';
import {underPrompt} from './message.js';
import {helpOf} from './help.js';

type Hint = {
	readonly binding: Binding;
	readonly line: Line;
	/** How soon it is left out where there is no room; those of the smallest number are the last. */
	readonly soon: number;
};

function hint(binding: Binding, state: State): Hint {
	const {footer, intent, modes} = binding;
	const verb = typeof intent === 'object' ? intent : undefined;
	const [key, usual, soon = 0] = footer!;
	const {dialog} = state;
	const isForm = intent === 'submit' && modes.includes('form') && dialog?.kind === 'form';
	const submitWord = isForm ? verbOf(dialog).submitWord?.(dialog) : undefined;
	const ownWord = verb?.footerWord?.(state);
	const word = ownWord ?? submitWord ?? usual;
	const isOffered = verb?.reasonAgainst(state) === undefined;
	return {
		binding,
		line: isOffered
			? [span(key, 'key'), span(` ${word}`)]
			: // It stays where it is, grey: the key says why not.
				[span(`${key} ${word}`, 'dim')],
		// What can be done with nothing but the selected row is more worth than what cannot be done now.
		soon: ownWord === undefined ? soon + (isOffered ? 0 : greyPart) : leastSoon,
	};
}

/** Of those that are as dear, a grey one goes before the others. */
const greyPart = 0.5;
const leastSoon = -1;

/** As many as fit: those that can be done without go first, one by one. */
function hintsOf(state: State): readonly Hint[] {
	const {columns} = state.size;
	const mode = modeOf(state);
	const isOnePage = mode === 'help' && helpOf(state).pages === 1;
	const offered = bindingsWith(state.settings.keys).filter(
		({modes, footer, intent}) => footer !== undefined && modes.includes(mode) && !(isOnePage && intent === 'help-next'),
	);
	let hints = offered.map((binding) => hint(binding, state));
	while (lineWidth(lineOf(hints)) > columns && hints.length > 1) {
		const soonest = Math.max(...hints.map(({soon}) => soon));
		const gone = hints.findLastIndex(({soon}) => soon === soonest);
		hints = hints.toSpliced(gone, 1);
	}

	return hints;
}

const margin = 1;
const gap = 2;

const lineOf = (hints: readonly Hint[]): Line => [
	span(' '.repeat(margin)),
	...joined(
		hints.map(({line}) => line),
		' '.repeat(gap),
	),
];

/** The key that is named in this column of the footer, by the name that the table of keys has for it. */
export function footerKeyAt(state: State, column: number): string | undefined {
	const hints =
		state.dialog?.kind === 'command' && underPrompt(state.dialog, state) !== undefined ? [] : hintsOf(state);
	let start = margin;
	for (const {binding, line} of hints) {
		const width = lineWidth(line);
		if (column >= start && column < start + width) {
			return binding.keys[0];
		}

		start += width + gap;
	}

	return undefined;
}

export function footerLine(state: State): Line {
	const {columns} = state.size;
	const prompt = state.dialog?.kind === 'command' ? underPrompt(state.dialog, state) : undefined;
	return prompt ?? fitLine(lineOf(hintsOf(state)), columns, ellipsisOf(state));
}
