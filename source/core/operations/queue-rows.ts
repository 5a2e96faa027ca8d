/**
The line as every face shows it, and leaving it on somebody's behalf.
*/
import {holdingsOf} from '../rules/queue/queue-grant.js';
import {estimateWaits} from '../rules/queue/estimates.js';
import {isRoot, mayChange} from '../rules/leases/ownership.js';
import {emptyPlan} from '../model/plan.js';
import type {World} from '../model/ports.js';
import {keepsHoldings, outagesNoted, outOfServiceFor, type Outage} from '../rules/queue/out-of-service.js';
import {isPossible, planLeave} from '../rules/queue/queue.js';
import type {QueueEntry, Requester, Snapshot} from '../model/types.js';
import {transact} from './transact.js';

export type QueueRow = {
	/** From 1. */
	readonly position: number;
	readonly id: string;
	/** Undefined when the entry cannot be read. */
	readonly entry: QueueEntry | undefined;
	/** GPUs held until the rest comes. */
	readonly held: readonly number[];
	readonly waitedSeconds: number;
	/** Undefined: it depends on when a job ends. */
	readonly estimateSeconds: number | undefined;
	/** GPUs that it waits for to be put back into service. */
	readonly outOfService: readonly number[];
	/** What is wrong with each of those, in the same order, as far as those who wait have seen. */
	readonly outages: readonly Outage[];
	/** False: others may take what it holds, and everything that it would claim. */
	readonly keepsHoldings: boolean;
	/** False for one that this pool can never serve. */
	readonly isPossible: boolean;
};

export function queueRows(snapshot: Snapshot): readonly QueueRow[] {
	const estimates = estimateWaits(snapshot);
	const out = outagesNoted(snapshot, snapshot.queue);
	return snapshot.queue.map((record, place) => {
		const entry = record.kind === 'entry' ? record.entry : undefined;
		const outOfService = entry === undefined ? [] : outOfServiceFor(entry, snapshot.gpus, out);
		return {
			position: place + 1,
			id: record.id,
			entry,
			held: holdingsOf(snapshot, record.id).map(({index}) => index),
			waitedSeconds: entry === undefined ? 0 : Math.max(0, snapshot.now - entry.enqueueTime),
			estimateSeconds: estimates.get(record.id),
			outOfService,
			outages: outOfService.map((gpu) => out.get(gpu)!),
			keepsHoldings: entry === undefined || keepsHoldings(entry, snapshot, out),
			isPossible: entry !== undefined && isPossible(entry, snapshot.gpus.length),
		};
	});
}

export type LeaveResult =
	| {readonly kind: 'left'; readonly id: string; readonly freed: readonly number[]}
	| {readonly kind: 'not-found'}
	/** The beginning of an id that several have. */
	| {readonly kind: 'ambiguous'; readonly ids: readonly string[]}
	| {readonly kind: 'not-yours'; readonly entry: QueueEntry};

/** Takes an entry out of the line, with what it holds. `id` may be the beginning of one. */
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
