/** How the keys change the command line, and what is shown of what it printed. */
import type {Completion} from '../../ports.js';
import type {State} from '../state.js';
import {fieldOf, type TextField} from '../text-field.js';
import {beforeCaret, type CommandPrompt, type Output} from './state.js';

/** Whatever is typed answers the complaint, so it goes. */
export const withText = (prompt: CommandPrompt, field: TextField): CommandPrompt => ({
	...prompt,
	field,
	candidates: [],
	complaint: undefined,
});

/** One line back in the history, or forward again to what was being typed. */
function recall(prompt: CommandPrompt, by: 1 | -1): CommandPrompt {
	const {history, historyIndex: index = history.length, field} = prompt;
	const next = index + by;
	if (next < 0 || next > history.length) {
		return prompt;
	}

	const draft = index === history.length ? field.value : prompt.draft;
	const isNewest = next === history.length;
	return {
		...withText(prompt, fieldOf(isNewest ? draft : history[next]!)),
		historyIndex: isNewest ? undefined : next,
		draft,
	};
}

const commonStart = (words: readonly string[]): string => {
	const [first = [], ...others] = words.map((word) => [...word]);
	const differs = first.findIndex((sign, index) => others.some((word) => word[index] !== sign));
	return first.slice(0, differs === -1 ? undefined : differs).join('');
};

/** As far as all candidates agree; a single one with the blank behind it. */
export function completed(prompt: CommandPrompt, {start, candidates}: Completion): CommandPrompt {
	const before = beforeCaret(prompt.field);
	const after = prompt.field.value.slice(before.length);
	const agreed = commonStart(candidates);
	if (candidates.length === 0) {
		return {...prompt, candidates: []};
	}

	const word = candidates.length === 1 ? `${agreed} ` : agreed;
	const text = before.slice(0, start) + word;
	return {
		...prompt,
		field: {value: text + after, caret: [...text].length, isPreset: false},
		candidates: candidates.length === 1 ? [] : candidates,
		complaint: undefined,
	};
}

/** How many lines of a command's output are shown at once: all but the frame, and a line above and below. */
export const outputRowsOf = ({size}: Pick<State, 'size'>): number => Math.max(1, size.rows - 4);

const columnStep = 20;

/** The choice moves, and what is shown with it. */
function chosenBy(output: Output, state: State, by: number): Output {
	const lines = output.opens.keys().toArray();
	const index = Math.max(0, Math.min(lines.indexOf(output.chosen!) + by, lines.length - 1));
	const chosen = lines[index]!;
	const rows = outputRowsOf(state);
	// From the first choice on, what stands above it is shown, too.
	const top = index === 0 ? 0 : Math.max(chosen - rows + 1, Math.min(output.top, chosen));
	return {...output, chosen, top};
}

function scrolled(output: Output, state: State, by: number): Output {
	if (output.chosen !== undefined) {
		return chosenBy(output, state, by);
	}

	const top = Math.max(0, Math.min(output.top + by, output.lines.length - outputRowsOf(state)));
	return {...output, top};
}

function shifted(output: Output, by: number): Output {
	const widest = Math.max(0, ...output.lines.map((line) => line.length));
	return {...output, left: Math.max(0, Math.min(output.left + by, widest - columnStep))};
}

const onPrompt =
	(change: (prompt: CommandPrompt) => CommandPrompt) =>
	(state: State): State =>
		state.dialog?.kind === 'command' && !state.dialog.isBusy ? {...state, dialog: change(state.dialog)} : state;

const onOutput =
	(change: (output: Output, state: State) => Output) =>
	(state: State): State =>
		state.dialog?.kind === 'output' ? {...state, dialog: change(state.dialog, state)} : state;

export const commandLineIntents = {
	'history-before': onPrompt((prompt) => recall(prompt, -1)),
	'history-after': onPrompt((prompt) => recall(prompt, 1)),
	'output-up': onOutput((output, state) => scrolled(output, state, -1)),
	'output-down': onOutput((output, state) => scrolled(output, state, 1)),
	'output-page-up': onOutput((output, state) => scrolled(output, state, -outputRowsOf(state))),
	'output-page-down': onOutput((output, state) => scrolled(output, state, outputRowsOf(state))),
	'output-first': onOutput((output, state) => scrolled(output, state, -Infinity)),
	'output-last': onOutput((output, state) => scrolled(output, state, Infinity)),
	'output-left': onOutput((output) => shifted(output, -columnStep)),
	'output-right': onOutput((output) => shifted(output, columnStep)),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

/** What a user may want of the command line and of what it printed. */
export type CommandLineIntent = keyof typeof commandLineIntents;
