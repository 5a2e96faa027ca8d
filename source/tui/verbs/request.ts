/** What a dialog asks for, and the command that asks for the same. */
import {CanhazgpuError} from '../../errors.js';
import {parseDuration, shortestHoldSeconds} from '../../core/rules/leases/durations.js';
import type {GpuProcess, QueueEntry, Requester} from '../../core/model/types.js';
import {shellCommand} from '../../format/text/shell.js';
import type {HeldGpu} from '../../core/rules/leases/selection.js';
import type {AskingDialog, Confirmation, FieldName, Form, NamedGpu, SignalChoice} from '../state/dialogs.js';
import type {SignalName} from '../ports.js';

export type ReserveRequestInput = {
	readonly verb: 'reserve';
	readonly count: number;
	readonly gpus?: readonly NamedGpu[];
	readonly durationSeconds: number;
	readonly note?: string;
	readonly force: boolean;
	/** Stand in line for them when they are not free. */
	readonly isPatient: boolean;
};

export type VerbRequest =
	| ReserveRequestInput
	| {readonly verb: 'extend'; readonly targets: readonly HeldGpu[]; readonly bySeconds: number}
	| {readonly verb: 'release'; readonly targets: readonly HeldGpu[]}
	| {readonly verb: 'leave'; readonly entry: QueueEntry}
	| {readonly verb: 'adopt'; readonly process: GpuProcess}
	| {readonly verb: 'signal'; readonly process: GpuProcess; readonly gpu: number; readonly signal: SignalName}
	| {readonly verb: 'command'; readonly line: string}
	| {readonly verb: 'quit'};

const valueOf = (form: Form, name: FieldName): string =>
	form.fields.find((field) => field.name === name)?.field.value.trim() ?? '';

function countOf(form: Form): number {
	const text = valueOf(form, 'count');
	if (text === '') {
		throw new CanhazgpuError('usage', 'How many GPUs?', {hint: 'Type a number.'});
	}

	return Number(text);
}

function ofForm(form: Form): VerbRequest {
	const {purpose} = form;
	// In the order of the fields, so that the complaint is about the first that is wrong.
	const count = purpose.verb === 'reserve' ? (purpose.gpus?.length ?? countOf(form)) : 0;
	const note = valueOf(form, 'note');
	const seconds = parseDuration(valueOf(form, 'duration'), 'Duration');
	if (seconds < shortestHoldSeconds) {
		throw new CanhazgpuError('usage', 'Duration: less than a second', {hint: 'Write 30m, 2h, 1d or 1h30m.'});
	}

	return purpose.verb === 'extend'
		? {verb: 'extend', targets: purpose.targets, bySeconds: seconds}
		: {
				verb: 'reserve',
				count,
				gpus: purpose.gpus,
				durationSeconds: seconds,
				note: note === '' ? undefined : note,
				force: valueOf(form, 'force') !== '',
				isPatient: purpose.isPatient,
			};
}

export const chosenProcess = ({processes, chosen}: SignalChoice): GpuProcess => processes[chosen]!;

/**
@throws CanhazgpuError `usage` when a field makes no sense.
*/
export function requestOf(dialog: AskingDialog): VerbRequest {
	switch (dialog.kind) {
		case 'form': {
			return ofForm(dialog);
		}

		case 'confirmation': {
			return dialog;
		}

		case 'signal': {
			return {verb: 'signal', process: chosenProcess(dialog), gpu: dialog.gpu, signal: dialog.signal};
		}

		case 'command': {
			return {verb: 'command', line: dialog.field.value.trim()};
		}
	}
}

const program = 'canhazgpu';

const idsOf = (gpus: ReadonlyArray<{readonly index: number}>): readonly string[] => [
	'--gpu-ids',
	gpus.map(({index}) => index).join(','),
];

function commandOfQuestion(question: Confirmation): string {
	switch (question.verb) {
		case 'release': {
			return shellCommand([program, 'release', ...idsOf(question.targets)]);
		}

		case 'leave': {
			return shellCommand([program, 'queue', '--leave', question.entry.id]);
		}

		case 'adopt': {
			return shellCommand([program, 'reserve', '--pid', String(question.process.pid)]);
		}

		case 'quit': {
			return shellCommand([program, 'queue']);
		}
	}
}

function commandOfForm(form: Form, requester: Requester): string {
	const {purpose} = form;
	const duration = ['--duration', valueOf(form, 'duration')];
	if (purpose.verb === 'extend') {
		return shellCommand([program, 'extend', ...idsOf(purpose.targets), ...duration]);
	}

	const which = purpose.gpus === undefined ? ['--gpus', valueOf(form, 'count')] : idsOf(purpose.gpus);
	const note = valueOf(form, 'note');
	return shellCommand([
		program,
		'reserve',
		...which,
		...duration,
		...(note === '' ? [] : ['--note', note]),
		...(valueOf(form, 'force') === '' ? [] : ['--force']),
		...(requester.label === requester.account ? [] : ['--user', requester.label]),
	]);
}

/** The dialog as a command, with whatever its fields hold by now. */
export function equivalentCommand(dialog: AskingDialog, requester: Requester): string {
	switch (dialog.kind) {
		case 'form': {
			return commandOfForm(dialog, requester);
		}

		case 'confirmation': {
			return commandOfQuestion(dialog);
		}

		case 'signal': {
			return shellCommand(['kill', `-${dialog.signal.slice(3)}`, String(chosenProcess(dialog).pid)]);
		}

		case 'command': {
			return `${program} ${dialog.field.value}`.trim();
		}
	}
}
