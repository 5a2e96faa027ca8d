import {setTimeout as sleep} from 'node:timers/promises';
import type {Config} from '../config/config.js';
import {requesterOf, provenAccount} from '../core/rules/leases/ownership.js';
import type {Store} from '../core/model/ports.js';
import {jobRows, type JobRow} from '../core/rules/jobs/rows.js';
import {decodeSharedScan} from '../core/rules/pool/shared-scan.js';
import type {AuditEntry, GpuReading, Requester, Snapshot} from '../core/model/types.js';
import {CanhazgpuError} from '../errors.js';
import {createClock} from '../host/clock.js';
import {createHost} from '../host/host.js';
import type {ProviderContext} from './gpus/gpus.js';
import {openStore} from './stores.js';
import {createLocations} from './locations.js';

const newestEvents = 500;

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

/** The longest that completion waits for a GPU scan before it answers without one. */
const scanMs = 700;

/** Returns the scan that a monitor has published, or else scans the GPUs. Returns undefined if that takes longer than `scanMs`. */
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
	readonly wantsEvents: boolean;
	readonly wantsReadings: boolean;
	readonly wantsJobs: boolean;
};

type PoolForCompletion = {
	readonly requester: Requester;
	readonly snapshot: Snapshot;
	readonly audit: readonly AuditEntry[];
	readonly readings: readonly GpuReading[] | undefined;
	readonly jobs: readonly JobRow[] | undefined;
};

/** Reads what completion needs from the pool, without changing the pool. Throws if there is no pool. */
export async function readPool(
	config: Config,
	{wantsEvents, wantsReadings, wantsJobs}: Wishes,
): Promise<PoolForCompletion> {
	const host = createHost();
	const clock = createClock();
	const locations = createLocations(config, host);
	const {store} = await openStore({config, host, clock, locations}, {}, async () => ({
		provider: undefined,
		reason: 'nobody asked',
	}));
	try {
		const [snapshot, audit, jobs] = await Promise.all([
			store.read(),
			wantsEvents ? newest(store) : [],
			wantsJobs ? store.readJobs() : undefined,
		]);
		const account = {...host.account, outsideName: provenAccount(snapshot, host)};
		const readings = wantsReadings ? await readGpus(store, snapshot, {clock, config, host}) : undefined;
		const requester = requesterOf(account);
		return {
			requester,
			snapshot,
			audit,
			readings,
			jobs: jobs && jobRows(jobs, {account: requester.account, isAll: false}),
		};
	} finally {
		await store.close();
	}
}
