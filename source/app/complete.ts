/** What completion wants to know of the pool: one read, which changes nothing. */
import type {Config} from '../config/config.js';
import {requesterOf} from '../core/rules/leases/ownership.js';
import {provenAccount} from '../core/rules/leases/proven-account.js';
import type {Store} from '../core/model/ports.js';
import type {AuditEntry, Requester, Snapshot} from '../core/model/types.js';
import {CanhazgpuError} from '../errors.js';
import {createClock} from '../host/clock.js';
import {createHost} from '../host/host.js';
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

/**
@throws CanhazgpuError `no-pool`, `store-unreachable`, ...
*/
export async function readPool(
	config: Config,
	wantsEvents: boolean,
): Promise<{readonly requester: Requester; readonly snapshot: Snapshot; readonly audit: readonly AuditEntry[]}> {
	const host = createHost();
	const locations = createLocations(config, host);
	const {store} = await openStore({config, host, clock: createClock(), locations}, {}, async () => ({
		provider: undefined,
		reason: 'nobody asked',
	}));
	try {
		const [snapshot, audit] = await Promise.all([store.read(), wantsEvents ? newest(store) : []]);
		const account = {...host.account, outsideName: provenAccount(snapshot, host)};
		return {requester: requesterOf(account), snapshot, audit};
	} finally {
		await store.close();
	}
}
