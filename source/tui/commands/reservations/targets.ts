/** The GPUs that a command changes: the tagged GPUs, or else the selected GPU or its reservation. Excludes leases that the user must not change. */
import {holdingsOn, neededLeaseId, type HeldPart} from '../../../core/rules/leases/holdings.js';
import {mayChange, ownerOf, owns} from '../../../core/rules/leases/ownership.js';
import type {Lease} from '../../../core/model/types.js';
import {sizeText} from '../../../core/rules/request/memory-size.js';
import {placesText} from '../../../format/instances.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import type {State} from '../../state/state.js';
import {chosenGpus, selectedGpu, taggedGpus} from '../../state/gpus/rows.js';
import {failed, succeeded, warning, type Done} from '../command.js';

/** A chosen GPU that the command will not change. `reason` is a text that follows the GPU's number, such as `held by bob`. */
type LeftOut = {readonly index: number; readonly reason: string};

/** The GPUs that a command will change, and the chosen GPUs that it will not change. Computed when the dialog opens. */
export type Targets = {
	readonly targets: readonly HeldPart[];
	readonly leftOut: readonly LeftOut[];
	/**
	The id of the reservation that all targets belong to. Set if the user has several reservations on these GPUs, as with shares, so that the
	command must name one.
	*/
	readonly namedLeaseId?: string | undefined;
};

type LeaseAction = 'release' | 'extend';

/** Returns the lease on a GPU. On a shared GPU, this is the user's own share if there is one. */
export function leaseOn({snapshot, settings}: State, gpu: number | undefined): Lease | undefined {
	const leases = holdingsOn(gpu === undefined ? undefined : snapshot?.gpus[gpu]).map(({lease}) => lease);
	return leases.find((lease) => owns(settings.requester, lease)) ?? leases[0];
}

/**
Returns the GPUs that `e` and `y` act on: the tagged GPUs, or else all GPUs of the selected reservation. Without tags, a reservation is always
extended and copied as a whole.
*/
export function reservationGpus(state: State): readonly number[] {
	const lease = leaseOn(state, selectedGpu(state));
	return taggedGpus(state).length > 0 || lease?.leaseId === undefined
		? chosenGpus(state)
		: state
				.snapshot!.gpus.filter(({index}) => leaseOn(state, index)?.leaseId === lease.leaseId)
				.map(({index}) => index);
}

/** Returns the chosen GPUs. If an engine can only release whole reservations, adds all other GPUs of these reservations. */
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

/** Returns the GPUs that stay reserved if the command changes only one GPU of a reservation. */
export function otherGpusOf({targets, leftOut}: Targets, state: State): readonly number[] {
	const [target, ...more] = targets;
	return target === undefined || more.length + leftOut.length > 0 || target.lease.leaseId === undefined
		? []
		: (state.snapshot?.gpus ?? [])
				.filter(({index}) => index !== target.index && leaseOn(state, index)?.leaseId === target.lease.leaseId)
				.map(({index}) => index);
}

/** Why a command does not change a GPU. `what` describes the GPU. `why` and `whyOfSeveral` end a message about one GPU or about several GPUs. */
type Hindrance = {readonly what: string; readonly why: string; readonly whyOfSeveral: string};

function hindrance(lease: Lease | undefined, {settings}: State, action: LeaseAction): Hindrance | undefined {
	if (lease === undefined) {
		const why = `there is nothing to ${action}`;
		return {what: 'not reserved', why, whyOfSeveral: why};
	}

	if (!mayChange(settings.requester, lease)) {
		const why = `only the holder can ${action}`;
		return {what: `held by ${sanitize(ownerOf(lease))}`, why: `${why} it`, whyOfSeveral: `${why} them`};
	}

	if (lease.partialQueueId !== undefined) {
		const why = 'press 3 and then x to leave the queue';
		return {what: 'held for a waiting request', why, whyOfSeveral: why};
	}

	return action === 'extend' && lease.expiryTime === undefined
		? {
				what: 'held by a running job',
				why: 'it is released when the job ends',
				whyOfSeveral: 'they are released when the job ends',
			}
		: undefined;
}

/** Returns the user's other reservations on the GPUs of a named reservation. A key acts on one of them, so its dialog shows the commands for the others. */
export function otherOwnParts({snapshot, settings}: State, {targets, namedLeaseId}: Targets): readonly HeldPart[] {
	const gpus = namedLeaseId === undefined ? [] : targets.map(({index}) => index);
	return [...new Set(gpus)].flatMap((gpu) =>
		holdingsOn(snapshot?.gpus[gpu]).filter(
			({lease}) => lease.leaseId !== namedLeaseId && owns(settings.requester, lease),
		),
	);
}

