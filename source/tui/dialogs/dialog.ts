/** Dialogs, as the lines inside their frames. */
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import type {Dialog, FieldName, Form, FormField} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {fieldSpans} from '../widgets/field.js';
import type {Glyphs} from '../widgets/glyphs.js';
import {helpOf} from '../view/help.js';
import {span, type Line} from '../widgets/styled-text.js';
import {confirmationView, signalView} from './question.js';
import {asking, commandLines, dialogWidth, paragraph, sides, type DialogView} from './dialog-parts.js';
import {outputLines} from './command-line.js';
import {targetLines, targetNames} from './targets.js';

const labels: Readonly<Record<FieldName, string>> = {
	count: 'GPUs',
	duration: 'Duration',
	note: 'Note',
	force: 'Force',
};

function hintOf({name}: FormField, {purpose}: Form): string {
	switch (name) {
		case 'count': {
			return purpose.verb === 'reserve' ? `1 to ${purpose.gpuCount}, or up and down` : '';
		}

		case 'duration': {
			return purpose.verb === 'extend'
				? purpose.targets.length === 1
					? 'added to its end: 30m, 2h, 1d'
					: 'added to each end: 30m, 2h, 1d'
				: '30m, 2h, 1d, 1h30m';
		}

		case 'note': {
			return 'what it is for';
		}

		case 'force': {
			return 'Space: also GPUs used unreserved';
		}
	}
}

function valueSpans({name, field}: FormField, isFocused: boolean, width: number, glyphs: Glyphs): Line {
	if (name === 'force') {
		const box = field.value === '' ? '[ ]' : '[x]';
		return [span(box, isFocused ? 'marked' : 'plain'), span(' '.repeat(width - box.length))];
	}

	return isFocused ? fieldSpans(field, width, glyphs) : [span(fit(field.value, width, 'start', glyphs.ellipsis))];
}

function fieldLines(form: Form, glyphs: Glyphs): readonly Line[] {
	return form.fields.map((formField, position): Line => {
		const isFocused = position === form.focused;
		const isLong = formField.name === 'note' && formField.field.value !== '';
		return [
			span(isFocused ? '> ' : '  ', 'key'),
			span(fit(labels[formField.name], 10), isFocused ? 'strong' : 'plain'),
			...valueSpans(formField, isFocused, isLong ? 40 : 10, glyphs),
			...(isLong ? [] : [span(`  ${hintOf(formField, form)}`, 'dim')]),
		];
	});
}

function titleOf({purpose}: Form): string {
	if (purpose.verb === 'extend') {
		return `Extend ${targetNames(purpose.targets)}`;
	}

	const verb = purpose.isPatient ? 'Wait for' : 'Reserve';
	return purpose.gpus === undefined ? `${verb} GPUs` : `${verb} GPU ${purpose.gpus.map(({index}) => index).join(',')}`;
}

function aboutLines({purpose}: Form, state: State, glyphs: Glyphs): readonly Line[] {
	if (purpose.verb === 'extend') {
		return [...targetLines(purpose, state, glyphs), []];
	}

	return purpose.isPatient
		? [[span('Taken at once when they are free, else in line while this monitor runs.', 'dim')], []]
		: [];
}

function formView(form: Form, state: State, glyphs: Glyphs): DialogView {
	const {complaint, isBusy} = form;
	const answer: readonly Line[] = isBusy
		? [asking]
		: [
				...paragraph(complaint?.message ?? '', 'error', state, glyphs),
				...paragraph(complaint?.hint ?? '', 'plain', state, glyphs),
				...(complaint?.canWait === true ? [[span('w', 'key'), span(' waits for them in the queue')]] : []),
			];
	return {
		title: titleOf(form),
		width: dialogWidth(state),
		lines: [
			...aboutLines(form, state, glyphs),
			...fieldLines(form, glyphs),
			[],
			...commandLines(form, state, glyphs),
			// A place for the answer is kept, so that the dialog does not jump.
			...(answer.length > 0 ? answer : [[]]),
		],
	};
}

/** Undefined for the command line, which stands at the foot of the screen. */
export function dialogView(dialog: Dialog, state: State, glyphs: Glyphs): DialogView | undefined {
	switch (dialog.kind) {
		case 'help': {
			const {lines, width, page, pages} = helpOf(state);
			return {title: pages > 1 ? `Keys, page ${page + 1} of ${pages}` : 'Keys', width: width + sides, lines};
		}

		case 'form': {
			return formView(dialog, state, glyphs);
		}

		case 'confirmation': {
			return confirmationView(dialog, state, glyphs);
		}

		case 'signal': {
			return signalView(dialog, state, glyphs);
		}

		case 'output': {
			const {lines, place} = outputLines(dialog, state);
			return {title: sanitize(dialog.title), width: state.size.columns - 2, lines, end: place};
		}

		case 'command': {
			return undefined;
		}
	}
}
