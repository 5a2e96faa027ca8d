import process from 'node:process';
import fc from 'fast-check';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createPool} from '../../source/core/operations/pool/create-pool.js';
import type {Store} from '../../source/core/model/ports.js';
import {anyHistory, gpuCount, play} from '../core/operations/waiting/_mixed-history.js';
import {isLong} from '../_helpers/slow.js';
import {createTestWorld} from '../_helpers/world.js';
import {harnesses, type Harness} from './harness.js';

const runs = Number(process.env['MIXED_RUNS'] ?? (isLong ? 200 : 3));

const {MIXED_SEED: seed} = process.env;

let kept: ReadonlyArray<{readonly name: string; readonly harness: Harness; readonly store: Store}>;

beforeAll(async () => {
	kept = await Promise.all(
		Object.entries(harnesses).map(async ([name, makeHarness]) => {
			const harness = await makeHarness();
			return {name, harness, store: await harness.open()};
		}),
	);
});

afterAll(async () => {
	await Promise.all(kept.map(async ({harness}) => harness.close()));
});

test('random commands lead to the same state on every kind of store', async () => {
	await fc.assert(
		fc.asyncProperty(anyHistory, async (history) => {
			const outcomes = [];
			for (const {name, harness, store} of kept) {
				await harness.clear();
				const world = {...(await createTestWorld({gpuCount})), store};
				await createPool(world, {gpuCount, provider: 'fake', force: false});
				outcomes.push({name, outcomes: await play(world, history)});
			}

			for (const other of outcomes.slice(1)) {
				expect(other.outcomes, other.name).toEqual(outcomes[0]!.outcomes);
			}
		}),
		{numRuns: runs, ...(seed !== undefined && {seed: Number(seed)})},
	);
}, 600_000);
