/** What a dialog holds while it is open. What it will act on is captured when it opens: a lease, never a line of the table. */
import type {HeldGpu} from '../../core/rules/leases/selection.js';
import type {GpuProcess, QueueEntry} from '../../core/model/types.js';
import type {CommandPrompt, Output} from '../command-line/state.js';
import type {SignalName} from '../ports.js';
import {presetField, type TextField} from './text-field.js';
import type {Complaint} from './complaint.js';

/** A GPU that was chosen and is nothing to act on. `reason` comes after its number: `held by bob`. */
export type LeftOut = {readonly index: number; readonly reason: string};

/** What is acted on, as it was when the dialog opened; never nothing. And what was chosen beside it. */
export type Targets = {readonly targets: readonly HeldGpu[]; readonly leftOut: readonly LeftOut[]};

/** A GPU as it was when the dialog opened: its index may be another GPU's when it is acted on. */
export type NamedGpu = {readonly index: number; readonly uuid: string | undefined};

export type FieldName = 'count' | 'duration' | 'note' | 'force';

export type FormField = {readonly name: FieldName; readonly field: TextField};

export type FormPurpose =
	| {
			readonly verb: 'reserve';
			readonly gpuCount: number;
			/** These very ones; undefined: any. */
			readonly gpus?: readonly NamedGpu[];
			/** Stand in line for them when they are not free. */
			readonly isPatient: boolean;
	  }
	| ({readonly verb: 'extend'} & Targets);

export type Form = {
	readonly kind: 'form';
	readonly purpose: FormPurpose;
	readonly fields: readonly FormField[];
	readonly focused: number;
	readonly complaint?: Complaint;
	/** The change was sent and not yet answered. */
	readonly isBusy: boolean;
};

/** What is asked, and about what. */
export type Question =
	| ({readonly verb: 'release'} & Targets)
	| {readonly verb: 'leave'; readonly entry: QueueEntry; readonly held: readonly number[]}
	| {readonly verb: 'adopt'; readonly process: GpuProcess; readonly gpu: number}
	/** Whoever waits from here leaves the line with the monitor. */
	| {readonly verb: 'quit'; readonly waiting: number};

/** Takes `y`, and nothing else, for yes. */
export type Confirmation = Question & {readonly kind: 'confirmation'; readonly isBusy: boolean};

export const signals = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const satisfies readonly SignalName[];

/** Which signal, and to which of the asker's processes on a GPU. Takes `y`, and nothing else, for yes. */
export type SignalChoice = {
	readonly kind: 'signal';
	readonly gpu: number;
	readonly processes: readonly GpuProcess[];
	readonly chosen: number;
	readonly signal: SignalName;
	readonly isBusy: boolean;
};

/** Those that ask for something to be done. */
export type AskingDialog = Form | Confirmation | SignalChoice | CommandPrompt;

export type Dialog = AskingDialog | Output | {readonly kind: 'help'};

/** Narrows to those that ask for something to be done. */
export const isAsking = (dialog: Dialog | undefined): dialog is AskingDialog =>
	dialog !== undefined && dialog.kind !== 'help' && dialog.kind !== 'output';

const form = (purpose: FormPurpose, fields: readonly FormField[]): Form => ({
	kind: 'form',
	purpose,
	fields,
	focused: 0,
	isBusy: false,
});

const field = (name: FieldName, preset: string): FormField => ({name, field: presetField(preset)});

/** Reserve some number of any GPUs, or these; now, or as soon as they are free. */
export const reserveForm = (purpose: Omit<Extract<FormPurpose, {verb: 'reserve'}>, 'verb'>): Form =>
	form({verb: 'reserve', ...purpose}, [
		...(purpose.gpus === undefined ? [field('count', '1')] : []),
		field('duration', '8h'),
		field('note', ''),
		field('force', ''),
	]);

export const extendForm = (targets: Targets): Form => form({verb: 'extend', ...targets}, [field('duration', '1h')]);

/** Which signal, to which of these; none of them is sent yet. */
export const signalChoice = (gpu: number, processes: readonly GpuProcess[]): SignalChoice => ({
	kind: 'signal',
	gpu,
	processes,
	chosen: 0,
	signal: 'SIGTERM',
	isBusy: false,
});

export const ask = (question: Question): Confirmation => ({...question, kind: 'confirmation', isBusy: false});
