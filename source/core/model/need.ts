/** The requirements of a request for GPUs. An absent field requires nothing. */

import type {InstanceNeed} from './mig.js';

export type Need = {
	readonly minMemoryMiB?: number;
	/** Memory of a share on each GPU. Absent for whole GPUs. */
	readonly shareMiB?: number;
	readonly mig?: InstanceNeed;
	/** Each GPU's name contains all words of one of these models, in order and in any case. */
	readonly models?: readonly string[];
	readonly minCompute?: string;
	/** Whether all GPUs must be the same model. Defaults to true for known models, unless GPUs are requested by id. */
	readonly sameModel?: boolean;
	readonly nvlink?: boolean;
	/** Stored fields of later versions, written back unchanged. */
	readonly unknownFields?: Readonly<Record<string, unknown>>;
};

/** Indices of GPUs that can be combined, such as all GPUs of one model. A request gets all its GPUs from one group. */
export type GpuGroup = readonly number[];

/**
The connection between two GPUs as in `nvidia-smi topo -m`: several NVLinks, one PCIe switch (PIX), several (PXB), the
host bridge of one CPU (PHB), one NUMA node (NODE), or different CPUs (SYS). XGMI is AMD's NVLink.
*/
export type GpuLink = `NV${number}` | 'XGMI' | 'PIX' | 'PXB' | 'PHB' | 'NODE' | 'SYS';

export type GpuLinks = ReadonlyArray<ReadonlyArray<GpuLink | undefined>>;

/**
Which free GPUs a request gets. `mru`: the user's most recent ones, then those free for longest. `lru`: those free for
longest. `pack`: on the fewest NUMA nodes and PCI roots, preferring used ones. `spread`: the opposite of `pack`. `cool`:
the lowest temperature. `topology`: the set whose slowest link is fastest.
*/
export const strategyNames = ['mru', 'lru', 'pack', 'spread', 'cool', 'topology'] as const;

export type StrategyName = (typeof strategyNames)[number];
