/** Everything at once, at random: instances of MIG, shares, whole GPUs, and a queue for all of them. */
import process from 'node:process';
import fc from 'fast-check';
import {test} from 'vitest';
import {createTestWorld} from '../../../_helpers/world.js';
import {anyHistory, gpuCount, play} from './_mixed-history.js';

const runs = Number(process.env['MIXED_RUNS'] ?? 60);
const seed = process.env['MIXED_SEED'] === undefined ? undefined : Number(process.env['MIXED_SEED']);

test('nothing is had twice, nobody is overtaken or held up, no one stands still, and an undo restores', async () => {
	await fc.assert(
		fc.asyncProperty(anyHistory, async (history) => {
			await play(await createTestWorld({gpuCount}), history);
		}),
		{numRuns: runs, ...(seed !== undefined && {seed}), ...(process.env['MIXED_PATH'] && {path: process.env['MIXED_PATH']})},
	);
}, 600_000);
