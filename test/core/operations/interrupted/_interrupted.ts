/** Helpers to change the store between a command's read and its commit. */
import type {Plan} from '../../../../source/core/model/plan.js';
import {createTestWorld, type TestWorld} from '../../../_helpers/world.js';

/** Changes that happen between a read and a commit. `others` uses the same store without interruption. */
export type Interlude = (world: TestWorld, others: TestWorld) => Promise<unknown>;

/** Creates a world whose store runs an interlude before the next matching commit. */
export async function createInterruptedWorld(gpuCount = 4) {
	let interlude: Interlude | undefined;
	let isDue = (_: Plan): boolean => true;
	const world: TestWorld = await createTestWorld({
		gpuCount,
		wrap: (store) => ({
			...store,
			async commit(plan) {
				if (interlude !== undefined && isDue(plan)) {
					const due = interlude;
					interlude = undefined;
					await due(world, {...world, store});
				}

				return store.commit(plan);
			},
		}),
	});
	return {
		world,
		before(next: Interlude, isSuch: (plan: Plan) => boolean = () => true) {
			interlude = next;
			isDue = isSuch;
		},
	};
}
