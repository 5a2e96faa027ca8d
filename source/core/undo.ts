/** Undoing a release: the very GPUs again, for what was left of their time, while nobody else has them. */
import {CanhazgpuError} from '../errors.js';
import {createFreshLook, isAwakeOn} from './acquisition.js';
import {allocate, type Refusal} from './allocation.js';
import {isLeased} from './lifecycle.js';
import {mayChange, ownerOf} from './ownership.js';
import {emptyPlan} from './plan.js';
import type {World} from './ports.js';
import {checkWanted} from './request.js';
import {transact} from './transaction.js';
import type {Lease, Requester} from './types.js';

/** What was given back: one reservation, on these GPUs. */
export type Released = {readonly gpus: readonly number[]; readonly lease: Lease};

export type Undone =
	| Refusal
	| {readonly kind: 'undone'; readonly gpus: readonly number[]; readonly leaseId: string; readonly expiryTime: number};

/** Why a release of this lease could never be undone, for the user; undefined when it can for a while. */
export const reasonAgainstUndo = ({type, expiryTime}: Lease): string | undefined =>
	type === 'run' || expiryTime === undefined
		? 'A release of a running job cannot be undone: nothing would give its GPUs back when it ends'
		: undefined;

/**
Reserves what was released again, with the same end, note and label, in one commit: all of it or nothing. The history keeps the
release, and the reservation begins anew. Whatever runs on these GPUs by now is taken for what ran there before.

@returns A refusal when somebody has one of them, or waits in line for it.
@throws CanhazgpuError `not-owner`; `unavailable` when it cannot be undone or its time is over; `busy`, `store-unreachable`, ...
*/
export async function undoRelease(world: World, requester: Requester, {gpus, lease}: Released): Promise<Undone> {
	if (!mayChange(requester, lease)) {
		throw new CanhazgpuError('not-owner', `That reservation belonged to ${ownerOf(lease)}`);
	}

	const reason = reasonAgainstUndo(lease);
	const {expiryTime} = lease;
	if (reason !== undefined || expiryTime === undefined) {
		throw new CanhazgpuError('unavailable', reason ?? 'It had no end');
	}

	const leaseId = world.clock.uuid();
	const look = createFreshLook(world);
	// Scan, then read, then commit: as every grant.
	await look();
	return transact<Undone>(world, {
		async attempt(snapshot) {
			if (expiryTime <= snapshot.now) {
				throw new CanhazgpuError('unavailable', 'The reservation would have ended by now', {hint: 'Reserve anew.'});
			}

			const answer = allocate(snapshot, await look(), {
				wanted: checkWanted({count: gpus.length, ids: gpus}, snapshot.gpus.length),
				lease: {
					...lease,
					startTime: Math.floor(snapshot.now),
					lastHeartbeat: Math.floor(snapshot.now),
					leaseId,
				},
				force: true,
				memoryThresholdMiB: world.memoryThresholdMiB,
				isAwake: isAwakeOn(world.host),
				told: {host: world.host.hostname, account: requester.account, reason: 'undone'},
			});
			return answer.kind === 'refused'
				? {plan: emptyPlan, result: answer}
				: {plan: answer.plan, result: {kind: 'undone', gpus: answer.gpus, leaseId, expiryTime}};
		},
		happened: (snapshot) => snapshot.gpus.some((record) => isLeased(record) && record.lease.leaseId === leaseId),
	});
}
