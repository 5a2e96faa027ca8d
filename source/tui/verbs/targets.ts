/** What `x` and `e` act on: of the tagged GPUs, or else of the selected one, those whose lease the asker may change. */
import {mayChange, ownerOf} from '../../core/rules/leases/ownership.js';
import type {HeldGpu} from '../../core/rules/leases/selection.js';
import type {Lease} from '../../core/model/types.js';
import {sanitize} from '../../format/text/text.js';
import type {LeftOut, Targets} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {chosenGpus} from '../table/rows.js';

export type LeaseVerb = 'release' | 'extend';

/** The lease on a GPU. */
export function leaseOn({snapshot}: State, gpu: number | undefined): Lease | undefined {
	const record = gpu === undefined ? undefined : snapshot?.gpus[gpu];
	return record?.kind === 'leased' ? record.lease : undefined;
}

/** Why not: what the GPU is, and what follows from that. */
type Hindrance = {readonly what: string; readonly why: string};

function hindrance(lease: Lease | undefined, {settings}: State, verb: LeaseVerb): Hindrance | undefined {
	if (lease === undefined) {
		return {what: 'not reserved', why: `there is nothing to ${verb}`};
	}

	if (!mayChange(settings.requester, lease)) {
		return {what: `held by ${sanitize(ownerOf(lease))}`, why: `only the holder can ${verb} it`};
	}

	if (lease.partialQueueId !== undefined) {
		return {what: 'held for a place in the queue', why: '3 and then x gives that up'};
	}

	return verb === 'extend' && lease.expiryTime === undefined
		? {what: 'held by a run', why: 'it ends when its job does, not at a time'}
		: undefined;
}

/** Those to act on may be none. */
export function targetsOf(state: State, verb: LeaseVerb): Targets {
	const targets: HeldGpu[] = [];
	const leftOut: LeftOut[] = [];
	for (const index of chosenGpus(state)) {
		const lease = leaseOn(state, index);
		const reason = hindrance(lease, state, verb)?.what;
		if (lease === undefined || reason !== undefined) {
			leftOut.push({index, reason: reason ?? ''});
		} else {
			targets.push({index, lease});
		}
	}

	return {targets, leftOut};
}

/** `1,3 not reserved; 4 held by bob`. */
export const leftOutWords = (leftOut: readonly LeftOut[]): string =>
	Array.from(
		Map.groupBy(leftOut, ({reason}) => reason),
		([reason, gpus]) => `${gpus.map(({index}) => index).join(',')} ${reason}`,
	).join('; ');

/** Why nothing that was chosen can be acted on; undefined when something can. */
export function reasonAgainstLeases(state: State, verb: LeaseVerb): string | undefined {
	const {targets, leftOut} = targetsOf(state, verb);
	const [first, ...others] = leftOut;
	if (targets.length > 0 || first === undefined) {
		return undefined;
	}

	if (others.length > 0) {
		return `None of the tagged GPUs can be ${verb === 'release' ? 'released' : 'extended'}: ${leftOutWords(leftOut)}`;
	}

	const {what, why} = hindrance(leaseOn(state, first.index), state, verb)!;
	return `GPU ${first.index} is ${what}: ${why}`;
}
