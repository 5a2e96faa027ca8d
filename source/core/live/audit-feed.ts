/** The newest entries of the audit log: new ones are read when something changed, one read at a time. */
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../model/ports.js';
import type {AuditEntry, AuditKind} from '../model/types.js';
import {grantWaits, type JoinTimes} from '../rules/queue/grant-waits.js';

type AuditListener = {
	/** All known entries, oldest first. */
	readonly arrived: (entries: readonly AuditEntry[]) => void;
	/** A request was granted after so many seconds in the queue; 0 for one that did not wait. */
	readonly granted: (waitSeconds: number) => void;
	/** The log cannot be read; `reason` is for the user. */
	readonly lost: (reason: string) => void;
	/** Gets an error that is a bug. */
	readonly broken: (error: unknown) => void;
};

type AuditFeed = {
	/** Reads what was added. */
	readonly refresh: () => void;
	/** Reads everything, because entries may have been missed or taken back. */
	readonly restart: () => void;
	/** Number of entries of each kind since the feed began. */
	readonly counts: ReadonlyMap<AuditKind, number>;
	readonly stop: () => void;
};

/** Follows the log; `newest` entries of it are kept. */
export function followAuditLog(
	{store}: Pick<World, 'store'>,
	newest: number,
	{arrived, granted, lost, broken}: AuditListener,
): AuditFeed {
	const counts = new Map<AuditKind, number>();
	let joined: JoinTimes = new Map();
	/** Undefined until the log was read for the first time. */
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
		// A store that does not know the last id any more answers with everything.
		const added = found.filter(({id}) => !knownIds.has(id));
		const next = grantWaits(joined, added);
		joined = next.joined;
		// Entries from before this feed are not counted.
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
