import type {AuditRecord} from '../../model/types.js';

export type JoinTimes = ReadonlyMap<string, number>;

/** The maximum number of entries to remember. Entries can vanish without an audit record, for example when the pool is replaced. */
const mostJoinTimes = 10_000;

const isGrantOfRequest = ({kind, reason}: AuditRecord): boolean =>
	// A reason means that a lease was adopted, or restored after a loss of data or an undo. Nobody waited for such a lease.
	kind === 'granted' && reason === undefined;

type GrantWaits = {
	readonly joined: JoinTimes;
	readonly waits: readonly number[];
};

/** Adds the next audit records, oldest first, to the state that the last call returned. Also returns the waiting times of granted requests, if known. */
export function grantWaits(before: JoinTimes, entries: readonly AuditRecord[]): GrantWaits {
	const joined = new Map(before);
	const waits: number[] = [];
	for (const entry of entries) {
		const {kind, entryId, time} = entry;
		if (kind === 'joined' && entryId !== undefined && !joined.has(entryId)) {
			joined.set(entryId, time);
		} else if (isGrantOfRequest(entry)) {
			const from = entryId === undefined ? time : joined.get(entryId);
			if (from !== undefined) {
				waits.push(Math.max(0, time - from));
			}
		}

		if (entryId !== undefined && ['granted', 'left', 'refused'].includes(kind)) {
			joined.delete(entryId);
		}
	}

	return {joined: new Map([...joined].slice(-mostJoinTimes)), waits};
}
