/** Turns ends, changes and grants of leases into writes to the store. All changes of one GPU become a single write. */
import type {Expectation, Plan, Write} from '../../model/plan.js';
import type {GpuRecord, Lease, UsageRecord, InstanceOfGpu} from '../../model/types.js';
import {heldInstanceOf} from '../mig/instances.js';
import {isShare, type Holding, type SharedRecord} from './holdings.js';
import type {Ending} from './liveness.js';
import {ownerOf} from './ownership.js';

/** Returns the usage record of a lease that ends. If the start is after the end, because a clock was set back, the lease has no usage. */
export function usageOf(index: number, lease: Lease, {reason, endTime}: Ending): UsageRecord {
	const start = Math.min(endTime, lease.startTime);
	return {
		user: lease.user,
		actualUser: lease.actualUser,
		gpuId: index,
		startTime: start,
		endTime,
		durationSeconds: endTime - start,
		reservationType: lease.type,
		leaseId: lease.leaseId,
		note: lease.note,
		model: lease.model,
		memoryMiB: lease.memoryMiB,
		mig: lease.mig,
		endReason: reason,
	};
}

export type HoldingChange =
	| {readonly kind: 'end'; readonly holding: Holding; readonly ending: Ending}
	| {readonly kind: 'change'; readonly holding: Holding; readonly lease: Lease}
	/** `capacityMiB`: the memory for all shares of the GPU, kept from the first share to the last. */
	| {
			readonly kind: 'add';
			readonly record: GpuRecord;
			readonly lease: Lease;
			readonly capacityMiB?: number | undefined;
	  };

const gpuOf = (change: HoldingChange): {readonly index: number; readonly raw: string | undefined} =>
	change.kind === 'add' ? change.record : change.holding;

const sharedRecordOf = (change: HoldingChange): SharedRecord | undefined =>
	change.kind === 'add'
		? change.record.kind === 'shared'
			? change.record
			: undefined
		: change.holding.sharedBy?.record;

const lastEnding = (ends: ReadonlyArray<Extract<HoldingChange, {kind: 'end'}>>) =>
	ends.toSorted((a, b) => b.ending.endTime - a.ending.endTime)[0]!;

const hasLeft = ({left = []}: Ending): boolean => left.length > 0;

/** Whether processes of the ended job may still use the GPU. */
const isNotable = (ending: Ending): boolean => hasLeft(ending) || ending.reason === 'holder-died';

const freeWrite = (index: number, {holding: {lease}, ending}: Extract<HoldingChange, {kind: 'end'}>): Write => ({
	kind: 'free',
	index,
	lastReleased: usageOf(index, lease, ending).endTime,
	ended: {
		reason: ending.reason,
		leaseId: lease.leaseId,
		...(isNotable(ending) && {account: ownerOf(lease)}),
		...(hasLeft(ending) && {left: ending.left}),
	},
});

function writeOf(index: number, changes: readonly HoldingChange[]): Write {
	const [only] = changes;
	if (changes.length === 1 && only !== undefined && sharedRecordOf(only) === undefined) {
		if (only.kind === 'end') {
			return freeWrite(index, only);
		}

		if (!isShare(only.lease)) {
			return {kind: 'lease', index, lease: only.lease};
		}
	}

	const record = changes.map((change) => sharedRecordOf(change)).find((shared) => shared !== undefined);
	const stay = (record?.shares ?? []).map((lease, position): Lease | undefined => {
		const change = changes.find((one) => one.kind !== 'add' && one.holding.sharedBy?.position === position);
		return change === undefined ? lease : change.kind === 'change' ? change.lease : undefined;
	});
	const alone = changes.flatMap((change) =>
		change.kind === 'change' && change.holding.sharedBy === undefined ? [change.lease] : [],
	);
	const added = changes.filter((change) => change.kind === 'add');
	const leases = [...stay.filter((lease) => lease !== undefined), ...alone, ...added.map(({lease}) => lease)];
	const ends = changes.filter((change) => change.kind === 'end');
	const [first] = leases;
	if (first === undefined) {
		return freeWrite(index, lastEnding(ends));
	}

	if (leases.every((lease) => isShare(lease))) {
		const capacityMiB = record?.capacityMiB ?? added.find((add) => add.capacityMiB !== undefined)?.capacityMiB;
		const shareEnded = ends.length === 0 ? record?.shareEnded : lastEnding(ends).ending.endTime;
		return {kind: 'shares', index, shares: leases, capacityMiB, shareEnded, unknownFields: record?.unknownFields};
	}

	if (leases.length > 1) {
		throw new Error(`GPU ${index} would have a lease of its own beside others`);
	}

	return {kind: 'lease', index, lease: first};
}

/** Plans changes to leases: a precondition and a write for each GPU, and a usage record for each end. Throws Error (a bug) if a whole GPU would be shared. */
export function planHoldings(changes: readonly HoldingChange[]): Pick<Plan, 'expect' | 'writes' | 'usage'> {
	if (changes.length === 0) {
		return {expect: [], writes: [], usage: []};
	}

	// Fast path: usually one GPU changes, and grouping is slow.
	const gpus =
		changes.length === 1
			? [[gpuOf(changes[0]!).index, changes] as const]
			: [...Map.groupBy(changes, (change) => gpuOf(change).index)];
	return {
		expect: gpus.map(([index, [change]]): Expectation => ({kind: 'gpu', index, raw: gpuOf(change!).raw})),
		writes: gpus.map(([index, ofGpu]) => writeOf(index, ofGpu)),
		usage: changes.flatMap((change): readonly UsageRecord[] =>
			change.kind === 'end' ? [usageOf(change.holding.index, change.holding.lease, change.ending)] : [],
		),
	};
}

export type Addition = {
	readonly record: GpuRecord;
	readonly capacityMiB?: number | undefined;
	readonly instance?: InstanceOfGpu;
};

export const additionOf = ({record, capacityMiB, instance}: Addition, lease: Lease): HoldingChange => ({
	kind: 'add',
	record,
	lease: instance === undefined ? lease : {...lease, mig: heldInstanceOf(instance)},
	capacityMiB,
});

export type GrantedParts = {
	readonly gpus: readonly number[];
	/** The granted MIG instances, sorted. Absent for whole GPUs and shares. */
	readonly instances?: readonly InstanceOfGpu[] | undefined;
};

const sortInstances = (instances: readonly InstanceOfGpu[]): readonly InstanceOfGpu[] =>
	instances.toSorted((a, b) => (a.gpu === b.gpu ? (a.number ?? Infinity) - (b.number ?? Infinity) : a.gpu - b.gpu));

export function grantedParts(additions: readonly Addition[]): GrantedParts {
	const instances = additions.map(({instance}) => instance).filter((instance) => instance !== undefined);
	return {
		gpus: [...new Set(additions.map(({record}) => record.index))].toSorted((a, b) => a - b),
		...(instances.length > 0 && {instances: sortInstances(instances)}),
	};
}

export function instancesHeld(
	holdings: ReadonlyArray<{readonly index: number; readonly lease?: Pick<Lease, 'mig'>}>,
): readonly InstanceOfGpu[] | undefined {
	const instances = holdings.flatMap(({index, lease: {mig} = {}}) => (mig === undefined ? [] : [{gpu: index, ...mig}]));
	return instances.length === 0 ? undefined : sortInstances(instances);
}
