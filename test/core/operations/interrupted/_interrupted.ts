/** For tests of what others do between the read of a verb and its commit. */
import type {Plan} from '../../../../source/core/model/plan.js';
import {createTestWorld, type TestWorld} from '../../../_helpers/world.js';

/** What happens in between: `others` use the same store and are not interrupted. */
export type Interlude = (world: TestWorld, others: TestWorld) => Promise<unknown>;

/** The next commit, or the next such commit, is held up until the interlude is over. */
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
