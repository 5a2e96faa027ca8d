import {withFallback} from '../../errors.js';
import {emptyPlan, type Plan} from '../model/plan.js';
import type {Clock, Host, Store} from '../model/ports.js';
import {hasLostData, planPoolRecord, planRestoring} from '../rules/pool/restoring.js';
import type {AuditRecord, Pool, Snapshot} from '../model/types.js';
import {commitUntilSettled} from '../operations/change-once.js';

type KnownSnapshot = Snapshot & {readonly pool: Pool};

const isOfThisMachine = ({machine}: Pool, {machineId}: Host): boolean =>
	machine === undefined || machine.id === machineId;

const mayRestore = (known: KnownSnapshot, found: Snapshot, host: Host): boolean =>
	isOfThisMachine(known.pool, host) && (found.pool === undefined || isOfThisMachine(found.pool, host));

const isKnown = (snapshot: Snapshot): snapshot is KnownSnapshot => snapshot.pool !== undefined;

/** Wraps a store so that each read restores data that the store has lost since the last read. If restoring fails, the next read tries again. */
export function createRestoringStore(store: Store, {host, clock}: {readonly host: Host; readonly clock: Clock}): Store {
	let known: KnownSnapshot | undefined;

	const auditSince = async (fromTime: number): Promise<readonly AuditRecord[]> =>
		withFallback(
			async () => store.audit({fromTime}),
			() => [],
			'store-refused',
		);

	/** Restores lost data. Returns whether all data is back, no matter which process restored it. */
	const restore = async (from: KnownSnapshot): Promise<boolean> => {
		const settling = async (): Promise<true> => {
			await commitUntilSettled(
				{store, clock},
				{
					read: async () => store.read(),
					async plan(found, failures): Promise<{readonly plan: Plan}> {
						if (!hasLostData(from, found) || !mayRestore(from, found, host)) {
							return {plan: emptyPlan};
						}

						// After a conflict, there may be GPU records, which cannot be read without the pool record. So a missing pool record is
						// restored first and alone.
						return {
							plan:
								failures > 0 && found.pool === undefined
									? planPoolRecord(from, found, host)
									: planRestoring(from, found, {host, audit: await auditSince(from.now)}),
						};
					},
				},
			);
			return true;
		};

		// If the store cannot be written, nothing is restored, but the read still succeeds.
		return withFallback(settling, () => false, 'busy', 'store-refused', 'store-unreachable');
	};

	const read: Store['read'] = async (options) => {
		const before = known;
		let found = await store.read(options);
		if (options?.withoutQueue === true) {
			return before !== undefined && hasLostData(before, found) ? read({...options, withoutQueue: false}) : found;
		}

		if (before !== undefined && hasLostData(before, found) && mayRestore(before, found, host)) {
			const isRestored = await restore(before);
			found = await store.read(options);
			if (!isRestored) {
				return found;
			}
		}

		// If two reads overlap, the read that ends last may return the older snapshot, which must not replace the newer one.
		const isNewest = known === before || known === undefined || found.revision.count >= known.revision.count;
		if (isKnown(found) && isNewest) {
			known = found;
		}

		return found;
	};

	return {...store, read};
}
