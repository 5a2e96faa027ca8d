import type {GpuReading} from '../../model/types.js';

/** How much of the end of the output is searched. */
export const searchedBytes = 65_536;

/** Matches the messages of PyTorch, JAX, TensorFlow, CUDA, HIP and llama.cpp about GPU memory that cannot be allocated. */
const outOfMemory =
	/(?:CUDA|HIP) (?:error: )?out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory|RESOURCE_EXHAUSTED: (?:Failed to allocate|Out of memory)|cudaMalloc failed: out of memory/v;

type Ended = {
	readonly exitCode: number;
	/** The end of the output. Undefined if it cannot be read. */
	readonly output: string | undefined;
	/** Readings of the job's GPUs after its end. */
	readonly readings: readonly GpuReading[];
};

/** Returns why a command failed, if a GPU is the reason. A GPU is granted only if it is healthy, so an Xid that it reports now is of this job. */
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
