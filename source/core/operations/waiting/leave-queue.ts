/** Taking an entry out of the queue: one of the caller, or, for root, anybody's. */
import {holdingsOf} from '../../rules/queue/queue-grant.js';
import {isRoot, mayChange} from '../../rules/leases/ownership.js';
import {emptyPlan} from '../../model/plan.js';
import type {World} from '../../model/ports.js';
import {planLeave} from '../../rules/queue/queue.js';
import type {QueueEntry, Requester} from '../../model/types.js';
import {transact} from '../transact.js';

export type LeaveResult =
	| {readonly kind: 'left'; readonly id: string; readonly freed: readonly number[]}
	| {readonly kind: 'not-found'}
	/** The beginning of an id that several have. */
	| {readonly kind: 'ambiguous'; readonly ids: readonly string[]}
	| {readonly kind: 'not-yours'; readonly entry: QueueEntry};

/** Takes an entry out of the queue, with what it holds. `id` may be the beginning of one. */
export const leaveQueue = async (world: World, requester: Requester, id: string): Promise<LeaveResult> =>
	transact<LeaveResult>(world, {
		attempt(snapshot) {
			const exact = snapshot.queue.filter((record) => record.id === id);
			const found = exact.length > 0 ? exact : snapshot.queue.filter((record) => record.id.startsWith(id));
			const [record] = found;
			if (record === undefined) {
				return {plan: emptyPlan, result: {kind: 'not-found'}};
			}

			if (found.length > 1) {
				return {plan: emptyPlan, result: {kind: 'ambiguous', ids: found.map((other) => other.id)}};
			}

			if (record.kind === 'entry' ? !mayChange(requester, record.entry) : !isRoot(requester)) {
				return record.kind === 'entry'
					? {plan: emptyPlan, result: {kind: 'not-yours', entry: record.entry}}
					: {plan: emptyPlan, result: {kind: 'not-found'}};
			}

			return {
				plan: planLeave(snapshot, record, {now: snapshot.now, host: world.host.hostname, account: requester.account}),
				result: {kind: 'left', id: record.id, freed: holdingsOf(snapshot, record.id).map(({index}) => index)},
			};
		},
		shownBy: 'queue',
	});
