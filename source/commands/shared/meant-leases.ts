import type {Selection} from '../../core/rules/leases/selection.js';
import type {Requester} from '../../core/model/types.js';
import type {App} from '../../app/contract.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import type {Flag, Input} from '../../command-line/command.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {missingParts, namedText, type HeldPart, type NamedParts} from '../../format/instances.js';
import {checkLabel} from './flag-values.js';

export const leaseFlag: Flag = {
	value: 'ID',
	summary: 'only the reservation with this lease_id, which status --json shows',
	completes: 'leases',
};

/** Matches every lease id that this program or Slurm creates. */
const leaseIdPattern = /^[\w\-]{1,64}$/v;

function leaseIdOf(input: Input): string | undefined {
	const id = input.text('lease');
	if (id === undefined) {
		return undefined;
	}

	if (!leaseIdPattern.test(id)) {
		throw new CanhazgpuError('usage', `--lease: ${quoted(id)} is not the id of a reservation`, {
			hint: 'It is the lease_id that canhazgpu status --json shows.',
		});
	}

	if (input.has('user')) {
		throw new CanhazgpuError('usage', '--lease and --user cannot be combined: --lease already names one reservation', {
			hint: 'Leave out one of them.',
		});
	}

	return id;
}

type MeantLeases = {
	readonly label: string | undefined;
	/** Returns the selection. Must be called after the pool was opened: in an isolated job, only the pool knows the account. */
	readonly selectionOf: (requester: Requester) => Selection;
};

/** Selects reservations. If `named` is undefined, selects all manual reservations, or with `--lease` all GPUs of that reservation. */
export function meantLeases(input: Input, named: NamedParts | undefined): MeantLeases {
	const label = checkLabel(input.text('user'));
	const leaseId = leaseIdOf(input);
	if (leaseId !== undefined && (named?.instances ?? []).length > 0) {
		throw new CanhazgpuError('usage', '--lease cannot be combined with MIG instances in --gpu-ids', {
			hint: 'Leave out one of them.',
		});
	}

	return {
		label,
		selectionOf(requester) {
			if (leaseId !== undefined) {
				return {by: 'lease', leaseId, ids: named?.ids};
			}

			return named === undefined ? {by: 'label', label: requester.label} : {by: 'gpus', ...named, label};
		},
	};
}

export const nothingFoundText = (named: NamedParts | undefined): string =>
	named === undefined
		? 'No manually reserved GPUs found for current user'
		: `No reservations found for current user on ${namedText(named.ids, named.instances)}`;

/** Prints a remark that names the selected GPUs that the caller had not reserved. The other selected GPUs were changed. */
export function remarkMissing(app: App, named: NamedParts | undefined, changed: readonly HeldPart[]): void {
	const missing = named && missingParts(named, changed);
	if (missing !== undefined && missing.ids.length + missing.instances.length > 0) {
		app.remark(nothingFoundText(missing));
	}
}

/** Throws `not-found` if `--lease` selected nothing. */
export function checkLeft(selection: Selection, changed: readonly unknown[]): void {
	if (selection.by !== 'lease' || changed.length > 0) {
		return;
	}

	const {leaseId, ids} = selection;
	throw new CanhazgpuError(
		'not-found',
		ids === undefined
			? `Reservation ${quoted(leaseId)} does not exist or has ended`
			: `Reservation ${quoted(leaseId)} does not hold ${gpuList(ids)}`,
		{hint: 'Nothing was changed. See the lease_id of each reservation: canhazgpu status --json'},
	);
}
