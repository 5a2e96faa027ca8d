/** A place in the line: taking it, giving it up, and what it means that it is gone. */
import {CanhazgpuError} from '../../errors.js';
import type {UnusableGpu} from '../rules/allocation/allocation.js';
import {holdingsOf, type EntryRecord} from '../rules/queue/queue-grant.js';
import {estimateWaits} from '../rules/queue/estimates.js';
import {isLeased} from '../rules/leases/lease-changes.js';
import {emptyPlan} from '../model/plan.js';
import {requireNoClone} from '../rules/pool/pool.js';
import type {World} from '../model/ports.js';
import {outagesByRecord, outOfServiceFor} from '../rules/queue/out-of-service.js';
import {entryFor, planJoin, planLeave} from '../rules/queue/queue.js';
import {checkWanted, type Wanted, type AcquireRequest, type Grant} from '../rules/allocation/request.js';
import type {Snapshot} from '../model/types.js';
import {transact} from './transact.js';
import type {GaveUp, Progress} from './wait-types.js';

/** What can pass while one waits. Anything else ends the waiting. */
const passing = new Set(['store-unreachable', 'store-refused', 'no-pool', 'pool-garbage', 'busy']);

export const isPassing = (error: unknown): error is CanhazgpuError =>
	error instanceof CanhazgpuError && passing.has(error.code);

type JoinOptions = {
	readonly id: string;
	readonly request: AcquireRequest;
	/** Undefined: for as long as it takes. */
	readonly waitSeconds: number | undefined;
	/** When this entry joined first, on the store's clock: it lost its place and takes that again. Undefined: it joins at the end. */
	readonly joinedAt?: number | undefined;
};

/** Joins the line. Returns when it joined first, and the present, both on the store's clock. */
export const joinLine = async (
	world: World,
	{id, request, waitSeconds, joinedAt}: JoinOptions,
): Promise<{readonly now: number; readonly joinedAt: number}> => {
	const {requester, tenure, note, force} = request;
	return transact(world, {
		attempt(snapshot) {
			requireNoClone(snapshot, world.host, world.store.location);
			const wanted = checkWanted(request, snapshot.gpus.length);
			const {now} = snapshot;
			const began = joinedAt ?? now;
			const entry = {
				...entryFor({id, requester, wanted, tenure, note, force, waitSeconds}, world.host, began),
				lastHeartbeat: now,
			};
			const result = {now, joinedAt: began};
			// Somebody who knew of it may have put it back meanwhile.
			return snapshot.queue.some((record) => record.id === id)
				? {plan: emptyPlan, result}
				: {plan: planJoin(entry, world.host.hostname, joinedAt), result};
		},
		shownBy: 'queue',
	});
};

type QuitOptions = {
	readonly id: string;
	/** That it would have got. */
	readonly leaseId: string;
	readonly account: string;
	readonly reason: GaveUp['reason'];
};

/** Leaves it, giving back what was held meanwhile; unless all was granted in the last moment, and the answer was lost. */
export async function quitLine(world: World, {id, leaseId, account, reason}: QuitOptions): Promise<Grant | GaveUp> {
	const gaveUp = {kind: 'gave-up', reason} as const;
	try {
		return await transact<Grant | GaveUp>(world, {
			attempt(snapshot) {
				const own = snapshot.queue.find((record) => record.id === id);
				const occasion = {now: snapshot.now, host: world.host.hostname, account};
				return own === undefined
					? {plan: emptyPlan, result: grantIn(snapshot, leaseId) ?? gaveUp}
					: {plan: planLeave(snapshot, own, occasion, reason === 'timeout'), result: gaveUp};
			},
		});
	} catch (error) {
		if (!isPassing(error)) {
			throw error;
		}

		// Nobody can be told now. The entry is dropped at the next look, for this process will be gone.
		return {...gaveUp, isUnsure: true};
	}
}

/** How it stands with whoever waits there. */
export const waitingNews = (
	snapshot: Snapshot,
	own: EntryRecord,
	wanted: Wanted,
	unusable: readonly UnusableGpu[] = [],
): Progress => ({
	kind: 'waiting',
	position: snapshot.queue.indexOf(own) + 1,
	waiting: snapshot.queue.length,
	wanted,
	held: holdingsOf(snapshot, own.id).map(({index}) => index),
	outOfService: outOfServiceFor(own.entry, snapshot.gpus, outagesByRecord(snapshot)),
	unusable,
	estimateSeconds: estimateWaits(snapshot).get(own.id),
});

/** The grant that was made although its answer was lost. */
export function grantIn(snapshot: Snapshot, leaseId: string): Grant | undefined {
	const mine = snapshot.gpus
		.filter(isLeased)
		.filter(({lease}) => lease.leaseId === leaseId && lease.partialQueueId === undefined);
	const [first] = mine;
	return (
		first && {
			kind: 'granted',
			gpus: mine.map(({index}) => index),
			leaseId,
			expiryTime: first.lease.expiryTime,
		}
	);
}
