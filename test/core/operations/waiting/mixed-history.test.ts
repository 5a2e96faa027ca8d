/** Random histories with MIG instances, shares, whole GPUs, and a queue for all of them. */
import process from 'node:process';
import fc from 'fast-check';
import {test} from 'vitest';
import {isLong} from '../../../_helpers/slow.js';
import {createTestWorld} from '../../../_helpers/world.js';
import {anyHistory, gpuCount, play, type History} from './_mixed-history.js';

const runs = Number(process.env['MIXED_RUNS'] ?? (isLong ? 3000 : 40));
const {MIXED_SEED: seed} = process.env;

/** Histories that failed once, with their seeds. */
const found: ReadonlyArray<[History]> = [
	// Drains of an instance and of a GPU were recorded repeatedly, because they were read back in another order. Seed 12.
	[
		{
			isFull: true,
			steps: [
				{
					do: 'join',
					wanted: {
						count: 2,
						need: {
							mig: {
								instances: [
									{gpu: 1, number: 0},
									{gpu: 0, number: 0},
								],
							},
						},
					},
				},
				{do: 'give back', position: 0},
				{do: 'condition', gpu: 1, condition: 'pending'},
				{do: 'squat', gpu: 0, number: 0, memoryMiB: 60_000},
				{do: 'join', wanted: {count: 1, need: {mig: {profile: '1g.10gb'}}}},
			],
		},
	],
	// The holder of a share of a GPU with an unknown MIG mode blocked another GPU. Seed 11.
	[
		{
			isFull: true,
			steps: [
				{do: 'join', wanted: {count: 2, need: {shareMiB: 60_000}}},
				{do: 'give back', position: 5},
				{do: 'join', wanted: {count: 1, need: {shareMiB: 10_000}}},
				{do: 'condition', gpu: 2, condition: 'pending'},
			],
		},
	],
];

test('random requests for MIG instances, shares and whole GPUs never overtake or block each other', async () => {
	await fc.assert(
		fc.asyncProperty(anyHistory, async (history) => {
			await play(await createTestWorld({gpuCount}), history);
		}),
		{numRuns: runs, examples: [...found], ...(seed !== undefined && {seed: Number(seed)})},
	);
}, 600_000);
