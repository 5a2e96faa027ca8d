import type {GpuReading} from '../../model/types.js';

/** How many bytes at the end of a command's output are searched for a message about GPU memory. */
export const searchedBytes = 65_536;

/** Matches the messages of PyTorch, JAX, TensorFlow, CUDA, HIP and llama.cpp about GPU memory that cannot be allocated. */
const outOfMemory =
	/(?:CUDA|HIP) (?:error: )?out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory|RESOURCE_EXHAUSTED: (?:Failed to allocate|Out of memory)|cudaMalloc failed: out of memory/v;

type Ended = {
	readonly exitCode: number;
	readonly output: string | undefined;
	readonly readings: readonly GpuReading[];
};

/** Returns why a command failed, if a GPU was the reason. Only healthy GPUs are granted, so an Xid error after the job comes from the job. */
export function exitReason({exitCode, output, readings}: Ended): string | undefined {
	if (exitCode === 0) {
		return undefined;
	}

	const xids = readings.flatMap(({index, health = []}) =>
		health.filter(({kind}) => kind === 'xid').map(({words}) => `GPU ${index} reported ${words}`),
	);
	if (xids.length > 0) {
		return xids.join(', ');
	}

	return output !== undefined && outOfMemory.test(output) ? 'out of GPU memory' : undefined;
}
