/** Usage records: every lease that ends leaves exactly one for each of its GPUs. */
import type {Lease, UsageRecord} from '../../model/types.js';
import type {Ending} from './liveness.js';

/** The record of one GPU's hold. An end before the start (clocks, old records) counts as no time at all. */
export function usageOf(index: number, lease: Lease, {reason, endTime}: Ending): UsageRecord {
	const end = Math.max(endTime, lease.startTime);
	return {
		user: lease.user,
		actualUser: lease.actualUser,
		gpuId: index,
		startTime: lease.startTime,
		endTime: end,
		durationSeconds: end - lease.startTime,
		reservationType: lease.type,
		leaseId: lease.leaseId,
		note: lease.note,
		model: lease.model,
		memoryMiB: lease.memoryMiB,
		mig: lease.mig,
		endReason: reason,
	};
}
