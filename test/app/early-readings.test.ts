import {expect, test} from 'vitest';
import {mayScan} from '../../source/app/start-up/early-readings.js';

test.each([
	['status', true],
	['run --gpus 2 -- nvidia-smi --help', true],
	['run --engine local -- true', true],
	['run -- true --engine slurm', true],
	['status --remote near', false],
	['status --remote=near', false],
	['run --help', false],
	['top', false],
	['run --engine slurm -- true', false],
	['reserve --engine=slurm', false],
])('%s begins with a scan of the GPUs of this machine: %s', (words, isScanned) => {
	expect(mayScan(words.split(' '), undefined)).toBe(isScanned);
});

test('no local GPU is scanned if the environment names a cluster', () => {
	expect(mayScan(['run', '--', 'true'], 'slurm')).toBe(false);
	expect(mayScan(['run', '--', 'true'], 'local')).toBe(true);
});