export function targetsOf(state: State, action: LeaseAction): Targets {
	const targets: HeldPart[] = [];
	const leftOut: LeftOut[] = [];
	for (const index of action === 'extend' ? reservationGpus(state) : releasedGpus(state)) {
		const lease = leaseOn(state, index);
		const reason = hindrance(lease, state, action)?.what;
		if (lease === undefined || reason !== undefined) {
			leftOut.push({index, reason: reason ?? ''});
		} else {
			targets.push({index, lease});
		}
	}

	const {snapshot, settings} = state;
	const isOwn = (lease: Lease): boolean => owns(settings.requester, lease);
	return {targets, leftOut, namedLeaseId: neededLeaseId(snapshot?.gpus ?? [], targets, isOwn)};
}

/** Returns a text about the GPUs that are not changed, such as `1,3 not reserved; 4 held by bob`. */
export const leftOutText = (leftOut: readonly LeftOut[]): string =>
	Array.from(
		Map.groupBy(leftOut, ({reason}) => reason),
		([reason, gpus]) => `${gpus.map(({index}) => index).join(',')} ${reason}`,
	).join('; ');

/** Returns why the command would change none of the chosen GPUs. Undefined if it would change at least one. */
export function reasonAgainstTargets(state: State, action: LeaseAction): string | undefined {
	const {targets, leftOut} = targetsOf(state, action);
	const [first, ...others] = leftOut;
	if (targets.length > 0 || first === undefined) {
		return undefined;
	}

	if (others.some(({reason}) => reason !== first.reason)) {
		const chosen = taggedGpus(state).length > 0 ? 'None of the tagged GPUs' : 'No GPU of this reservation';
		return `${chosen} can be ${action === 'release' ? 'released' : 'extended'}: ${leftOutText(leftOut)}`;
	}

	const {what, why, whyOfSeveral} = hindrance(leaseOn(state, first.index), state, action)!;
	const gpus = gpuList(leftOut.map(({index}) => index));
	return others.length === 0 ? `${gpus} is ${what}: ${why}` : `${gpus} are ${what}: ${whyOfSeveral}`;
}

/** Maximum number of GPUs whose numbers are listed. If there are more, only their number is shown. */
const mostNamed = 8;

/** Returns the targets as text: `GPU 3`, `GPUs 1,3` or `12 GPUs`. */
export const targetNames = (targets: readonly HeldPart[]): string =>
	gpuList(
		targets.map(({index}) => index),
		mostNamed,
	);

/** Returns the parts of GPUs that reservations hold: `GPU 3`, `a share of 8G of GPU 3` or `MIG instance 1:0`. */
function partsText(targets: readonly HeldPart[]): string {
	const [size, ...otherSizes] = new Set(targets.map(({lease}) => lease.memoryMiB));
	return size === undefined || otherSizes.length > 0
		? placesText(targets)
		: `a share of ${sizeText(size)} of ${placesText(targets)}`;
}

/** Returns what a command changes: `GPU 3`, `a share of 8G of GPU 3`, `MIG instance 1:0` or `12 GPUs`. */
export const targetPlaces = (targets: readonly HeldPart[]): string =>
	targets.length > mostNamed ? targetNames(targets) : partsText(targets);

export const commandOn = (
	action: LeaseAction,
	{targets, namedLeaseId}: Pick<Targets, 'targets' | 'namedLeaseId'>,
): readonly string[] => [
	'canhazgpu',
	action,
	'--gpu-ids',
	targets.map(({index}) => index).join(','),
	...(namedLeaseId === undefined ? [] : ['--lease', namedLeaseId]),
];

type Change = Pick<Targets, 'targets' | 'namedLeaseId'> & {
	readonly word: 'released' | 'extended' | 'kept';
	readonly changed: ReadonlyArray<Pick<HeldPart, 'index'>>;
	readonly notYours: readonly HeldPart[];
	/** The end of the message, such as ` by 2 hours`. */
	readonly addition?: string;
	/** The flags of the command with the same effect. */
	readonly flags?: readonly string[];
};

/** Returns the outcome of a command. `notYours` are GPUs that were not changed, because their lease has ended or now belongs to somebody else. */
export function outcomeOfTargets(
	action: LeaseAction,
	{word, targets, namedLeaseId, changed, notYours, addition = '', flags = []}: Change,
): Done {
	const done = changed.map(({index}) => index);
	const missed = targets.map(({index}) => index).filter((index) => !done.includes(index));
	const [holder] = notYours;
	const reason =
		holder === undefined
			? missed.length === 1
				? `that reservation of ${gpuList(missed)} has already ended`
				: `those reservations of ${gpuList(missed)} have already ended`
			: `GPU ${holder.index} is held by ${sanitize(ownerOf(holder.lease))}`;
	if (done.length === 0) {
		return failed(`Nothing ${word}: ${reason}`);
	}

	const changedTargets = targets.filter(({index}) => done.includes(index));
	const text = `${word} ${partsText(changedTargets)}${addition}`;
	const command = shellCommand([...commandOn(action, {targets: changedTargets, namedLeaseId}), ...flags]);
	return missed.length === 0 ? succeeded(text, command) : warning(`${text}, but ${reason}`, command);
}
