import {describe, expect, test} from 'vitest';
import {exitReason} from '../../../../source/core/rules/jobs/exit-reason.js';
import {idleReading} from '../../../_helpers/world.js';

const healthy = [idleReading(0)];

describe('exitReason', () => {
	test.each([
		'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.15 GiB',
		'torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 GiB',
		'RuntimeError: CUDA error: out of memory',
		'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.',
		'failed to allocate: CUDA_ERROR_OUT_OF_MEMORY: out of memory',
		'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000.00 MiB on device 0: cudaMalloc failed: out of memory',
	])('recognizes %s', (output) => {
		expect(exitReason({exitCode: 1, output, readings: healthy})).toBe('out of GPU memory');
	});

	test.each(['', 'MemoryError', 'Killed: out of memory', 'RuntimeError: CUDA error: an illegal memory access'])(
		'returns no reason for %j',
		(output) => {
			expect(exitReason({exitCode: 1, output, readings: healthy})).toBeUndefined();
		},
	);

	test('prefers the Xid of a GPU to anything in the output', () => {
		const readings = [{...idleReading(3), health: [{kind: 'xid', words: 'Xid 79'} as const]}];
		expect(exitReason({exitCode: 1, output: 'CUDA error: out of memory', readings})).toBe('GPU 3 reported Xid 79');
	});

	test('returns no reason for exit code 0 or for unreadable output', () => {
		expect(exitReason({exitCode: 0, output: 'CUDA out of memory', readings: healthy})).toBeUndefined();
		expect(exitReason({exitCode: 1, output: undefined, readings: healthy})).toBeUndefined();
	});
});
