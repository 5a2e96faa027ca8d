/** The requirements of a request for GPUs. An absent field requires nothing. */

import type {InstanceNeed} from './mig.js';

export type Need = {
	readonly minMemoryMiB?: number;
	/** Memory that a share gets on each GPU. Absent for whole GPUs. */
	readonly shareMiB?: number;
	readonly mig?: InstanceNeed;
	/** Requested models. The name of each GPU must contain all words of one model in this order. Upper and lower case do not matter. */
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
The connection between two GPUs, as `nvidia-smi topo -m` names it: a number of NVLinks (such as NV4), one PCIe switch (PIX),
several PCIe switches (PXB), the host bridge of one CPU (PHB), one NUMA node (NODE), or different CPUs (SYS). XGMI is AMD's NVLink.
*/
export type GpuLink = `NV${number}` | 'XGMI' | 'PIX' | 'PXB' | 'PHB' | 'NODE' | 'SYS';

export type GpuLinks = ReadonlyArray<ReadonlyArray<GpuLink | undefined>>;

/**
Strategies that decide which free GPUs a request gets. `mru`: the GPUs that the user used last, then the GPUs that have been free for
longest. `lru`: the GPUs that have been free for longest. `pack`: GPUs on the fewest NUMA nodes and PCI roots, preferably on nodes that
are in use. `spread`: the opposite of `pack`. `cool`: the coolest GPUs. `topology`: the set of GPUs whose slowest link is fastest.
*/
export const strategyNames = ['mru', 'lru', 'pack', 'spread', 'cool', 'topology'] as const;

export type StrategyName = (typeof strategyNames)[number];
