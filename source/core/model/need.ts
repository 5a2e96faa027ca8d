/** Requirements of a request for its GPUs. Absent fields require nothing. */

import type {InstanceNeed} from './mig.js';

export type Need = {
	/** Memory of each GPU, used or not. */
	readonly minMemoryMiB?: number;
	/** Memory of a share on each GPU. Absent if the GPUs are not shared. */
	readonly shareMiB?: number;
	/** Instances of MIG in place of GPUs. Absent: GPUs are wanted. */
	readonly mig?: InstanceNeed;
	/** The model of each GPU is one of these: its name has all words of one of them, in their order and in any case. */
	readonly models?: readonly string[];
	/** The least compute capability of each GPU, such as `8.0`. */
	readonly minCompute?: string;
	/** Whether all GPUs are of one model. Absent: they are as far as the models are known, unless the GPUs are named by their ids. */
	readonly sameModel?: boolean;
	/** Each GPU is linked to each other by NVLink, or by XGMI. */
	readonly nvlink?: boolean;
	/** Fields of a stored need that this version does not know; written back as they were. */
	readonly unknownFields?: Readonly<Record<string, unknown>>;
};

/** GPUs, by index, of which any as many as are wanted serve a request together. */
export type GpuGroup = readonly number[];

/**
The connection between two GPUs, in the words of `nvidia-smi topo -m`: a number of NVLinks, one PCIe switch (PIX) or several (PXB), the host
bridge of one CPU (PHB), one NUMA node (NODE), or different CPUs (SYS). XGMI is AMD's counterpart of NVLink.
*/
export type GpuLink = `NV${number}` | 'XGMI' | 'PIX' | 'PXB' | 'PHB' | 'NODE' | 'SYS';

/** Indexed by both GPUs. Undefined if the link is unknown. */
export type GpuLinks = ReadonlyArray<ReadonlyArray<GpuLink | undefined>>;

/**
Which of the free GPUs a request gets. `mru`: those that the user had last, then those free for longest. `lru`: those free for longest. `cool`:
the lowest temperature. `pack`: as few NUMA nodes and PCI roots as can be, those in use first. `spread`: as many as can be, the emptiest first.
`topology`: the best worst link.
*/
export const strategyNames = ['mru', 'lru', 'pack', 'spread', 'cool', 'topology'] as const;

export type StrategyName = (typeof strategyNames)[number];
