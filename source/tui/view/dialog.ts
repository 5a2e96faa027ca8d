/** Dialogs, as the lines inside their frames. */
import {sanitize} from '../../format/text.js';
import {shortDuration} from '../../format/durations.js';
import {fit, wrap} from '../../format/width.js';
import type {Confirmation, Dialog, FieldName, Form, FormField, Target} from '../dialogs.js';
import {storeNow, type State} from '../state.js';
import {equivalentCommand} from '../submission.js';
import type {Glyphs} from './glyphs.js';
import {helpLines} from './help.js';
import {fitLine, span, type Line, type Tone} from './spans.js';

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

/** The value with its caret, no wider than `width`: the end of a long one is shown. */
function valueSpans({field}: FormField, isFocused: boolean, width: number, glyphs: Glyphs): Line {
	const points = [...field.value];
	if (!isFocused) {
		return [span(fit(field.value, width, 'start', glyphs.ellipsis))];
	}

	if (field.isPreset && points.length > 0) {
		return fitLine([span(field.value, 'marked')], width, glyphs.ellipsis);
	}

	const start = Math.max(0, field.caret - width + 1);
	const before = points.slice(start, field.caret).join('');
	const at = points[field.caret];
	const after = points.slice(field.caret + 1).join('');
	const shown = [span(before), at === undefined ? span(glyphs.caret) : span(at, 'marked'), span(after)];
	return fitLine(shown, width, glyphs.ellipsis);
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
			return {title: 'Keys', width: 58, lines: helpLines(state.size.rows - 2)};
		}

		case 'form': {
			return formView(dialog, state, glyphs);
		}

		case 'confirmation': {
			return confirmationView(dialog, state, glyphs);
		}
	}
}
