/** Who has a GPU: one lease that has it alone, or several that share its memory. */
import type {GpuRecord, Lease} from '../../model/types.js';

export type SharedRecord = Extract<GpuRecord, {kind: 'shared'}>;

/** One lease on one GPU, with what a commit has to expect of the GPU's record. */
export type Holding = {
	readonly index: number;
	readonly raw: string;
	readonly lease: Lease;
	/** The record of a GPU that is shared, and which of its shares this is. Absent: the lease has the GPU alone. */
	readonly sharedBy?: {readonly record: SharedRecord; readonly position: number};
};

/** One GPU of a lease, or one instance of a GPU. */
export type HeldPart = Pick<Holding, 'index' | 'lease'>;

/** True for a lease that has a part of its GPU: some of its memory, or an instance of MIG. */
export const isShare = ({memoryMiB, mig}: Lease): boolean => memoryMiB !== undefined || mig !== undefined;

/** Tells the parts of one grant apart: a GPU, or an instance of one. */
export const partKey = (index: number, {mig}: Pick<Lease, 'mig'>): string =>
	mig === undefined ? String(index) : `${index}:${mig.uuid}`;

/** All leases on a GPU: none, the one that has it alone, or its shares. */
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

/** All leases on these GPUs, by GPU and then in the order of their grants. */
export const holdingsIn = (gpus: readonly GpuRecord[]): readonly Holding[] =>
	gpus.filter((gpu) => gpu.kind === 'leased' || gpu.kind === 'shared').flatMap((gpu) => holdingsOn(gpu));

/** The GPUs of these, each once, by index. */
export const gpusOf = (parts: ReadonlyArray<{readonly index: number}>): readonly number[] =>
	[...new Set(parts.map(({index}) => index))].toSorted((a, b) => a - b);
