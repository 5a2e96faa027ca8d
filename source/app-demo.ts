/**
A pool in memory, for looking around: a few people hold GPUs, nothing is kept.
*/
import {makePool} from './core/administration.js';
import type {Clock, Host, Store} from './core/ports.js';
import type {Write} from './core/plan.js';
import type {Lease} from './core/types.js';
import {createMemoryStore} from './store/memory.js';

const gpuCount = 8;

export async function createDemoStore({host, clock}: {readonly host: Host; readonly clock: Clock}): Promise<Store> {
	const store = createMemoryStore({now: () => Date.now() / 1000});
	await makePool({store, host, clock}, {gpuCount, provider: 'fake', force: false});
	const {now} = await store.read();
	const holds: ReadonlyArray<readonly [gpus: readonly number[], lease: Omit<Lease, 'leaseId'>]> = [
		[[0, 1], {user: 'ada', type: 'run', startTime: now - 4320, lastHeartbeat: now, note: 'pretraining, run 12'}],
		[[3], {user: 'grace', type: 'manual', startTime: now - 900, expiryTime: now + 6300}],
		[[6], {user: 'alan', type: 'manual', startTime: now - 23_000, expiryTime: now + 500, note: 'notebook'}],
	];
	const writes = holds.flatMap(([gpus, lease]) => {
		const leaseId = clock.uuid();
		return gpus.map((index): Write => ({kind: 'lease', index, lease: {...lease, leaseId}}));
	});
	await store.commit({expect: [], writes, usage: [], audit: [], event: undefined, grants: false});
	return store;
}
