/** Which reservations `release` and `extend` are about. */
import type {Selection} from '../../core/rules/leases/selection.js';
import type {Requester} from '../../core/model/types.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import type {Flag, Input} from '../../command-line/command.js';
import type {NamedParts} from '../../command-line/flags.js';

export const leaseFlag: Flag = {
	value: 'ID',
	summary: 'this very reservation and no later one: its lease_id in status --json',
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

type Meant = {
	readonly requester: Requester;
	/** The name that was typed for a shared account. */
	readonly label: string | undefined;
	/** Undefined: all of the caller's manual reservations, or all of `--lease`. */
	readonly named: NamedParts | undefined;
};

/** @throws CanhazgpuError `usage` for flags that contradict one another. */
export function selectionOf(input: Input, {requester, label, named}: Meant): Selection {
	const leaseId = leaseIdOf(input);
	if (leaseId === undefined) {
		return named === undefined ? {by: 'label', label: requester.label} : {by: 'gpus', ...named, label};
	}

	if ((named?.instances ?? []).length > 0) {
		throw new CanhazgpuError('usage', '--lease goes with whole GPUs, and --gpu-ids names an instance of MIG', {
			hint: 'Leave out one of them.',
		});
	}

	return {by: 'lease', leaseId, ids: named?.ids};
}

/** @throws CanhazgpuError `not-found` where nothing is left of the reservation that `--lease` names, on the GPUs that were named with it. */
export function checkLeft({by}: Selection, changed: readonly unknown[]): void {
	if (by === 'lease' && changed.length === 0) {
		throw new CanhazgpuError('not-found', 'That reservation has ended meanwhile', {
			hint: 'Nothing was changed. See who holds what: canhazgpu status',
		});
	}
}
