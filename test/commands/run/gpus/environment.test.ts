/** The variables that name the GPUs of a job. */
import {expect, test} from 'vitest';
import {gpuEnvironment} from '../../../../source/commands/shared/job/job-environment.js';

test("gpuEnvironment gives a job without isolation the machine's GPU ids", () => {
	expect(gpuEnvironment({gpus: [1, 3], provider: 'nvidia'})).toEqual({
		CUDA_VISIBLE_DEVICES: '1,3',
		CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
		NVIDIA_VISIBLE_DEVICES: '1,3',
		CANHAZGPU_DOCKER_GPUS: '"device=1,3"',
		CANHAZGPU_CDI: 'nvidia.com/gpu=1,nvidia.com/gpu=3',
	});
});

test('gpuEnvironment names GPUs by UUID for an isolated job and by id for its containers', () => {
	expect(gpuEnvironment({gpus: [1, 3], provider: 'nvidia', isolatedUuids: ['GPU-a', 'GPU-b']})).toMatchObject({
		CUDA_VISIBLE_DEVICES: 'GPU-a,GPU-b',
		NVIDIA_VISIBLE_DEVICES: 'GPU-a,GPU-b',
		CANHAZGPU_DOCKER_GPUS: '"device=1,3"',
	});
});

test('gpuEnvironment numbers the GPUs of an isolated job from 0 if a UUID is unknown', () => {
	expect(gpuEnvironment({gpus: [1, 3], provider: 'nvidia', isolatedUuids: ['GPU-a', undefined]})).toMatchObject({
		CUDA_VISIBLE_DEVICES: '0,1',
		NVIDIA_VISIBLE_DEVICES: '1,3',
	});
});

test('gpuEnvironment numbers the AMD GPUs of an isolated job from 0, but not for containers', () => {
	const environment = gpuEnvironment({gpus: [2], provider: 'amd', isolatedUuids: ['GPU-c']});
	expect(environment).toMatchObject({
		HIP_VISIBLE_DEVICES: '0',
		CUDA_VISIBLE_DEVICES: '0',
		CANHAZGPU_CDI: 'amd.com/gpu=2',
	});
	expect(environment).not.toHaveProperty('CANHAZGPU_DOCKER_GPUS');
});

test('gpuEnvironment sets the memory of a share and numbers the GPUs in MPS limits from 0', () => {
	const share = {gpus: [1, 3], provider: 'nvidia', shareMiB: 8192} as const;
	expect(gpuEnvironment(share)).toMatchObject({CANHAZGPU_MEMORY_MIB: '8192'});
	expect(gpuEnvironment(share)).not.toHaveProperty('CUDA_MPS_PIPE_DIRECTORY');
	expect(gpuEnvironment({...share, mpsDirectory: '/tmp/mps'})).toMatchObject({
		CUDA_MPS_PIPE_DIRECTORY: '/tmp/mps',
		CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: '0=8192M,1=8192M',
	});
	// The memory of an outer share does not apply to whole GPUs.
	expect(gpuEnvironment({gpus: [1], provider: 'nvidia'})).toHaveProperty('CANHAZGPU_MEMORY_MIB', undefined);
});
