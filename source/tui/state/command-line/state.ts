/** The command line at the foot of the screen, and the panel with what a command printed. */
import type {LiveOutput, LiveOutputPage, LiveOutputTone} from '../../ports.js';
import {fieldOf, type TextField} from '../text-field.js';
import type {Complaint} from '../messages.js';

export type CommandPrompt = {
	readonly kind: 'command';
	readonly verb: 'command';
	readonly field: TextField;
	/** Lines that were typed before, newest last. */
	readonly history: readonly string[];
	/** Which of them is shown; undefined: what is being typed. */
	readonly historyIndex?: number;
	/** What was being typed before the history was recalled. */
	readonly draft: string;
	/** What Tab found, when it was more than one. */
	readonly candidates: readonly string[];
	readonly complaint?: Complaint;
	readonly isBusy: boolean;
};

/** What a command printed, to be scrolled. */
export type Output = {
	readonly kind: 'output';
	readonly title: string;
	readonly lines: readonly string[];
	/** First line and first column shown. */
	readonly top: number;
	readonly left: number;
	/** What is shown goes on. */
	readonly liveOutput?: LiveOutput;
	/** By line: what Enter types there. */
	readonly opens: ReadonlyMap<number, string>;
	readonly tones: ReadonlyMap<number, LiveOutputTone>;
	/** The line whose turn it is, where there are lines to open. */
	readonly chosen?: number;
	/** Whence it was opened, and where its end leads. */
	readonly from?: Output;
};

export const commandPrompt = (history: readonly string[]): CommandPrompt => ({
	kind: 'command',
	verb: 'command',
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

/** Shows what goes on; its lines come by {@link withPage}. */
export const openedLiveOutput = (title: string, liveOutput: LiveOutput, from: Output | undefined): Output => ({
	...outputOf(title, []),
	liveOutput,
	from,
});

/** What is shown now: the choice stays on the line that opens the same. */
export function withPage(output: Output, {lines, opens = new Map(), tones = new Map()}: LiveOutputPage): Output {
	const before = output.chosen === undefined ? undefined : output.opens.get(output.chosen);
	const opening = opens.keys().toArray();
	const chosen = opening.find((line) => opens.get(line) === before) ?? opening[0];
	return {...output, lines, opens, tones, chosen, top: Math.max(0, Math.min(output.top, lines.length - 1))};
}

/** The part of the line that Tab completes. */
export const beforeCaret = ({value, caret}: TextField): string => [...value].slice(0, caret).join('');
