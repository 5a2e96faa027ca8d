import type {GpuRecord, Lease} from '../../model/types.js';

export type SharedRecord = Extract<GpuRecord, {kind: 'shared'}>;

/** A lease on one GPU. `raw` is the record of the GPU as it was read. A commit compares `raw` with the stored record. */
export type Holding = {
	readonly index: number;
	readonly raw: string;
	readonly lease: Lease;
	/** The record of a shared GPU, and the position of this share. Absent for a lease of the whole GPU. */
	readonly sharedBy?: {readonly record: SharedRecord; readonly position: number};
};

export type HeldPart = Pick<Holding, 'index' | 'lease'>;

/** Returns whether a lease has only a part of its GPU, which is a share of memory or a MIG instance. */
export const isShare = ({memoryMiB, mig}: Lease): boolean => memoryMiB !== undefined || mig !== undefined;

export const partKey = (index: number, {mig}: Pick<Lease, 'mig'>): string =>
	mig === undefined ? String(index) : `${index}:${mig.uuid}`;

export function holdingsOn(record: GpuRecord | undefined): readonly Holding[] {
	switch (record?.kind) {
		case 'leased': {
			const {index, raw, lease} = record;
			return [{index, raw, lease}];
		}

		case 'shared': {
			const {index, raw, shares} = record;
			return shares.map((lease, position) => ({index, raw, lease, sharedBy: {record, position}}));
		}

		case 'free':
		case 'garbage':
		case undefined: {
			return [];
		}
	}
}

export const holdingsIn = (gpus: readonly GpuRecord[]): readonly Holding[] =>
	gpus.filter((gpu) => gpu.kind === 'leased' || gpu.kind === 'shared').flatMap((gpu) => holdingsOn(gpu));

/** Returns the distinct GPUs of these parts, by index. */
export const gpusOf = (parts: ReadonlyArray<{readonly index: number}>): readonly number[] =>
	[...new Set(parts.map(({index}) => index))].toSorted((a, b) => a - b);

/**
Returns the id with which a command must name these parts of one lease, because the GPUs alone would also mean other leases of the same account, such
as other shares. Undefined if the GPUs are enough, and for parts of several leases.
@param isOwn - Whether a lease belongs to the account that types the command.
*/
export function neededLeaseId(
	gpus: readonly GpuRecord[],
	parts: readonly HeldPart[],
	isOwn: (lease: Lease) => boolean,
): string | undefined {
	const [leaseId, ...more] = new Set(parts.map(({lease}) => lease.leaseId));
	const hasOther = parts.some(({index}) =>
		holdingsOn(gpus[index]).some(({lease}) => lease.leaseId !== leaseId && isOwn(lease)),
	);
	return more.length === 0 && hasOther ? leaseId : undefined;
}
