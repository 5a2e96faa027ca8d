/** What completion wants to know of the pool: one read, which changes nothing. */
import {setTimeout as sleep} from 'node:timers/promises';
import type {Config} from '../config/config.js';
import {requesterOf, provenAccount} from '../core/rules/leases/ownership.js';
import type {Store} from '../core/model/ports.js';
import {decodeSharedScan} from '../core/rules/pool/shared-scan.js';
import type {AuditEntry, GpuReading, Requester, Snapshot} from '../core/model/types.js';
import {CanhazgpuError} from '../errors.js';
import {createClock} from '../host/clock.js';
import {createHost} from '../host/host.js';
import type {ProviderContext} from './gpus/gpus.js';
import {openStore} from './stores.js';
import {createLocations} from './locations.js';

/** Names of those who did something lately are enough. */
const newestEvents = 500;

/** A store that keeps no audit log still knows who is there. */
async function newest(store: Store): Promise<readonly AuditEntry[]> {
	try {
		return await store.audit({newest: newestEvents});
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return [];
		}

		throw error;
	}
}

/** Tab does not wait longer than this for the GPUs: without them the rest of the answer still helps. */
const scanMs = 700;

/** The scan that a monitor posted, or else one of our own; undefined where that takes too long. */
async function readGpus(
	store: Store,
	{pool}: Snapshot,
	context: ProviderContext,
): Promise<readonly GpuReading[] | undefined> {
	const posted = await store.scans.latest().catch(() => undefined);
	if (posted !== undefined && posted.ageSeconds < 60) {
		return decodeSharedScan(posted.text)?.gpus;
	}

	const provider = pool?.provider;
	if (provider === undefined) {
		return undefined;
	}

	const {createProvider, scenarioOf} = await import('./gpus/gpus.js');
	const scenario = await scenarioOf(provider, context.config);
	const gpus = createProvider(provider, {...context, store, scenario, details: 'parts'});
	try {
		const observation = await Promise.race([gpus.observe(), sleep(scanMs, undefined, {ref: false})]);
		return observation?.gpus;
	} finally {
		await gpus.close?.();
	}
}

type Wishes = {
	/** What happened lately. */
	readonly wantsEvents: boolean;
	/** What the GPUs say. */
	readonly wantsReadings: boolean;
};

type PoolForCompletion = {
	readonly requester: Requester;
	readonly snapshot: Snapshot;
	readonly audit: readonly AuditEntry[];
	readonly readings: readonly GpuReading[] | undefined;
};

/**
@throws CanhazgpuError `no-pool`, `store-unreachable`, ...
*/
export async function readPool(config: Config, {wantsEvents, wantsReadings}: Wishes): Promise<PoolForCompletion> {
	const host = createHost();
	const clock = createClock();
	const locations = createLocations(config, host);
	const {store} = await openStore({config, host, clock, locations}, {}, async () => ({
		provider: undefined,
		reason: 'nobody asked',
	}));
	try {
		const [snapshot, audit] = await Promise.all([store.read(), wantsEvents ? newest(store) : []]);
		const account = {...host.account, outsideName: provenAccount(snapshot, host)};
		const readings = wantsReadings ? await readGpus(store, snapshot, {clock, config, host}) : undefined;
		return {requester: requesterOf(account), snapshot, audit, readings};
	} finally {
		await store.close();
	}
}
