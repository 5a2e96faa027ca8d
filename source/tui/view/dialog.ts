/** Dialogs, as the lines inside their frames. */
import {sanitize} from '../../format/text.js';
import {shortDuration} from '../../format/durations.js';
import {fit, wrap} from '../../format/width.js';
import type {Confirmation, Dialog, FieldName, Form, FormField, Target} from '../dialogs.js';
import {storeNow, type State} from '../state.js';
import {equivalentCommand} from '../submission.js';
import {fieldSpans} from './field.js';
import type {Glyphs} from './glyphs.js';
import {helpView} from './help.js';
import {span, type Line, type Tone} from './spans.js';

export type DialogView = {readonly title: string; readonly lines: readonly Line[]; readonly width: number};

const labels: Readonly<Record<FieldName, string>> = {count: 'GPUs', duration: 'Duration', note: 'Note'};

function hintOf({name}: FormField, {purpose}: Form): string {
	switch (name) {
		case 'count': {
			return purpose.verb === 'reserve' ? `1 to ${purpose.gpuCount}, or up and down` : '';
		}

		case 'duration': {
			return purpose.verb === 'extend' ? 'added to its end: 30m, 2h, 1d' : '30m, 2h, 1d, 1h30m';
		}

		case 'note': {
			return 'what it is for';
		}
	}
}

function fieldLines(form: Form, glyphs: Glyphs): readonly Line[] {
	return form.fields.map((formField, position): Line => {
		const isFocused = position === form.focused;
		const isLong = formField.name === 'note' && formField.field.value !== '';
		return [
			span(isFocused ? '> ' : '  ', 'key'),
			span(fit(labels[formField.name], 10), isFocused ? 'strong' : 'plain'),
			...(isFocused
				? fieldSpans(formField.field, isLong ? 40 : 10, glyphs)
				: [span(fit(formField.field.value, isLong ? 40 : 10, 'start', glyphs.ellipsis))]),
			...(isLong ? [] : [span(`  ${hintOf(formField, form)}`, 'dim')]),
		];
	});
}

/** `carol, MANUAL, held 6h40m, ends in 12m`. */
function holdingWords({lease}: Target, state: State): string {
	const now = storeNow(state) ?? lease.startTime;
	return [
		sanitize(lease.user),
		lease.type === 'run' ? 'RUN' : 'MANUAL',
		`held ${shortDuration(now - lease.startTime)}`,
		lease.expiryTime === undefined ? 'ends with its job' : `ends in ${shortDuration(lease.expiryTime - now)}`,
	].join(', ');
}

const widest = 84;
/** The sides of the frame, and a space at each. */
const sides = 4;

const dialogWidth = ({size}: State): number => Math.min(widest, size.columns - 2);

/** Text that may need several lines. */
const paragraph = (text: string, tone: Tone, state: State, glyphs: Glyphs): readonly Line[] =>
	wrap(text, dialogWidth(state) - sides, 4, glyphs.ellipsis).map((line) => [span(line, tone)]);

const commandLines = (dialog: Exclude<Dialog, {kind: 'help'}>, state: State, glyphs: Glyphs): readonly Line[] =>
	paragraph(`$ ${sanitize(equivalentCommand(dialog, state.settings.requester))}`, 'key', state, glyphs);

function titleOf({purpose}: Form): string {
	if (purpose.verb === 'extend') {
		return `Extend GPU ${purpose.target.gpu}`;
	}

	return purpose.ids === undefined ? 'Reserve GPUs' : `Reserve GPU ${purpose.ids.join(',')}`;
}

function formView(form: Form, state: State, glyphs: Glyphs): DialogView {
	const {purpose, complaint, isBusy} = form;
	const about: readonly Line[] =
		purpose.verb === 'extend' ? [[span(holdingWords(purpose.target, state), 'dim')], []] : [];
	const answer: readonly Line[] = isBusy
		? [[span('asking the pool', 'dim')]]
		: [
				...paragraph(complaint?.message ?? '', 'error', state, glyphs),
				...paragraph(complaint?.hint ?? '', 'plain', state, glyphs),
			];
	return {
		title: titleOf(form),
		width: dialogWidth(state),
		lines: [
			...about,
			...fieldLines(form, glyphs),
			[],
			...commandLines(form, state, glyphs),
			// A place for the answer is kept, so that the dialog does not jump.
			...(answer.length > 0 ? answer : [[]]),
		],
	};
}

function confirmationView(dialog: Confirmation, state: State, glyphs: Glyphs): DialogView {
	const {target, isBusy} = dialog;
	const warning =
		target.lease.type === 'run' ? [span('Its job goes on, on a GPU that others may then get.', 'warning')] : [];
	return {
		title: `Release GPU ${target.gpu}`,
		width: 64,
		lines: [
			[span(holdingWords(target, state), 'dim')],
			warning,
			isBusy
				? [span('asking the pool', 'dim')]
				: [span(`Release GPU ${target.gpu} now? `, 'strong'), span('y/N', 'warning')],
			[],
			...commandLines(dialog, state, glyphs),
		],
	};
}

export function dialogView(dialog: Dialog, state: State, glyphs: Glyphs): DialogView {
	switch (dialog.kind) {
		case 'help': {
			const {lines, width} = helpView(state.size.rows - 2, state.size.columns - 2 - sides);
			return {title: 'Keys', width: width + sides, lines};
		}

		case 'form': {
			return formView(dialog, state, glyphs);
		}

		case 'confirmation': {
			return confirmationView(dialog, state, glyphs);
		}
	}
}
