/** Reasons against several verbs. */
import type {State} from '../../state/state.js';

type Reason = (state: State) => string | undefined;

/** The first reason of several, in the order in which they are given. */
export const firstReason =
	(...reasons: readonly Reason[]): Reason =>
	(state) => {
		for (const reasonOf of reasons) {
			const reason = reasonOf(state);
			if (reason !== undefined) {
				return reason;
			}
		}

		return undefined;
	};

export const reasonAgainstDoing: Reason = ({settings}) =>
	settings.isReadonly ? 'This monitor is read-only: it was started with --readonly' : undefined;

export const reasonAgainstGpus: Reason = ({selectedGpu}) =>
	selectedGpu === undefined ? 'No GPU is shown: Esc clears the filter' : undefined;

/** Against all that changes the pool. */
export const reasonAgainstChange: Reason = firstReason(reasonAgainstDoing, ({connection}) => {
	switch (connection.kind) {
		case 'connecting': {
			return 'The pool has not been read yet';
		}

		case 'lost': {
			return `Changes are disabled: ${connection.reason}`;
		}

		case 'live': {
			return undefined;
		}
	}
});
