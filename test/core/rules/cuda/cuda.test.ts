import {describe, expect, test} from 'vitest';
import type {CudaInstallation} from '../../../../source/core/model/cuda.js';
import {
	chooseCuda,
	cudaEnvironment,
	cudaVersionPattern,
	cudaWarning,
	requireCuda,
} from '../../../../source/core/rules/cuda/cuda.js';

const at = (version: string, root = `/usr/local/cuda-${version}`): CudaInstallation => ({root, version});

describe('a requested CUDA version', () => {
	const installations = [at('12.2.0'), at('9.0'), at('12.4.1'), at('12.10.0'), at('12.4.1', '/opt/cuda'), at('11.8.0')];

	test.each([
		['12.4', '/usr/local/cuda-12.4.1'],
		['12.4.1', '/usr/local/cuda-12.4.1'],
		// The newest version, compared by numbers and not alphabetically.
		['12', '/usr/local/cuda-12.10.0'],
		['9', '/usr/local/cuda-9.0'],
		['12.1', undefined],
		['1', undefined],
		['12.4.0', undefined],
		['9.0.0', undefined],
		['99', undefined],
	])('of %s selects the installation %s', (wanted, root) => {
		expect(chooseCuda(installations, wanted)?.root).toBe(root);
	});

	test.each(['', '12.', '.4', '12.4.1.0', 'v12', '12,4', '-1', '12.x', '12345', '12.4 '])(
		'of %j is invalid',
		(typed) => {
			expect(typed).not.toMatch(cudaVersionPattern);
		},
	);
});

test('the error for a missing CUDA version lists the installed, ignored and supported versions', () => {
	const search = {
		installations: [at('12.2.0'), at('9.0')],
		refused: [{root: '/opt/cuda-12.4', problem: 'can be changed by other accounts'}],
	};
	expect(() => requireCuda(search, '12.4', '12.2')).toThrow(
		expect.objectContaining({
			message: 'CUDA 12.4 is not installed here',
			exitCode: 2,
			hint: [
				'Found: 9.0 in /usr/local/cuda-9.0, 12.2.0 in /usr/local/cuda-12.2.0.',
				'Not used: /opt/cuda-12.4, which can be changed by other accounts.',
				'The driver supports CUDA up to 12.2.',
			].join(' '),
		}) as Error,
	);
	expect(() => requireCuda({installations: [], refused: []}, '12', undefined)).toThrow(
		expect.objectContaining({
			hint: 'No installation was found in /usr/local, /opt, CUDA_HOME, CUDA_PATH and MODULEPATH.',
		}) as Error,
	);
});

test('cudaWarning warns only if the driver supports an older major version', () => {
	expect(cudaWarning(at('12.4.1'), '11.8')).toMatch(/^Warning: the driver supports CUDA up to 11\.8/v);
	expect(cudaWarning(at('12.4.1'), '12.2')).toBeUndefined();
	expect(cudaWarning(at('12.4.1'), undefined)).toBeUndefined();
});

describe('the environment of a job with CUDA', () => {
	const root = '/opt/cuda';
	const installation = {root, version: '12.4', libraries: '/opt/cuda/lib64'};

	test('has the installation first in its paths and keeps the other entries', () => {
		expect(cudaEnvironment(installation, {PATH: '/bin::/opt/cuda/bin:/x', LD_LIBRARY_PATH: '/x'})).toEqual({
			CUDA_HOME: root,
			CUDA_PATH: root,
			PATH: '/opt/cuda/bin:/bin::/x',
			LD_LIBRARY_PATH: '/opt/cuda/lib64:/x',
		});
	});

	test('adds no empty path entry, which would mean the current directory', () => {
		expect(cudaEnvironment(installation, {PATH: '', LD_LIBRARY_PATH: ''})).toMatchObject({
			PATH: '/opt/cuda/bin',
			LD_LIBRARY_PATH: '/opt/cuda/lib64',
		});
		expect(cudaEnvironment({root, version: '12.4'}, {})).not.toHaveProperty('LD_LIBRARY_PATH');
	});
});
