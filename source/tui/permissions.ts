/** Whether an action can be offered now, or why not. The core decides again when it is done. */
import {mayChange, ownerOf} from '../core/ownership.js';
import {sanitize} from '../format/text.js';
import type {Lease} from '../core/types.js';
import type {State} from './state.js';

export type Verb = 'reserve' | 'reserve-these' | 'release' | 'extend';

/** The lease on the selected GPU. */
export function selectedLease({snapshot, selectedGpu}: State): Lease | undefined {
	const record = selectedGpu === undefined ? undefined : snapshot?.gpus[selectedGpu];
	return record?.kind === 'leased' ? record.lease : undefined;
}

function reasonAgainstChange({settings, connection}: State): string | undefined {
	if (settings.isReadonly) {
		return 'This monitor is read-only: it was started with --readonly';
	}

	switch (connection.kind) {
		case 'connecting': {
			return 'The pool has not been read yet';
		}

		case 'lost': {
			return 'The store is unreachable: nothing can be changed until it is back';
		}

		case 'live': {
			return undefined;
		}
	}
}

function reasonAgainstLease(state: State, verb: 'release' | 'extend'): string | undefined {
	const gpu = `GPU ${state.selectedGpu}`;
	const lease = selectedLease(state);
	if (lease === undefined) {
		return `${gpu} is not reserved: there is nothing to ${verb}`;
	}

	if (!mayChange(state.settings.requester, lease)) {
		return `${gpu} is held by ${sanitize(ownerOf(lease))}: only the holder can ${verb} it`;
	}

	if (lease.partialQueueId !== undefined) {
		return `${gpu} is held for a place in the queue until the rest is free`;
	}

	return verb === 'extend' && lease.expiryTime === undefined
		? `${gpu} is held by a run: it ends when its job does, not at a time`
		: undefined;
}

/** Why it cannot be done now, for the user; undefined when it can. */
export function reasonAgainst(state: State, verb: Verb): string | undefined {
	const reason = reasonAgainstChange(state);
	if (reason !== undefined || verb === 'reserve') {
		return reason;
	}

	if (state.selectedGpu === undefined) {
		return 'No GPU is shown: Esc takes the filter away';
	}

	if (verb === 'release' || verb === 'extend') {
		return reasonAgainstLease(state, verb);
	}

	const lease = selectedLease(state);
	return lease && `GPU ${state.selectedGpu} is reserved already, by ${sanitize(ownerOf(lease))}`;
}
