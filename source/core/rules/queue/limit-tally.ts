/**
Counts the GPUs under a limit in the order of the queue, first come, first served. The limit of an account and the limit of all agents are counted
in the same way. An entry over a limit keeps its position, but no GPU is kept for it, and others may take the GPUs that it already holds.
*/
import type {QueueEntry} from '../../model/types.js';
import type {Holding} from '../leases/holdings.js';
import {wantedCountOf} from './eligible.js';

type MutableTally = {
	/** The number of GPUs that are held. Excludes GPUs that waiting requests hold. */
	readonly held: number;
	ahead: number;
	/** The number of GPUs that are held, or that waiting requests may still get within the limit. */
	promised: number;
	/** Whether a waiting request exceeds the limit. If so, every later request waits behind it. */
	isBlocked: boolean;
	/** The entries over the limit, with the number of GPUs that earlier entries want. */
	readonly over: Map<string, number>;
	/** Holdings that others may take, although the entries with these holdings are not over the limit. */
	readonly givenUp: Holding[];
};

export type Tally = Readonly<MutableTally>;

export const tallyOf = (held: number): MutableTally => ({
	held,
	ahead: 0,
	promised: held,
	isBlocked: false,
	over: new Map(),
	givenUp: [],
});

type Bound = {readonly tally: MutableTally; readonly most: number};

export type EntryState = {
	/** Whether GPUs are kept for the entry now: its process answers, and no outage keeps it from being served. */
	readonly isServable: (entry: QueueEntry) => boolean;
	/** Whether others may take the GPUs that the entry holds. */
	readonly givesHoldings: (entry: QueueEntry) => boolean;
};

export function countEntry(
	entry: QueueEntry,
	bounds: readonly Bound[],
	{isServable, givesHoldings}: EntryState,
	heldBy: (id: string) => readonly Holding[],
): void {
	const wanted = wantedCountOf(entry);
	const isWaiting = bounds.every(({most}) => wanted <= most) && isServable(entry);
	// An entry that cannot be served now blocks no other entry, but the GPUs that it keeps count.
	const gives = !isWaiting && givesHoldings(entry);
	const count = isWaiting ? wanted : gives ? 0 : heldBy(entry.id).length;
	const exceeded = bounds.filter(
		({tally, most}) => wanted > most || (isWaiting && tally.isBlocked) || tally.promised + count > most,
	);
	for (const bound of bounds) {
		const {tally} = bound;
		// An entry that waits because of another limit blocks no other entry under this limit.
		const isElsewhere = exceeded.some((other) => other !== bound);
		if (exceeded.includes(bound)) {
			tally.over.set(entry.id, tally.ahead);
			tally.isBlocked ||= isWaiting && !isElsewhere;
		} else if (gives || isElsewhere) {
			tally.givenUp.push(...heldBy(entry.id));
		} else {
			tally.promised += count;
		}

		tally.ahead += isWaiting && !isElsewhere ? wanted : 0;
	}
}

/**
Returns the holdings that waiting entries must release so that at most `most` GPUs are held. `wanted` is the number
of GPUs in the grant that the tally does not count.
*/
export const surplusOf = (
	{over, promised, givenUp}: Tally,
	most: number,
	wanted: number,
	heldBy: (id: string) => readonly Holding[],
): readonly Holding[] => [
	...over.keys().flatMap((id) => heldBy(id)),
	...(promised + wanted + givenUp.length > most ? givenUp : []),
];
