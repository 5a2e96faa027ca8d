/** Helpers for requests that wait in real time. */
import {expect} from 'vitest';
import type {World} from '../../../../source/core/model/ports.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {eventually} from '../../../_helpers/eventually.js';
import {person} from '../../../_helpers/world.js';
import type {AcquireRequest} from '../../../../source/core/rules/request/request.js';
import type {Progress, WaitOptions} from '../../../../source/core/operations/engine.js';

export const alice = person('alice');
export const bob = person('bob', 'bob', 1001);

/** Bob's default request. */
export const wants = (changes: Partial<AcquireRequest> = {}): AcquireRequest => ({
	requester: bob,
	count: 1,
	tenure: {type: 'manual', durationSeconds: 3600},
	...changes,
});

/** Starts a request, and collects its progress. */
export function start(world: World, request: AcquireRequest, options: Partial<WaitOptions> = {}) {
	const progress: Progress[] = [];
	const controller = new AbortController();
	const answer = acquire(world, request, {
		waitSeconds: undefined,
		signal: controller.signal,
		onProgress(step) {
			progress.push(step);
		},
		...options,
	});
	return {
		answer,
		progress,
		abort() {
			controller.abort();
		},
		waits: async () => eventually(() => progress.some(({kind}) => kind === 'waiting')),
	};
}

/** Reserves these GPUs for alice. */
export const hold = async (world: World, ids: readonly number[], seconds = 3600): Promise<void> => {
	expect(await reserve(world, {requester: alice, count: 1, ids, durationSeconds: seconds})).toMatchObject({
		kind: 'granted',
	});
};

/** Releases these GPUs for alice. */
export const free = async (world: World, ...ids: readonly number[]): Promise<void> => {
	await release(world, alice, {by: 'gpus', ids});
};
