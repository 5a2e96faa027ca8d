/** Dialogs, as the lines inside their frames. */
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import type {CommandPrompt} from '../state/command-line/state.js';
import type {AskingDialog, Dialog, Form, FormField} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {verbOf} from '../verbs/index.js';
import {helpOf} from '../panels/help.js';
import {fieldSpans} from '../widgets/field.js';
import type {Glyphs} from '../widgets/glyphs.js';
import {lineWidth, span, type Line} from '../widgets/styled-text.js';
import {dialogWidth, paragraph, sides, type DialogView} from '../widgets/dialog-parts.js';
import {outputLines} from './output.js';
import {columnsView} from './columns.js';
import {processView} from './process.js';

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

/** What became of the request, below the fields of a form. */
function answerLines({complaint, isBusy}: Form, state: State, glyphs: Glyphs): readonly Line[] {
	const lines: readonly Line[] = isBusy
		? [asking]
		: [
				...paragraph(complaint?.message ?? '', 'error', state, glyphs),
				...paragraph(complaint?.hint ?? '', 'plain', state, glyphs),
				...(complaint?.canWait === true ? [[span('w', 'key'), span(' waits for them in the queue')]] : []),
			];
	// A place for the answer is kept, so that the dialog does not jump.
	return lines.length > 0 ? lines : [[]];
}

const questionLine = (question: string): Line => [span(`${question} `, 'strong'), span('y/N', 'warning')];

/** The letters of `y/N` behind a question. */
const yesNo = (line: number, question: string): DialogView['question'] => {
	const yes = lineWidth(questionLine(question)) - 3;
	return {line, yes, no: yes + 2};
};

/** The words of the verb, with the fields or the question, the command that does the same, and the answer. */
function askingView(dialog: Exclude<AskingDialog, CommandPrompt>, state: State, glyphs: Glyphs): DialogView {
	const verb = verbOf(dialog);
	const {title, lines, question = '', width = dialogWidth(state), end} = verb.view!(dialog, state, glyphs);
	const command = verb.command?.(dialog, state.settings.requester);
	const commandLines = command === undefined ? [] : paragraph(`$ ${sanitize(command)}`, 'key', state, glyphs);
	return {
		title,
		width,
		end,
		...(dialog.kind === 'form'
			? {fieldsFrom: lines.length}
			: dialog.isBusy
				? {}
				: {question: yesNo(lines.length, question)}),
		lines:
			dialog.kind === 'form'
				? [...lines, ...fieldLines(dialog, glyphs), [], ...commandLines, ...answerLines(dialog, state, glyphs)]
				: [...lines, dialog.isBusy ? asking : questionLine(question), [], ...commandLines],
	};
}

/** Undefined for the command line, which stands at the foot of the screen. */
export function dialogView(dialog: Dialog, state: State, glyphs: Glyphs): DialogView | undefined {
	switch (dialog.kind) {
		case 'help': {
			const {lines, width, page, pages} = helpOf(state);
			return {title: pages > 1 ? `Keys, page ${page + 1} of ${pages}` : 'Keys', width: width + sides, lines};
		}

		case 'columns': {
			return columnsView(dialog, state);
		}

		case 'process': {
			return processView(dialog, state, glyphs);
		}

		case 'form':
		case 'confirmation':
		case 'choice': {
			return askingView(dialog, state, glyphs);
		}

		case 'output': {
			const {lines, range} = outputLines(dialog, state);
			return {title: sanitize(dialog.title), width: state.size.columns - 2, lines, end: range};
		}

		case 'command': {
			return undefined;
		}
	}
}
