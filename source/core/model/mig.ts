/** A MIG instance as users type it, such as `0:1`: the index of the GPU and the number of the instance, which `nvidia-smi -L` shows. */
export type InstanceName = {readonly gpu: number; readonly number: number};

/** The requested MIG instances: either any instances with at least a profile such as `1g.10gb`, or specific instances. */
export type InstanceNeed = {readonly profile: string} | {readonly instances: readonly InstanceName[]};

/** The MIG instance of a lease. Only the UUID identifies the instance. The other fields describe it at the time of the grant. */
export type HeldInstance = {
	readonly uuid: string;
	readonly number?: number;
	readonly profile?: string;
	readonly gpuInstanceId?: number;
	readonly computeInstanceId?: number;
};

export type EligibleInstance = {readonly gpu: number; readonly uuid: string};

export type InstanceOfGpu = HeldInstance & {readonly gpu: number};
