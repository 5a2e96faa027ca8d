/** The `:` line, and the output of its command. */
import type {LiveOutput, LiveOutputPage, LiveOutputTone} from '../../ports.js';
import {fieldOf, type TextField} from '../text-field.js';
import type {Complaint} from '../messages.js';

export type CommandPrompt = {
	readonly kind: 'command';
	readonly command: 'command';
	readonly field: TextField;
	/** The lines that were typed earlier, newest last. */
	readonly history: readonly string[];
	/** The index of the earlier line that is shown. Undefined while a new line is being typed. */
	readonly historyIndex?: number;
	/** The text that was being typed before an earlier line was shown. */
	readonly draft: string;
	/** The possible words, if a completion is ambiguous. */
	readonly candidates: readonly string[];
	readonly complaint?: Complaint;
	readonly isBusy: boolean;
};

export type Output = {
	readonly kind: 'output';
	readonly title: string;
	readonly lines: readonly string[];
	/** The first visible line. `left` is the first visible column. */
	readonly top: number;
	readonly left: number;
	readonly liveOutput?: LiveOutput;
	/** Whether the last line stays in view when lines are added, until the user scrolls up. */
	readonly isTail?: boolean;
	/** The command lines that Enter runs when a line is chosen, by the index of that line. */
	readonly opens: ReadonlyMap<number, string>;
	readonly tones: ReadonlyMap<number, LiveOutputTone>;
	/** The index of the chosen line. Undefined if no line can be chosen. */
	readonly chosen?: number;
	/** The earlier output, which is shown again when this output is closed. */
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

const lastTop = (lines: readonly string[], rows: number): number => Math.max(0, lines.length - rows);

const isAtEnd = ({lines, top}: Output, rows: number): boolean => top >= lastTop(lines, rows);

/** Returns an output for another number of visible rows. */
export const withRows = (output: Output, {before, now}: {readonly before: number; readonly now: number}): Output =>
	output.isTail === true && isAtEnd(output, before) ? {...output, top: lastTop(output.lines, now)} : output;

/**
Replaces the lines of an output. Chooses the line that opens the same command line as before or, if there is none, the first line that opens one. If
`isTail` is set, changes nothing while the last line is not in view.
*/
export function withPage(
	output: Output,
	{lines, opens = new Map(), tones = new Map(), isTail = false}: LiveOutputPage,
	rows: number,
): Output {
	if (isTail) {
		return isAtEnd(output, rows) ? {...output, lines, tones, isTail, top: lastTop(lines, rows)} : output;
	}

	const before = output.chosen === undefined ? undefined : output.opens.get(output.chosen);
	const opening = opens.keys().toArray();
	const chosen = opening.find((line) => opens.get(line) === before) ?? opening[0];
	return {...output, lines, opens, tones, chosen, top: Math.max(0, Math.min(output.top, lines.length - 1))};
}

export const beforeCaret = ({value, caret}: TextField): string => [...value].slice(0, caret).join('');
