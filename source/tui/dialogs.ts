/** What a dialog holds while it is open. What it will act on is captured when it opens: a lease, never a line of the table. */
import type {Selection} from '../core/selection.js';
import type {Lease} from '../core/types.js';
import {presetField, type TextField} from './text-field.js';

/** One GPU of a lease, as it was when the dialog opened. */
export type Target = {
	readonly gpu: number;
	readonly lease: Lease;
	readonly selection: Selection;
};

export type FieldName = 'count' | 'duration' | 'note';

export type FormField = {readonly name: FieldName; readonly field: TextField};

export type FormPurpose =
	| {readonly verb: 'reserve'; readonly gpuCount: number; readonly ids?: readonly number[]}
	| {readonly verb: 'extend'; readonly target: Target};

/** A refusal shown inside the dialog, so that what was typed can be mended. */
export type Complaint = {readonly message: string; readonly hint?: string};

export type Form = {
	readonly kind: 'form';
	readonly purpose: FormPurpose;
	readonly fields: readonly FormField[];
	readonly focused: number;
	readonly complaint?: Complaint;
	/** The change was sent and not yet answered. */
	readonly isBusy: boolean;
};

/** Takes `y`, and nothing else, for yes. */
export type Confirmation = {
	readonly kind: 'confirmation';
	readonly verb: 'release';
	readonly target: Target;
	readonly isBusy: boolean;
};

export type Dialog = Form | Confirmation | {readonly kind: 'help'};

const form = (purpose: FormPurpose, fields: readonly FormField[]): Form => ({
	kind: 'form',
	purpose,
	fields,
	focused: 0,
	isBusy: false,
});

const field = (name: FieldName, preset: string): FormField => ({name, field: presetField(preset)});

/** Reserve `count` of any GPUs, or these ids. */
export const reserveForm = (gpuCount: number, ids?: readonly number[]): Form =>
	form({verb: 'reserve', gpuCount, ids}, [
		...(ids === undefined ? [field('count', '1')] : []),
		field('duration', '8h'),
		field('note', ''),
	]);

export const extendForm = (target: Target): Form => form({verb: 'extend', target}, [field('duration', '1h')]);

/** The lease on this GPU. The peer's records bear no id: then the GPU itself must do. */
export const targetOf = (gpu: number, lease: Lease): Target => ({
	gpu,
	lease,
	selection: lease.leaseId === undefined ? {by: 'gpus', ids: [gpu]} : {by: 'lease', leaseId: lease.leaseId, ids: [gpu]},
});
