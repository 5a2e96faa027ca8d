/** The `:` line, and the output of its command. */
import type {LiveOutput, LiveOutputPage, LiveOutputTone} from '../../ports.js';
import {fieldOf, type TextField} from '../text-field.js';
import type {Complaint} from '../messages.js';

export type CommandPrompt = {
	readonly kind: 'command';
	readonly command: 'command';
	readonly field: TextField;
	/** Typed lines, newest last. */
	readonly history: readonly string[];
	/** Index of the recalled line, or undefined for the text being typed. */
	readonly historyIndex?: number;
	/** The text before the history was recalled. */
	readonly draft: string;
	/** Candidates of an ambiguous completion. */
	readonly candidates: readonly string[];
	readonly complaint?: Complaint;
	readonly isBusy: boolean;
};

export type Output = {
	readonly kind: 'output';
	readonly title: string;
	readonly lines: readonly string[];
	/** First visible line and column. */
	readonly top: number;
	readonly left: number;
	/** Set if the output is live. */
	readonly liveOutput?: LiveOutput;
	/** The text that Enter types for a line, by line index. */
	readonly opens: ReadonlyMap<number, string>;
	readonly tones: ReadonlyMap<number, LiveOutputTone>;
	/** Index of the chosen line, if lines can be opened. */
	readonly chosen?: number;
	/** The output to return to. */
	readonly from?: Output;
};

export const commandPrompt = (history: readonly string[]): CommandPrompt => ({
	kind: 'command',
	command: 'command',
	field: fieldOf(''),
	history,
	draft: '',
	candidates: [],
	isBusy: false,
});

export const outputOf = (title: string, lines: readonly string[]): Output => ({
	kind: 'output',
	title,
	lines,
	top: 0,
	left: 0,
	opens: new Map(),
	tones: new Map(),
});

/** Opens a live output. Its lines arrive by {@link withPage}. */
export const openedLiveOutput = (title: string, liveOutput: LiveOutput, from: Output | undefined): Output => ({
	...outputOf(title, []),
	liveOutput,
	from,
});

/** Replaces the lines. The choice stays on the line with the same target. */
export function withPage(output: Output, {lines, opens = new Map(), tones = new Map()}: LiveOutputPage): Output {
	const before = output.chosen === undefined ? undefined : output.opens.get(output.chosen);
	const opening = opens.keys().toArray();
	const chosen = opening.find((line) => opens.get(line) === before) ?? opening[0];
	return {...output, lines, opens, tones, chosen, top: Math.max(0, Math.min(output.top, lines.length - 1))};
}

/** Returns the part of the line to complete. */
export const beforeCaret = ({value, caret}: TextField): string => [...value].slice(0, caret).join('');
