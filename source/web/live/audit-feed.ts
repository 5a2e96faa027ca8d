/** The newest events of the audit trail, followed: what is new is read when something changed, one read at a time. */
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../../core/model/ports.js';
import type {AuditEntry, AuditKind} from '../../core/model/types.js';

export const mostEvents = 200;

export type AuditEvents = {
	/** Something changed: there may be more. */
	readonly refresh: () => void;
	/** How many of each kind there were since the server began. */
	readonly counts: ReadonlyMap<AuditKind, number>;
	readonly stop: () => void;
};

export function followAuditLog(
	world: World,
	arrived: (events: readonly AuditEntry[]) => void,
	broken: (error: unknown) => void,
): AuditEvents {
	const counts = new Map<AuditKind, number>();
	let events: readonly AuditEntry[] = [];
	let hasBegun = false;
	let isStopped = false;
	let isReading = false;
	let isWanted = false;

	async function readOnce(): Promise<void> {
		const found = await world.store.audit(hasBegun ? {afterId: events.at(-1)?.id} : {newest: mostEvents});
		// An id that the store no longer knows is passed over, and then everything comes again.
		const known = new Set(events.map(({id}) => id));
		const added = found.filter(({id}) => !known.has(id));
		if (isStopped) {
			return;
		}

		for (const {kind} of hasBegun ? added : []) {
			counts.set(kind, (counts.get(kind) ?? 0) + 1);
		}

		hasBegun = true;
		if (added.length === 0) {
			return;
		}

		events = [...events, ...added].slice(-mostEvents);
		arrived(events);
	}

	async function read(): Promise<void> {
		if (isReading) {
			isWanted = true;
			return;
		}

		isReading = true;
		try {
			do {
				isWanted = false;
				await readOnce();
			} while (isWanted);
		} catch (error) {
			// A store that is away is told of by the picture, and what was missed is read when it is back.
			if (!(error instanceof CanhazgpuError)) {
				broken(error);
			}
		} finally {
			isReading = false;
		}
	}

	return {
		refresh() {
			void read();
		},
		counts,
		stop() {
			isStopped = true;
		},
	};
}
