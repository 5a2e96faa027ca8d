import type {AuditEntry} from '../../../source/core/model/types.js';

/** Returns the highest number of GPUs that each account held at the same time, according to the audit log. */
export function mostHeld(log: readonly AuditEntry[]): ReadonlyMap<string, number> {
	const held = new Map<string, Set<number>>();
	const most = new Map<string, number>();
	for (const {kind, account = '', owner = account, gpus} of log) {
		const own = held.get(owner) ?? new Set();
		held.set(owner, own);
		for (const gpu of gpus) {
			if (kind === 'granted' || kind === 'held') {
				own.add(gpu);
				most.set(owner, Math.max(most.get(owner) ?? 0, own.size));
			} else if (['released', 'ended', 'expired'].includes(kind)) {
				own.delete(gpu);
			}
		}
	}

	return most;
}
