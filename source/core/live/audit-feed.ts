/** Follows the audit log. Reads the new entries after each change of the pool. Only one read runs at a time. */
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../model/ports.js';
import type {AuditEntry, AuditKind} from '../model/types.js';
import {grantWaits, type JoinTimes} from '../rules/queue/grant-waits.js';

/** Returns the events after the newest one in `before`. The newest events of `before` can be missing if the store came back with older data. */
export function newEvents(events: readonly AuditEntry[], before: readonly AuditEntry[]): readonly AuditEntry[] {
	const known = new Set(before.map(({id}) => id));
	return events.slice(events.findLastIndex(({id}) => known.has(id)) + 1);
}

type AuditListener = {
	readonly arrived: (entries: readonly AuditEntry[]) => void;
	/** Called for each granted request with its waiting time in the queue, in seconds. 0 if the request did not wait. */
	readonly granted: (waitSeconds: number) => void;
	readonly lost: (reason: string) => void;
	readonly broken: (error: unknown) => void;
};

type AuditFeed = {
	readonly refresh: () => void;
	/** Reads the whole log again, because entries may have been missed or removed. */
	readonly restart: () => void;
	readonly counts: ReadonlyMap<AuditKind, number>;
	readonly stop: () => void;
};

export function followAuditLog(
	{store}: Pick<World, 'store'>,
	newest: number,
	{arrived, granted, lost, broken}: AuditListener,
): AuditFeed {
	const counts = new Map<AuditKind, number>();
	let joined: JoinTimes = new Map();
	let entries: readonly AuditEntry[] | undefined;
	let isWholeWanted = true;
	let isStopped = false;
	let isReading = false;
	let isWanted = false;

	async function readOnce(): Promise<void> {
		if (isStopped) {
			return;
		}

		const isWhole = isWholeWanted;
		isWholeWanted = false;
		const known = entries ?? [];
		const found = await store.audit({newest, afterId: isWhole ? undefined : known.at(-1)?.id});
		if (isStopped) {
			return;
		}

		const knownIds = new Set(known.map(({id}) => id));
		// If the last known entry is no longer in the log, the store returns the whole log, including other known entries.
		const added = found.filter(({id}) => !knownIds.has(id));
		const next = grantWaits(joined, added);
		joined = next.joined;
		// The first read returns entries from before this feed, which are not counted.
		if (entries !== undefined) {
			for (const {kind} of added) {
				counts.set(kind, (counts.get(kind) ?? 0) + 1);
			}

			for (const seconds of next.waits) {
				granted(seconds);
			}
		}

		if (!(isWhole || added.length > 0)) {
			return;
		}

		entries = isWhole ? found : [...known, ...added].slice(-newest);
		arrived(entries);
	}

	async function read(): Promise<void> {
		isWanted = true;
		if (isReading) {
			return;
		}

		isReading = true;
		try {
			do {
				isWanted = false;
				await readOnce();
			} while (isWanted);
		} catch (error) {
			isWholeWanted = true;
			if (!(error instanceof CanhazgpuError)) {
				broken(error);
			} else if (!isStopped) {
				lost(error.message);
			}
		} finally {
			isReading = false;
		}
	}

	return {
		refresh() {
			void read();
		},
		restart() {
			isWholeWanted = true;
			void read();
		},
		counts,
		stop() {
			isStopped = true;
		},
	};
}
