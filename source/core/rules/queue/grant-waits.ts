/** Computes from the audit log how long granted requests had waited. */
import type {AuditRecord} from '../../model/types.js';

/** Store times at which the entries of the queue joined it, by entry id. */
export type JoinTimes = ReadonlyMap<string, number>;

/** The most entries to remember. Entries can vanish without a record, such as when a pool is replaced. */
const mostJoinTimes = 10_000;

const isGrantOfRequest = ({kind, reason}: AuditRecord): boolean =>
	// A lease that was adopted, taken back or restored by an undo was not requested now.
	kind === 'granted' && reason === undefined;

type GrantWaits = {
	readonly joined: JoinTimes;
	readonly waits: readonly number[];
};

/**
Follows the audit log.
@param entries - The next ones, oldest first.
@returns The state for the next call, and the waits that ended. Omits waits with an unknown start.
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
