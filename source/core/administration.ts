/** The verb `admin`: makes the pool, or remakes it by force. */
import {CanhazgpuError} from '../errors.js';
import {isLeased} from './lifecycle.js';
import {checkPoolSize, planPool, planPoolReset} from './pool.js';
import type {Plan} from './plan.js';
import type {World} from './ports.js';
import type {Pool, ProviderName, Snapshot} from './types.js';

export type PoolRequest = {
	readonly gpuCount: number;
	readonly provider: ProviderName;
	/** Replaces a pool that is there, ending its leases. */
	readonly force: boolean;
	/** Where the pool was, when that is another store: for the trail. */
	readonly movedFrom?: string;
};

export type PoolMade = {
	readonly pool: Pool;
	readonly droppedLeases: number;
	/** It was there, as asked for, and only nobody had been told where. */
	readonly wasThere?: boolean;
};

type Makers = Pick<World, 'store' | 'host' | 'clock'>;

/**
Reads; a pool whose own keys are garbage is overwritten first when that was asked for.

@returns Also whether it was.
*/
async function readEvenGarbage(
	{store}: Makers,
	pool: Pool,
	force: boolean,
): Promise<{readonly snapshot: Snapshot; readonly wasGarbage: boolean}> {
	try {
		return {snapshot: await store.read(), wasGarbage: false};
	} catch (error) {
		if (!(force && error instanceof CanhazgpuError && error.code === 'pool-garbage')) {
			throw error;
		}

		// Only the size and provider are mended here. The leases are read next and end with their records, and it is told with them.
		await store.commit({
			expect: [],
			writes: [{kind: 'pool', pool}],
			usage: [],
			audit: [],
			event: undefined,
			grants: false,
		});
		return {snapshot: await store.read(), wasGarbage: true};
	}
}

/**
@throws CanhazgpuError `pool-exists`, with the pool as its details, when there is one and `force` is not set.
*/
export async function makePool(makers: Makers, request: PoolRequest): Promise<PoolMade> {
	checkPoolSize(request.gpuCount);
	const {store, host, clock} = makers;
	const pool: Pool = {
		gpuCount: request.gpuCount,
		provider: request.provider,
		machine: {id: host.machineId, bootId: host.bootId},
	};
	const {movedFrom: location} = request;
	const tries = 100;
	let isUnknown = false;
	for (let attempt = 0; attempt < tries; attempt++) {
		const {snapshot, wasGarbage} = await readEvenGarbage(makers, pool, request.force);
		// Until it has been told.
		isUnknown ||= wasGarbage;
		if (snapshot.pool !== undefined && !request.force) {
			throw new CanhazgpuError(
				'pool-exists',
				`There is a pool of ${snapshot.pool.gpuCount} GPU(s) already in ${store.location}`,
				{
					hint: 'Nothing was changed. --force replaces it and ends all its reservations.',
					details: snapshot.pool,
				},
			);
		}

		const occasion = {now: snapshot.now, host: host.hostname, account: host.account.name};
		const plan: Plan =
			snapshot.pool === undefined
				? planPool(pool, occasion, location)
				: planPoolReset(snapshot, pool, occasion, {
						...(!isUnknown && {count: snapshot.pool.gpuCount, provider: snapshot.pool.provider}),
						location,
					});
		if ((await store.commit(plan)) === 'done') {
			const dropped = snapshot.gpus.filter(isLeased);
			return {pool, droppedLeases: dropped.length};
		}

		await clock.sleep(5 + 20 * clock.random());
	}

	throw new CanhazgpuError('busy', 'The pool kept changing while it was being made', {hint: 'Try again.'});
}
