/** Applies keys to the `:` line and to the output of its command. */
import type {Completion} from '../../ports.js';
import type {State} from '../state.js';
import {fieldOf, type TextField} from '../text-field.js';
import {beforeCaret, type CommandPrompt, type Output} from './state.js';

/** Sets the text of the `:` line. Clears the error, because it was about the earlier text. */
export const withText = (prompt: CommandPrompt, field: TextField): CommandPrompt => ({
	...prompt,
	field,
	candidates: [],
	complaint: undefined,
});

/** Shows the previous or the next line of the history. The text that was being typed comes after the last line. */
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

/** Completes the word as far as all candidates have the same text. If there is only one candidate, adds a blank after it. */
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

/** Returns how many lines of an output are visible: the rows of the screen without the frame and one line above and below. */
export const outputRowsOf = ({size}: Pick<State, 'size'>): number => Math.max(1, size.rows - 4);

const columnStep = 20;

function chosenBy(output: Output, state: State, by: number): Output {
	const lines = output.opens.keys().toArray();
	const index = Math.max(0, Math.min(lines.indexOf(output.chosen!) + by, lines.length - 1));
	const chosen = lines[index]!;
	const rows = outputRowsOf(state);
	// Scrolls to the top for the first line that can be chosen, so that the heading above is visible.
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

export type CommandLineIntent = keyof typeof commandLineIntents;
