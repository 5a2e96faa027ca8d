/** Computes from the audit log how long granted requests had waited. */
import type {AuditRecord} from '../../model/types.js';

/** When each entry that is still in the queue joined it, by its id, in seconds on the store's clock. */
export type JoinTimes = ReadonlyMap<string, number>;

/** Entries that left no record of their end, as in a pool that was made again, are forgotten when there are more than so many. */
const mostJoinTimes = 10_000;

const isGrantOfRequest = ({kind, reason}: AuditRecord): boolean =>
	// A lease that was taken back, adopted or put back by an undo was not asked for now.
	kind === 'granted' && reason === undefined;

type GrantWaits = {
	readonly joined: JoinTimes;
	/** Seconds for each granted request, 0 without a wait. */
	readonly waits: readonly number[];
};

/**
Follows the audit log.

@param entries - The next ones, oldest first.
@returns What to follow on with, and the waits that these entries end. A wait is left out where nothing says when it began.
*/
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
