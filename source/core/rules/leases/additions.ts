/** What a grant adds to the records of GPUs: the GPU itself, a share of its memory, or one of its instances. */
import type {GpuRecord, InstanceOfGpu, Lease} from '../../model/types.js';
import {heldInstanceOf} from '../mig/instances.js';
import type {HoldingChange} from './holding-changes.js';

export type Addition = {
	readonly record: GpuRecord;
	/** Of a share of memory: what all shares of the GPU may have together. */
	readonly capacityMiB?: number | undefined;
	/** Which instance of MIG it is; absent for a whole GPU. */
	readonly instance?: InstanceOfGpu;
};

/** @param lease - As every part of the grant has it. */
export const additionOf = ({record, capacityMiB, instance}: Addition, lease: Lease): HoldingChange => ({
	kind: 'add',
	record,
	lease: instance === undefined ? lease : {...lease, mig: heldInstanceOf(instance)},
	capacityMiB,
});

export type GrantedParts = {
	/** Sorted, each once. */
	readonly gpus: readonly number[];
	/** Sorted. Absent where GPUs or shares were granted. */
	readonly instances?: readonly InstanceOfGpu[];
};

/** Instances by GPU, and then by their number. */
const sortInstances = (instances: readonly InstanceOfGpu[]): readonly InstanceOfGpu[] =>
	instances.toSorted((a, b) => (a.gpu === b.gpu ? (a.number ?? Infinity) - (b.number ?? Infinity) : a.gpu - b.gpu));

/** What all additions of a grant are together. */
export function grantedParts(additions: readonly Addition[]): GrantedParts {
	const instances = additions.map(({instance}) => instance).filter((instance) => instance !== undefined);
	return {
		gpus: [...new Set(additions.map(({record}) => record.index))].toSorted((a, b) => a - b),
		...(instances.length > 0 && {instances: sortInstances(instances)}),
	};
}

/** The instances among leases; undefined where there are none. */
export function instancesHeld(
	holdings: ReadonlyArray<{readonly index: number; readonly lease?: Pick<Lease, 'mig'>}>,
): readonly InstanceOfGpu[] | undefined {
	const instances = holdings.flatMap(({index, lease: {mig} = {}}) => (mig === undefined ? [] : [{gpu: index, ...mig}]));
	return instances.length === 0 ? undefined : sortInstances(instances);
}
