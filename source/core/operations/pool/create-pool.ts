import {CanhazgpuError, hasCode} from '../../../errors.js';
import {holdingsIn} from '../../rules/leases/holdings.js';
import {accountName} from '../../rules/leases/ownership.js';
import {
	checkPoolSize,
	hasMoved,
	machineFor,
	planPool,
	planPoolReset,
	requirePool,
	requireReplaceable,
	requireReplaceableGarbage,
} from '../../rules/pool/pool.js';
import {emptyPlan, type Plan, type Write} from '../../model/plan.js';
import type {World} from '../../model/ports.js';
import type {Pool, ProviderName, Snapshot} from '../../model/types.js';
import {changeOnce} from '../change-once.js';

/** The administrator's decisions about a pool. They survive a replacement and a move of the pool. */
export type PoolSettings = Pick<Snapshot, 'drains' | 'drainProblem' | 'policy' | 'policyProblem' | 'stored'>;

/**
Copies the settings as they are stored, so that the strictest values also apply in the new store if a record cannot be read. A record that is not a
string cannot be copied. Its problem is written instead, which is as unreadable.
*/
const copyOf = ({stored, drainProblem, policyProblem}: PoolSettings): readonly Write[] => [
	{kind: 'copy', name: 'drains', raw: stored.drains ?? drainProblem},
	{kind: 'copy', name: 'policy', raw: stored.policy ?? policyProblem},
];

export type PoolRequest = {
	readonly gpuCount: number;
	readonly provider: ProviderName;
	readonly force: boolean;
	readonly movedFrom?: string;
	/** The settings of the former pool, for a pool that moves here. */
	readonly settings?: PoolSettings;
};

export type PoolMade = {
	readonly pool: Pool;
	readonly droppedLeases: number;
	readonly wasThere?: boolean;
};

type PoolOwner = Pick<Pool, 'machine'>;

type PoolCreation = Pick<World, 'store' | 'host' | 'clock'>;

/** Throws if replacing the pool could end reservations of another machine. */
export async function checkReplaceable({store, host}: Pick<World, 'store' | 'host'>): Promise<void> {
	try {
		requireReplaceable((await store.read()).pool, host, store);
	} catch (error) {
		if (!hasCode(error, 'pool-garbage')) {
			throw error;
		}

		requireReplaceableGarbage(error, host, store);
	}
}

/** Reads the pool, and returns whether its keys were invalid. If `replacement` is given, overwrites invalid keys before the read. */
async function readEvenGarbage(
	{store, host}: PoolCreation,
	replacement: ((former: PoolOwner | undefined) => Pool) | undefined,
	change: string | undefined,
): Promise<{readonly snapshot: Snapshot; readonly wasGarbage: boolean}> {
	try {
		return {snapshot: await store.read({change}), wasGarbage: false};
	} catch (error) {
		if (replacement === undefined || !hasCode(error, 'pool-garbage')) {
			throw error;
		}

		requireReplaceableGarbage(error, host, store);
		// Writes only the size and the provider, so that the leases can be read and then ended properly, with usage and audit records.
		await store.commit({
			...emptyPlan,
			writes: [{kind: 'pool', pool: replacement(error.details as PoolOwner | undefined)}],
		});
		return {snapshot: await store.read({change}), wasGarbage: true};
	}
}

/** How long a restored pool counts as just restored. After a loss of data, another process may restore the old pool just before this command creates it. */
const restoredRecentlySeconds = 60;

const isJustRestored = (
	snapshot: Snapshot,
	{gpuCount, provider, force}: PoolRequest,
): snapshot is Snapshot & {readonly pool: Pool} =>
	!force &&
	snapshot.pool?.gpuCount === gpuCount &&
	snapshot.pool.provider === provider &&
	snapshot.dataLoss !== undefined &&
	snapshot.now - snapshot.dataLoss.restoredAt < restoredRecentlySeconds;

/**
Creates the pool.
@throws CanhazgpuError `pool-exists`, with the pool in its details, if there is a pool and `force` is not set. `wrong-machine` if the pool in Redis
belongs to another machine, or, without `force`, if it has moved.
*/
export async function createPool(makers: PoolCreation, request: PoolRequest): Promise<PoolMade> {
	checkPoolSize(request.gpuCount);
	const {store, host} = makers;
	const poolAfter = (former: PoolOwner | undefined): Pool => ({
		gpuCount: request.gpuCount,
		provider: request.provider,
		machine: machineFor(host, former),
	});
	const {movedFrom: location, settings} = request;
	const settingWrites = settings === undefined ? [] : copyOf(settings);
	let isUnknown = false;
	return changeOnce<PoolMade>(makers, {
		async read(change) {
			const {snapshot, wasGarbage} = await readEvenGarbage(makers, request.force ? poolAfter : undefined, change);
			// After the overwrite, the previous values are also unknown to all later attempts.
			isUnknown ||= wasGarbage;
			return snapshot;
		},
		attempt(snapshot) {
			if (request.force) {
				requireReplaceable(snapshot.pool, host, store);
			} else if (snapshot.pool !== undefined) {
				requirePool(snapshot, host, store);
			}

			if (isJustRestored(snapshot, request)) {
				return {plan: emptyPlan, result: {pool: snapshot.pool, droppedLeases: 0, wasThere: true}};
			}

			if (snapshot.pool !== undefined && !request.force) {
				throw new CanhazgpuError(
					'pool-exists',
					`A pool of ${snapshot.pool.gpuCount} GPU(s) already exists in ${store.location}`,
					{
						hint: 'Nothing was changed. --force replaces the pool and ends all its reservations.',
						details: snapshot.pool,
					},
				);
			}

			const account = accountName(host.account);
			const pool = poolAfter(snapshot.pool);
			const plan: Plan =
				snapshot.pool === undefined
					? planPool(pool, {now: snapshot.now, host: host.hostname, account}, location)
					: planPoolReset(snapshot, pool, {
							host,
							account,
							before: {
								...(!isUnknown && {count: snapshot.pool.gpuCount, provider: snapshot.pool.provider}),
								location,
							},
						});
			return {
				plan: {...plan, writes: [...plan.writes, ...settingWrites]},
				result: {pool, droppedLeases: holdingsIn(snapshot.gpus).length},
			};
		},
	});
}

type PoolClosed = {readonly droppedLeases: number; readonly settings: PoolSettings};

/**
Closes this machine's pool for a move. Programs learn the new location at their next read. Returns the settings of the pool and how many leases ended.
If a killed `admin` has already closed the pool, no lease is left, and only the new location changes. Throws like `requirePool` for other pools.
*/
export const closePool = async (makers: PoolCreation, movedTo: string): Promise<PoolClosed> =>
	changeOnce<PoolClosed>(makers, {
		read: async (change) => makers.store.read({change}),
		attempt(snapshot) {
			const {store, host} = makers;
			const machine = {...machineFor(host, snapshot.pool), movedTo};
			const isClosed = snapshot.pool !== undefined && hasMoved(snapshot.pool, host);
			const pool = isClosed ? snapshot.pool : requirePool(snapshot, host, store);
			const plan = planPoolReset(
				snapshot,
				{...pool, machine},
				{host, account: accountName(host.account), before: {count: pool.gpuCount, provider: pool.provider}},
			);
			return {plan, result: {droppedLeases: holdingsIn(snapshot.gpus).length, settings: snapshot}};
		},
	});
