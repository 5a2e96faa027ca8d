import {nextIdle} from '../rules/leases/idle.js';
import {isEmpty} from '../model/plan.js';
import type {Store} from '../model/ports.js';
import {planSeenModels} from '../rules/leases/seen-models.js';
import {encodeSharedScan} from '../rules/pool/shared-scan.js';
import type {IdleSpan, Observation} from '../model/types.js';

export type PostOptions = {
	readonly store: Store;
	/** Who has the role. */
	readonly owner: string;
	readonly memoryThresholdMiB: number;
};

/**
Leaves a scan for the others, with what it says of idle leases, and writes down the models that were seen.

@param before - What was known of idle leases.
*/
export async function postScan(
	seen: Observation,
	before: readonly IdleSpan[],
	{store, owner, memoryThresholdMiB}: PostOptions,
): Promise<Observation & {readonly idle: readonly IdleSpan[]}> {
	const snapshot = await store.read();
	const idle = nextIdle(seen, {before, records: snapshot.gpus, now: snapshot.now, memoryThresholdMiB});
	const observation = {...seen, idle};
	const posted = encodeSharedScan(observation);
	if (posted !== undefined) {
		await store.scans.post(owner, posted);
	}

	const models = planSeenModels(snapshot, seen);
	if (!isEmpty(models)) {
		// After a conflict the next scan tries again.
		await store.commit(models);
	}

	return observation;
}
