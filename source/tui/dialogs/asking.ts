/** Dialogs that ask for something: a form or a question. On screens that have not enough rows for all of their lines, what matters least gives way first. */
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import type {CommandPrompt} from '../state/command-line/state.js';
import type {AskingDialog, Form, FormField} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {verbOf} from '../verbs/index.js';
import {dialogWidth, paragraph, type DialogText, type DialogView} from '../widgets/dialog-parts.js';
import type {Glyphs} from '../widgets/drawing.js';
import {fieldSpans} from '../widgets/field.js';
import {lineWidth, span, type Line, type Tone} from '../widgets/styled-text.js';

/** Some lines of a dialog, one part after another. */
type Part = {
	/** How many lines it has where there is room. */
	readonly most: number;
	/** How many it keeps at the least. */
	readonly least: number;
	/** The part in so many lines or fewer, `most` at the most; where something is left out, a mark says so. */
	readonly lines: (most: number) => readonly Line[];
};

/** Of lines that are there or not, without a mark. */
const optional = (lines: readonly Line[]): Part => ({
	most: lines.length,
	least: 0,
	lines: (most) => (most < lines.length ? [] : lines),
});

/** Of lines that are always there. */
const fixed = (lines: readonly Line[]): Part => ({
	most: lines.length,
	least: lines.length,
	lines: () => lines,
});

/**
The lines of every part, in the order of the parts.

@param parts - By name, in the order in which they stand.
@param giveWay - Their names, the first gives way first.
@param room - So many lines can be shown. Where even the least needs more, the least is what is returned.
*/
function fitParts<Name extends string>(
	parts: Readonly<Record<Name, Part>>,
	giveWay: ReadonlyArray<NoInfer<Name>>,
	room: number,
): Readonly<Record<Name, readonly Line[]>> {
	const names = Object.keys(parts) as Name[];
	const granted = new Map(names.map((name) => [name, parts[name].most]));
	let excess = names.reduce((sum, name) => sum + parts[name].most, 0) - room;
	for (const name of giveWay) {
		const {most, least} = parts[name];
		const cut = Math.max(0, Math.min(excess, most - least));
		granted.set(name, most - cut);
		excess -= cut;
	}

	return Object.fromEntries(names.map((name) => [name, parts[name].lines(granted.get(name)!)])) as unknown as Record<
		Name,
		readonly Line[]
	>;
}

function valueSpans({kind, field}: FormField, isFocused: boolean, width: number, glyphs: Glyphs): Line {
	if (kind === 'check') {
		const box = field.value === '' ? '[ ]' : '[x]';
		return [span(box, isFocused ? 'marked' : 'plain'), span(' '.repeat(width - box.length))];
	}

	return isFocused ? fieldSpans(field, width, glyphs) : [span(fit(field.value, width, 'start', glyphs.ellipsis))];
}

function fieldLines(form: Form, glyphs: Glyphs): readonly Line[] {
	return form.fields.map((formField, position): Line => {
		const isFocused = position === form.focused;
		const {kind, label, hint, field} = formField;
		const isLong = kind === 'text' && field.value !== '';
		return [
			span(isFocused ? '> ' : '  ', 'key'),
			span(fit(label, 10), isFocused ? 'strong' : 'plain'),
			...valueSpans(formField, isFocused, isLong ? 40 : 10, glyphs),
			...(isLong ? [] : [span(`  ${hint}`, 'dim')]),
		];
	});
}

const asking: Line = [span('asking the pool', 'dim')];

const questionLine = (question: string): Line => [span(`${question} `, 'strong'), span('y/N', 'warning')];

/** The letters of `y/N` behind a question. */
const yesNo = (line: number, question: string): DialogView['question'] => {
	const yes = lineWidth(questionLine(question)) - 3;
	return {line, yes, no: yes + 2};
};

/** The frame, and the footer below, whose keys end the dialog. */
const rowsAround = 3;

type Asking = Exclude<AskingDialog, CommandPrompt>;

/** Text in fewer lines where there is not the room, down to `least`; an ellipsis says so. */
function text(words: string, tone: Tone, least: number, {state, glyphs}: Drawing): Part {
	const {length} = paragraph({text: words, tone}, state, glyphs);
	return {
		most: length,
		least: Math.min(least, length),
		lines: (most) => (most === 0 ? [] : paragraph({text: words, tone, most}, state, glyphs)),
	};
}

type Drawing = {readonly state: State; readonly glyphs: Glyphs};

function commandOf(dialog: Asking, drawing: Drawing): Part {
	const command = verbOf(dialog).command?.(dialog, drawing.state.settings.requester);
	return text(command === undefined ? '' : `$ ${sanitize(command)}`, 'key', 1, drawing);
}

const roomOf = ({settings, size}: State): number => (settings.isLinear ? Infinity : size.rows - rowsAround);

/** What the verb says, the fields, the command that does the same, and what became of the request. */
function formView(form: Form & Asking, about: readonly Line[], drawing: Drawing) {
	const {complaint, isBusy} = form;
	const answer = isBusy ? undefined : complaint;
	const {below, ...rest} = fitParts(
		{
			about: optional(about),
			fields: fixed(fieldLines(form, drawing.glyphs)),
			gap: optional([[]]),
			command: commandOf(form, drawing),
			// The refusal is what the user looks for now.
			message: text(answer?.message ?? '', 'error', 2, drawing),
			hint: text(answer?.hint ?? '', 'plain', 1, drawing),
			wait: fixed(answer?.canWait === true ? [[span('w', 'key'), span(' waits for them in the queue')]] : []),
			// A place for the answer is kept, so that the dialog does not jump.
			below: isBusy ? fixed([asking]) : optional(answer === undefined ? [[]] : []),
		},
		['below', 'gap', 'about', 'command', 'hint', 'message'],
		roomOf(drawing.state),
	);
	return {fieldsFrom: rest.about.length, lines: [...Object.values(rest).flat(), ...below]};
}

/** What the verb says, as much of it as there is room for. */
const aboutPart = (about: readonly Line[], {ellipsis}: Glyphs): Part => ({
	most: about.length,
	least: Math.min(1, about.length),
	lines: (most) => (most < about.length ? [...about.slice(0, most - 1), [span(ellipsis, 'dim')]] : about),
});

/** What the verb says, the question, and the command that does the same. */
function questionView(dialog: Asking, {lines: about, question = ''}: DialogText, drawing: Drawing) {
	const parts = fitParts(
		{
			about: aboutPart(about, drawing.glyphs),
			question: fixed([dialog.isBusy ? asking : questionLine(question)]),
			gap: optional([[]]),
			command: commandOf(dialog, drawing),
		},
		['gap', 'command', 'about'],
		roomOf(drawing.state),
	);
	return {
		...(!dialog.isBusy && {question: yesNo(parts.about.length, question)}),
		lines: Object.values(parts).flat(),
	};
}

/** The words of the verb, with the fields or the question, the command that does the same, and the answer. */
export function askingView(dialog: Asking, state: State, glyphs: Glyphs): DialogView {
	const drawing = {state, glyphs};
	const words = verbOf(dialog).view!(dialog, state, glyphs);
	const {title, width = dialogWidth(state), end} = words;
	return {
		title,
		width,
		end,
		...(dialog.kind === 'form' ? formView(dialog, words.lines, drawing) : questionView(dialog, words, drawing)),
	};
}
