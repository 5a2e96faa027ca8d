/** The leases on a GPU: one that has it alone, or several shares. */
import type {GpuRecord, Lease} from '../../model/types.js';

export type SharedRecord = Extract<GpuRecord, {kind: 'shared'}>;

/** One lease on one GPU, with what a commit must expect of the GPU's record. */
export type Holding = {
	readonly index: number;
	readonly raw: string;
	readonly lease: Lease;
	/** The record of a GPU that is shared, and which of its shares this is. Absent: the lease has the GPU alone. */
	readonly sharedBy?: {readonly record: SharedRecord; readonly position: number};
};

/** A GPU of a lease, or a MIG instance. */
export type HeldPart = Pick<Holding, 'index' | 'lease'>;

/** Whether a lease has only a part of its GPU: a share of memory or a MIG instance. */
export const isShare = ({memoryMiB, mig}: Lease): boolean => memoryMiB !== undefined || mig !== undefined;

/** Tells the parts of one grant apart: a GPU, or an instance of one. */
export const partKey = (index: number, {mig}: Pick<Lease, 'mig'>): string =>
	mig === undefined ? String(index) : `${index}:${mig.uuid}`;

/** Returns all leases on a GPU. */
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

/** Returns all leases on these GPUs, by GPU and in the order of their grants. */
export const holdingsIn = (gpus: readonly GpuRecord[]): readonly Holding[] =>
	gpus.filter((gpu) => gpu.kind === 'leased' || gpu.kind === 'shared').flatMap((gpu) => holdingsOn(gpu));

/** The GPUs of these, each once, by index. */
export const gpusOf = (parts: ReadonlyArray<{readonly index: number}>): readonly number[] =>
	[...new Set(parts.map(({index}) => index))].toSorted((a, b) => a - b);
