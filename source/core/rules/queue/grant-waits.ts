/** Computes from the audit log how long granted requests had waited. */
import type {AuditRecord} from '../../model/types.js';

/** Store times at which the entries of the queue joined it, by entry id. */
export type JoinTimes = ReadonlyMap<string, number>;

/** The maximum number of entries to remember. Entries can vanish without an audit record, for example when the pool is replaced. */
const mostJoinTimes = 10_000;

const isGrantOfRequest = ({kind, reason}: AuditRecord): boolean =>
	// A lease with a reason was adopted, or restored after a loss of data or by an undo. Nobody waited for it.
	kind === 'granted' && reason === undefined;

type GrantWaits = {
	readonly joined: JoinTimes;
	readonly waits: readonly number[];
};

/**
Processes the next records of the audit log.
@param before - The state that the last call returned.
@param entries - The next records, oldest first.
@returns The new state, and the waiting times that ended with a grant. Omits grants whose time of joining is unknown.
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
