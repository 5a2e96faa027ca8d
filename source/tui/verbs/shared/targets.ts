/**
What verbs act on: of the tagged GPUs, or else of the selected one or its whole reservation, those whose lease the asker may change.
*/
import {holdingsOn, type HeldPart} from '../../../core/rules/leases/holdings.js';
import {mayChange, ownerOf, owns} from '../../../core/rules/leases/ownership.js';
import type {Lease} from '../../../core/model/types.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import type {State} from '../../state/state.js';
import {chosenGpus, taggedGpus} from '../../state/table/rows.js';
import {failed, halfDone, succeeded, type Done} from '../verb.js';

/** A GPU that was chosen and is nothing to act on. `reason` comes after its number: `held by bob`. */
type LeftOut = {readonly index: number; readonly reason: string};

/** What is acted on, as it was when the dialog opened; never nothing. And what was chosen beside it. */
export type Targets = {
	readonly targets: readonly HeldPart[];
	readonly leftOut: readonly LeftOut[];
	/** The reservation that all of them are of, where the user has others on their GPUs, as shares can be: then the command names it by its id. */
	readonly namedLeaseId?: string | undefined;
};

type LeaseVerb = 'release' | 'extend';

/** The lease on a GPU; of one that is shared the own share, if there is one. */
export function leaseOn({snapshot, settings}: State, gpu: number | undefined): Lease | undefined {
	const leases = holdingsOn(gpu === undefined ? undefined : snapshot?.gpus[gpu]).map(({lease}) => lease);
	return leases.find((lease) => owns(settings.requester, lease)) ?? leases[0];
}

/**
The tagged GPUs, or else all of the reservation that the selected one belongs to: what `e` extends and `y` copies. One GPU of several can be
released alone (`x`), but a reservation with two ends, or half of its export line, is never what the user means.
*/
export function reservationGpus(state: State): readonly number[] {
	const lease = leaseOn(state, state.selectedGpu);
	return taggedGpus(state).length > 0 || lease?.leaseId === undefined
		? chosenGpus(state)
		: state
				.snapshot!.gpus.filter(({index}) => leaseOn(state, index)?.leaseId === lease.leaseId)
				.map(({index}) => index);
}

/** The chosen GPUs, and where reservations are given back whole the others of theirs, too. */
function releasedGpus(state: State): readonly number[] {
	const chosen = chosenGpus(state);
	if (state.settings.lacks?.has('partial-release') !== true) {
		return chosen;
	}

	const leases = new Set(chosen.map((gpu) => leaseOn(state, gpu)?.leaseId).filter((id) => id !== undefined));
	const whole = (state.snapshot?.gpus ?? [])
		.map(({index}) => index)
		.filter((index) => leases.has(leaseOn(state, index)?.leaseId ?? ''));
	return [...new Set([...chosen, ...whole])].toSorted((a, b) => a - b);
}

/** The other GPUs of the reservation, where one GPU of it is all that is acted on. */
export function otherGpusOf({targets, leftOut}: Targets, state: State): readonly number[] {
	const [target, ...more] = targets;
	return target === undefined || more.length + leftOut.length > 0 || target.lease.leaseId === undefined
		? []
		: (state.snapshot?.gpus ?? [])
				.filter(({index}) => index !== target.index && leaseOn(state, index)?.leaseId === target.lease.leaseId)
				.map(({index}) => index);
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
		return {what: 'held for a position in the queue', why: 'press 3 and then x to leave the queue'};
	}

	return verb === 'extend' && lease.expiryTime === undefined
		? {what: 'held by a run', why: 'it ends when its job does'}
		: undefined;
}

/** Those to act on may be none. */
function namedLeaseIdOf({snapshot, settings}: State, targets: readonly HeldPart[]): string | undefined {
	const [leaseId, ...others] = new Set(targets.map(({lease}) => lease.leaseId));
	const isAmongOthers = targets.some(({index}) =>
		holdingsOn(snapshot?.gpus[index]).some(({lease}) => lease.leaseId !== leaseId && owns(settings.requester, lease)),
	);
	return others.length === 0 && isAmongOthers ? leaseId : undefined;
}

export function targetsOf(state: State, verb: LeaseVerb): Targets {
	const targets: HeldPart[] = [];
	const leftOut: LeftOut[] = [];
	for (const index of verb === 'extend' ? reservationGpus(state) : releasedGpus(state)) {
		const lease = leaseOn(state, index);
		const reason = hindrance(lease, state, verb)?.what;
		if (lease === undefined || reason !== undefined) {
			leftOut.push({index, reason: reason ?? ''});
		} else {
			targets.push({index, lease});
		}
	}

	return {targets, leftOut, namedLeaseId: namedLeaseIdOf(state, targets)};
}

/** Returns `1,3 not reserved; 4 held by bob`. */
export const leftOutText = (leftOut: readonly LeftOut[]): string =>
	Array.from(
		Map.groupBy(leftOut, ({reason}) => reason),
		([reason, gpus]) => `${gpus.map(({index}) => index).join(',')} ${reason}`,
	).join('; ');

/** Why nothing that was chosen can be acted on; undefined when something can. */
export function reasonAgainstTargets(state: State, verb: LeaseVerb): string | undefined {
	const {targets, leftOut} = targetsOf(state, verb);
	const [first, ...others] = leftOut;
	if (targets.length > 0 || first === undefined) {
		return undefined;
	}

	if (others.length > 0) {
		const chosen = taggedGpus(state).length > 0 ? 'None of the tagged GPUs' : 'No GPU of this reservation';
		return `${chosen} can be ${verb === 'release' ? 'released' : 'extended'}: ${leftOutText(leftOut)}`;
	}

	const {what, why} = hindrance(leaseOn(state, first.index), state, verb)!;
	return `GPU ${first.index} is ${what}: ${why}`;
}

/** More GPUs than so many are not named one by one. */
const mostNamed = 8;

/** `GPU 3`, `GPUs 1,3`, `12 GPUs`. */
export const targetNames = (targets: readonly HeldPart[]): string =>
	gpuList(
		targets.map(({index}) => index),
		mostNamed,
	);

export const commandOn = (
	verb: LeaseVerb,
	{targets, namedLeaseId}: Pick<Targets, 'targets' | 'namedLeaseId'>,
): readonly string[] => [
	'canhazgpu',
	verb,
	'--gpu-ids',
	targets.map(({index}) => index).join(','),
	...(namedLeaseId === undefined ? [] : ['--lease', namedLeaseId]),
];

type Targeted = {
	readonly verb: 'released' | 'extended';
	readonly targets: readonly HeldPart[];
	/** Those that it was done to. */
	readonly done: readonly number[];
	readonly notYours: readonly HeldPart[];
};

/** What became of the leases that were shown: some may be gone, or no longer the asker's, and to those nothing was done. */
export function outcomeOfTargets({verb, targets, done, notYours}: Targeted, addition: string, command: string): Done {
	const missed = targets.map(({index}) => index).filter((index) => !done.includes(index));
	const [holder] = notYours;
	const reason =
		holder === undefined
			? missed.length === 1
				? `that reservation of ${gpuList(missed)} has ended meanwhile`
				: `those reservations of ${gpuList(missed)} have ended meanwhile`
			: `GPU ${holder.index} is held by ${sanitize(ownerOf(holder.lease))}`;
	if (done.length === 0) {
		return failed(`Nothing ${verb}: ${reason}`);
	}

	const text = `${verb} ${gpuList(done)}${addition}`;
	return missed.length === 0 ? succeeded(text, command) : halfDone(`${text}, but ${reason}`, command);
}
