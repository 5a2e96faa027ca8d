/** What a dialog asks for, and the command that asks for the same. */
import {CanhazgpuError} from '../errors.js';
import {parseDuration} from '../core/durations.js';
import type {Requester} from '../core/types.js';
import {shellCommand} from '../format/shell.js';
import type {Dialog, FieldName, Form, Target} from './dialogs.js';

export type Submission =
	| {
			readonly verb: 'reserve';
			readonly count: number;
			readonly ids?: readonly number[];
			readonly durationSeconds: number;
			readonly note?: string;
	  }
	| {readonly verb: 'extend'; readonly target: Target; readonly bySeconds: number}
	| {readonly verb: 'release'; readonly target: Target};

const valueOf = (form: Form, name: FieldName): string =>
	form.fields.find((field) => field.name === name)?.field.value.trim() ?? '';

function countOf(form: Form): number {
	const text = valueOf(form, 'count');
	if (text === '') {
		throw new CanhazgpuError('usage', 'How many GPUs?', {hint: 'Type a number.'});
	}

	return Number(text);
}

/**
@throws CanhazgpuError `usage` when a field makes no sense.
*/
export function submissionOf(dialog: Exclude<Dialog, {kind: 'help'}>): Submission {
	if (dialog.kind === 'confirmation') {
		return {verb: dialog.verb, target: dialog.target};
	}

	const {purpose} = dialog;
	// In the order of the fields, so that the complaint is about the first that is wrong.
	const count = purpose.verb === 'reserve' ? (purpose.ids?.length ?? countOf(dialog)) : 0;
	const note = valueOf(dialog, 'note');
	const seconds = parseDuration(valueOf(dialog, 'duration'), 'Duration');
	return purpose.verb === 'extend'
		? {verb: 'extend', target: purpose.target, bySeconds: seconds}
		: {
				verb: 'reserve',
				count,
				ids: purpose.ids,
				durationSeconds: seconds,
				note: note === '' ? undefined : note,
			};
}

/** The dialog as a command, with whatever its fields hold by now. */
export function equivalentCommand(dialog: Exclude<Dialog, {kind: 'help'}>, requester: Requester): string {
	const program = 'canhazgpu';
	if (dialog.kind === 'confirmation') {
		return shellCommand([program, 'release', '--gpu-ids', String(dialog.target.gpu)]);
	}

	const {purpose} = dialog;
	const duration = ['--duration', valueOf(dialog, 'duration')];
	if (purpose.verb === 'extend') {
		return shellCommand([program, 'extend', '--gpu-ids', String(purpose.target.gpu), ...duration]);
	}

	const which = purpose.ids === undefined ? ['--gpus', valueOf(dialog, 'count')] : ['--gpu-ids', purpose.ids.join(',')];
	const note = valueOf(dialog, 'note');
	return shellCommand([
		program,
		'reserve',
		...which,
		...duration,
		...(note === '' ? [] : ['--note', note]),
		...(requester.label === requester.account ? [] : ['--user', requester.label]),
	]);
}
