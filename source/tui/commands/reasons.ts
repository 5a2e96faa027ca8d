import {gpuTable, selectedGpu} from '../state/gpus/rows.js';
import type {State} from '../state/state.js';
import {noRowIn} from '../state/table/table.js';

type Reason = (state: State) => string | undefined;

export const firstReason =
	(...reasons: readonly Reason[]): Reason =>
	(state) =>
		reasons
			.values()
			.map((reasonOf) => reasonOf(state))
			.find((reason) => reason !== undefined);

export const reasonAgainstDoing: Reason = ({settings}) =>
	settings.isReadonly ? 'This monitor is read-only: it was started with --readonly' : undefined;

export const reasonAgainstGpus: Reason = (state) =>
	selectedGpu(state) === undefined ? noRowIn(gpuTable, state) : undefined;

/** Returns why no change of the pool is possible now. Undefined if changes are possible. */
export const reasonAgainstChange: Reason = firstReason(reasonAgainstDoing, ({connection}) => {
	if (connection.kind === 'connecting') {
		return 'The pool has not been read yet';
	}

	return connection.kind === 'lost' ? `Changes are disabled: ${connection.reason}` : undefined;
});
