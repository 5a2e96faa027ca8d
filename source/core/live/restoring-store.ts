/**
A store for processes that go on for long: it remembers the last read, and when the store comes back without its data, it puts back what it knew before
anybody plans by what is left.
*/
import {withFallback} from '../../errors.js';
import {emptyPlan, type Plan} from '../model/plan.js';
import type {Clock, Host, Store} from '../model/ports.js';
import {hasLostData, planPoolRecord, planRestoring} from '../rules/pool/restoring.js';
import type {AuditRecord, Pool, Snapshot} from '../model/types.js';
import {commitUntilSettled} from '../operations/change-once.js';

type KnownSnapshot = Snapshot & {readonly pool: Pool};

const isOfThisMachine = ({machine}: Pool, {machineId}: Host): boolean =>
	machine === undefined || machine.id === machineId;

/** Whether both are pools of this machine: what another machine knows is none of this pool's business. */
const mayRestore = (known: KnownSnapshot, found: Snapshot, host: Host): boolean =>
	isOfThisMachine(known.pool, host) && (found.pool === undefined || isOfThisMachine(found.pool, host));

const isKnown = (snapshot: Snapshot): snapshot is KnownSnapshot => snapshot.pool !== undefined;

/**
Wraps a store so that each read compares what is there with what was read before, and fixes a loss.

@returns A store whose `read` rejects as that of the given one does. A loss that cannot be fixed now is fixed at a later read.
*/
export function createRestoringStore(store: Store, {host, clock}: {readonly host: Host; readonly clock: Clock}): Store {
	let known: KnownSnapshot | undefined;

	/** Reads the audit log; it is empty where the store keeps none. */
	const auditSince = async (fromTime: number): Promise<readonly AuditRecord[]> =>
		withFallback(
			async () => store.audit({fromTime}),
			() => [],
			'store-refused',
		);

	/** Resolves to true when everything is restored, by whichever process. */
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

						// GPU records cannot be read without the pool size, so the size is restored first.
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

		// A read-only store can still be read.
		return withFallback(settling, () => false, 'busy', 'store-refused');
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

		// Of two concurrent reads, the earlier one can finish later.
		const isNewest = known === before || known === undefined || found.revision.count >= known.revision.count;
		if (isKnown(found) && isNewest) {
			known = found;
		}

		return found;
	};

	return {...store, read};
}
