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
])('mayScan says whether the command "%s" may start an early scan of the local GPUs: %s', (words, isScanned) => {
	expect(mayScan(words.split(' '), undefined)).toBe(isScanned);
});

test('mayScan is false if the environment selects Slurm', () => {
	expect(mayScan(['run', '--', 'true'], 'slurm')).toBe(false);
	expect(mayScan(['run', '--', 'true'], 'local')).toBe(true);
});
