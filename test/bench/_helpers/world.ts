/** A pool of idle GPUs for operations of the core. */
import type {Store, World} from '../../../source/core/model/ports.js';
import {createClock} from '../../../source/host/clock.js';
import {createHost} from '../../../source/host/host.js';
import {idleReading, observationOf} from '../../_helpers/world.js';

export function createBenchWorld(store: Store, gpuCount: number): World {
	const clock = createClock();
	const readings = Array.from({length: gpuCount}, (_, index) => idleReading(index));
	return {
		store,
		clock,
		host: createHost(),
		memoryThresholdMiB: 1024,
		gpus: {
			name: 'fake',
			simulated: false,
			count: async () => gpuCount,
			observe: async () => observationOf(readings, {takenAtMs: clock.monotonicMs()}),
		},
	};
}
