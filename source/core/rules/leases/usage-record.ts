/** Usage records: every lease that ends leaves exactly one for each of its GPUs. */
import type {Lease, UsageRecord} from '../../model/types.js';
import type {Ending} from './liveness.js';

/** The record of one lease on one GPU. A start after the end (clocks, old records, milliseconds for seconds) counts as no time at all. */
export function usageOf(index: number, lease: Lease, {reason, endTime}: Ending): UsageRecord {
	const start = Math.min(endTime, lease.startTime);
	return {
		user: lease.user,
		actualUser: lease.actualUser,
		gpuId: index,
		startTime: start,
		endTime,
		durationSeconds: endTime - start,
		reservationType: lease.type,
		leaseId: lease.leaseId,
		note: lease.note,
		model: lease.model,
		memoryMiB: lease.memoryMiB,
		mig: lease.mig,
		endReason: reason,
	};
}
