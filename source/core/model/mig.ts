/** Instances: the parts into which MIG splits a GPU, which people reserve one by one. */

/** An instance as people name it, `0:1`: the GPU's index, and the number that `nvidia-smi -L` gives the instance within its GPU. */
export type InstanceName = {readonly gpu: number; readonly number: number};

/** Requested instances: of a profile such as `1g.10gb` or larger, or specific ones. */
export type InstanceNeed = {readonly profile: string} | {readonly instances: readonly InstanceName[]};

/** The instance that a lease has. Its UUID alone says which it is; the rest is what the tool reported of it at the grant. */
export type HeldInstance = {
	readonly uuid: string;
	/** Within its GPU, as `nvidia-smi -L` counts: the 1 of `0:1`. */
	readonly number?: number;
	/** Profile, such as `1g.10gb`. */
	readonly profile?: string;
	readonly gpuInstanceId?: number;
	readonly computeInstanceId?: number;
};

/** An instance that can serve an entry of the queue. */
export type EligibleInstance = {readonly gpu: number; readonly uuid: string};

/** A MIG instance in a grant or in the audit log. */
export type InstanceOfGpu = HeldInstance & {readonly gpu: number};
