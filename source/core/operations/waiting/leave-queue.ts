import {hasCode, isTransient} from '../../../errors.js';
import {auditContextOf} from '../../rules/leases/audit-entries.js';
import {isRoot, mayChange} from '../../rules/leases/ownership.js';
import type {World} from '../../model/ports.js';
import {emptyPlan} from '../../model/plan.js';
import {holdingsOf, planLeave} from '../../rules/queue/queue.js';
import type {Requester} from '../../model/types.js';
import type {EngineWorld, LeaveResult, GaveUp, WaitOptions} from '../engine.js';
import {release} from '../reservations.js';
import {transact} from '../transact.js';
import type {Grant, Tenure} from '../../rules/request/request.js';
import {grantIn} from '../acquire-now.js';
import {createWakeSignal} from './wake-signal.js';

/** Average time in ms between attempts to leave the queue while the store is unreachable. */
const retryMs = 1000;

type Holds = {readonly kind: 'holds'; readonly gpus: readonly number[]};

/** Removes an entry from the queue and releases the GPUs that it holds. `id` can be the beginning of the id. Root can remove any entry. */
export const leaveQueue = async (world: EngineWorld, requester: Requester, id: string): Promise<LeaveResult> =>
	world.engine?.leaveQueue(requester, id) ??
	((await leave(world, requester, {id, isWhileEmpty: false})) as LeaveResult);

/** Removes an entry from the queue unless it holds a GPU. If the entry gets a GPU in the meantime, the commit conflicts and the entry is checked again. */
export const leaveQueueWhileEmpty = async (
	world: EngineWorld,
	requester: Requester,
	id: string,
): Promise<LeaveResult | Holds> =>
	// A job that waits in Slurm's queue never holds a GPU.
	world.engine?.leaveQueue(requester, id) ?? leave(world, requester, {id, isWhileEmpty: true});

const leave = async (
	world: EngineWorld,
	requester: Requester,
	{id, isWhileEmpty}: {readonly id: string; readonly isWhileEmpty: boolean},
): Promise<LeaveResult | Holds> =>
	transact<LeaveResult | Holds>(world, {
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

			const held = holdingsOf(snapshot, record.id).map(({index}) => index);
			if (isWhileEmpty && held.length > 0) {
				return {plan: emptyPlan, result: {kind: 'holds', gpus: held}};
			}

			return {
				plan: planLeave(snapshot, record, auditContextOf(world, requester, snapshot)),
				result: {kind: 'left', id: record.id, freed: held},
			};
		},
		shownBy: 'queue',
	});

type QuitOptions = {
	readonly id: string;
	readonly leaseId: string;
	readonly account: string;
	readonly reason: GaveUp['reason'];
	readonly tenure?: Tenure | undefined;
};

/** Leaves the queue and releases held GPUs. If the request was granted at the last moment, returns the grant instead. */
export async function quitQueue(
	world: World,
	{id, leaseId, account, reason, tenure}: QuitOptions,
): Promise<Grant | GaveUp> {
	const gaveUp = {kind: 'gave-up', reason} as const;
	try {
		return await transact<Grant | GaveUp>(world, {
			attempt(snapshot) {
				const own = snapshot.queue.find((record) => record.id === id);
				const context = {now: snapshot.now, host: world.host.hostname, account};
				return own === undefined
					? {plan: emptyPlan, result: grantIn(snapshot, leaseId, tenure) ?? gaveUp}
					: {plan: planLeave(snapshot, own, context, reason === 'timeout'), result: gaveUp};
			},
		});
	} catch (error) {
		if (!isTransient(error)) {
			throw error;
		}

		// The store is unreachable. After this process has ended, the next command that reads the pool removes the entry. A process that goes on
		// calls `quitLater`, or repeats the request with the same entry id.
		return {...gaveUp, isUnsure: true};
	}
}

/**
Leaves the queue once the store can be reached again, unless `leaveUntil` is aborted first. Releases a grant of the last moment, because nobody waits
for the grant any more.
*/
export async function quitLater(
	world: World,
	requester: Requester,
	quit: QuitOptions,
	{leaveUntil, failed}: Pick<WaitOptions, 'failed'> & {readonly leaveUntil: AbortSignal},
): Promise<void> {
	const {clock} = world;
	const wakeSignal = createWakeSignal();
	for (;;) {
		await wakeSignal.wait(clock, retryMs * (0.5 + clock.random()), leaveUntil);
		if (leaveUntil.aborted) {
			return;
		}

		try {
			const end = await quitQueue(world, quit);
			if (end.kind === 'granted') {
				await release(world, requester, {by: 'lease', leaseId: quit.leaseId});
				return;
			}

			if (end.isUnsure !== true) {
				return;
			}
		} catch (error) {
			if (!isTransient(error)) {
				// After the abort, the store may be closed.
				if (!leaveUntil.aborted) {
					failed?.(error);
				}

				return;
			}
		}
	}
}

/**
Returns whether somebody has removed an entry from the queue since this store time, according to the audit log. False if the log cannot be read. If an
entry was removed automatically, its record has a reason.
*/
export async function isRemoved({store}: World, entryId: string, since: number): Promise<boolean> {
	try {
		const audit = await store.audit({fromTime: since - 1});
		return audit.some((entry) => entry.kind === 'left' && entry.entryId === entryId && entry.reason === undefined);
	} catch (error) {
		if (!hasCode(error, 'store-refused')) {
			throw error;
		}

		return false;
	}
}
