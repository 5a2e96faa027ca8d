import {withFallback} from '../../../errors.js';
import type {GpuProvider, Store} from '../../model/ports.js';

/**
Returns a provider whose scans fail once the pool has another kind of GPUs: it was created after this program was started, or created again. Otherwise
simulated GPUs could decide about real ones.
*/
export const onlyForPool = (gpus: GpuProvider, store: Pick<Store, 'read'>): GpuProvider => ({
	...gpus,
	async observe() {
		const [observation, pool] = await Promise.all([
			gpus.observe(),
			withFallback(
				async () => (await store.read()).pool,
				// Whoever uses the scan reports that the store cannot be read.
				() => undefined,
			),
		]);
		return pool === undefined || pool.provider === gpus.name
			? observation
			: {
					...observation,
					gpus: [],
					failure: {
						message: `The pool has other GPUs (${pool.provider}) than when this program was started (${gpus.name}).`,
						hint: 'Start it again.',
						// Another program can scan these GPUs.
						isToolMissing: true,
					},
				};
	},
});
