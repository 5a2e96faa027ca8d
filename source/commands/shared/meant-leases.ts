/** Which reservations `release` and `extend` are about. */
import type {Selection} from '../../core/rules/leases/selection.js';
import type {Requester} from '../../core/model/types.js';
import type {App} from '../../app/contract.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import type {Flag, Input} from '../../command-line/command.js';
import {missingParts, namedText, type HeldPart, type NamedParts} from '../../format/instances.js';
import {checkLabel} from './flag-values.js';

export const leaseFlag: Flag = {
	value: 'ID',
	summary: 'only this reservation: a lease_id of status --json',
	completes: 'leases',
};

/** The form of every id of a reservation, by this program and by Slurm. */
const leaseIdPattern = /^[\w\-]{1,64}$/v;

/**
The id behind `--lease`. Undefined without the flag.

@throws CanhazgpuError `usage` for what is no id, and for flags that name something else.
*/
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
		throw new CanhazgpuError('usage', '--lease names one reservation, and --user all under a name', {
			hint: 'Leave out one of them.',
		});
	}

	return id;
}

type MeantLeases = {
	/** The name that was typed for a shared account. */
	readonly label: string | undefined;
	/** To be called once the pool is open: in an isolated job only the pool tells whose account this is. */
	readonly selectionOf: (requester: Requester) => Selection;
};

/**
@param named - Undefined: all of the caller's manual reservations, or all of `--lease`.
@throws CanhazgpuError `usage` for flags that contradict one another.
*/
export function meantLeases(input: Input, named: NamedParts | undefined): MeantLeases {
	const label = checkLabel(input.text('user'));
	const leaseId = leaseIdOf(input);
	if (leaseId !== undefined && (named?.instances ?? []).length > 0) {
		throw new CanhazgpuError('usage', '--lease goes with whole GPUs, and --gpu-ids names an instance of MIG', {
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

/** In the Go program's words. */
export const nothingFoundText = (named: NamedParts | undefined): string =>
	named === undefined
		? 'No manually reserved GPUs found for current user'
		: `No reservations found for current user on ${namedText(named.ids, named.instances)}`;

/** Says which of what was named the caller has not reserved, while the rest was changed. */
export function remarkMissing(app: App, named: NamedParts | undefined, changed: readonly HeldPart[]): void {
	const missing = named && missingParts(named, changed);
	if (missing !== undefined && missing.ids.length + missing.instances.length > 0) {
		app.remark(nothingFoundText(missing));
	}
}

/** @throws CanhazgpuError `not-found` where nothing is left of the reservation that `--lease` names, on the GPUs that were named with it. */
export function checkLeft({by}: Selection, changed: readonly unknown[]): void {
	if (by === 'lease' && changed.length === 0) {
		throw new CanhazgpuError('not-found', 'That reservation has ended meanwhile', {
			hint: 'Nothing was changed. See who holds what: canhazgpu status',
		});
	}
}
