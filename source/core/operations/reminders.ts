/**
Reminding people of what concerns them, once each: the process that will send a reminder writes that into the lease first, against what was read, so that
of all who notice one tells. Told at most once: a claim whose answer was lost is not told.
*/
import {holdingsIn, type Holding} from '../rules/leases/holdings.js';
import {judgedByWaiter, planChange} from '../rules/leases/lease-changes.js';
import {isRoot, labelOf, ownerOf} from '../rules/leases/ownership.js';
import {isEmpty, type Plan} from '../model/plan.js';
import type {World} from '../model/ports.js';
import type {Requester, Snapshot} from '../model/types.js';
import {readCurrent} from './transact.js';

/** A manual reservation is reminded of when this is left of it. */
export const remindSeconds = 600;

/** So long it is left to the holder's own processes and root's, who can reach the holder's terminals. */
const ownersFirstSeconds = 60;

/** Something to tell one account. */
export type Reminder = {
	/** `ending`: a reservation ends soon. `served`: GPUs that were waited for are there. */
	readonly kind: 'ending' | 'served';
	readonly account: string;
	/** Of the reservation, when that is not simply the account. */
	readonly label?: string;
	/** Sorted. */
	readonly gpus: readonly number[];
	readonly leaseId?: string;
	/** Until it ends. */
	readonly remainingSeconds?: number;
	/** What the reservation is for. */
	readonly note?: string;
};

/** Who would tell. */
export type ReminderSender = Pick<Requester, 'account' | 'uid' | 'userNamespace'> & {
	/** It has ways to reach everybody, and not only its own account. */
	readonly reachesAll: boolean;
};

/** Of this end nobody has been reminded yet; one that was moved is another. What was short from the start is no surprise. */
const isUnreminded = ({lease}: Holding): boolean =>
	lease.type === 'manual' &&
	lease.partialQueueId === undefined &&
	lease.expiryTime !== undefined &&
	lease.expiryTime - lease.startTime > remindSeconds &&
	lease.remindedOf !== lease.expiryTime;

/** From when on this teller may remind of it, on the store's clock; undefined: never. */
function dueTime({lease}: Holding, sender: ReminderSender): number | undefined {
	const due = lease.expiryTime! - remindSeconds;
	if (isRoot(sender) || ownerOf(lease) === sender.account) {
		return due;
	}

	return sender.reachesAll ? due + ownersFirstSeconds : undefined;
}

export type RemindersPlan = {
	readonly plan: Plan;
	/** One a reservation, to be told once the plan is committed. */
	readonly notices: readonly Reminder[];
	/** Until the next is due, as far as can be seen now. */
	readonly nextSeconds: number;
};

export function planReminders(snapshot: Snapshot, sender: ReminderSender): RemindersPlan {
	const unreminded = holdingsIn(snapshot.gpus).filter((record) => isUnreminded(record));
	const dueIn = (record: Holding): number => (dueTime(record, sender) ?? Infinity) - snapshot.now;
	const due = unreminded.filter((record) => dueIn(record) <= 0);
	const groups = Map.groupBy(due, ({index, lease}) => `${lease.leaseId ?? index} ${lease.expiryTime}`);
	const notices = Array.from(groups.values(), (records): Reminder => {
		const {lease} = records[0]!;
		return {
			kind: 'ending',
			account: ownerOf(lease),
			label: labelOf(lease),
			gpus: records.map(({index}) => index),
			leaseId: lease.leaseId,
			remainingSeconds: lease.expiryTime! - snapshot.now,
			note: lease.note,
		};
	});
	const change = planChange(due, (lease) => ({...lease, remindedOf: lease.expiryTime}), {
		kind: 'notice',
		gpus: due.map(({index}) => index),
	});
	return {
		plan: {
			...change,
			audit: notices.map(({account, label, gpus, leaseId}) => ({
				time: snapshot.now,
				kind: 'notice',
				account,
				label,
				gpus,
				leaseId,
				reason: `${account} was reminded that the reservation of ${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')} ends soon`,
			})),
		},
		notices,
		nextSeconds: Math.min(Infinity, ...unreminded.map((record) => dueIn(record)).filter((seconds) => seconds > 0)),
	};
}

/**
Takes over the telling of what is due now.

@returns What to tell: nobody else will. And when to read again, at the latest.
@throws CanhazgpuError `store-unreachable`, ... : then there is nothing to tell.
*/
export async function claimReminders(
	world: World,
	sender: ReminderSender,
): Promise<Pick<RemindersPlan, 'notices' | 'nextSeconds'>> {
	const {plan, notices, nextSeconds} = planReminders(
		await readCurrent(world, {judged: (read) => judgedByWaiter(read, () => world.clock.random())}),
		sender,
	);
	if (isEmpty(plan)) {
		return {notices: [], nextSeconds};
	}

	// After a conflict somebody else was first, or the lease has changed: the next read shows it.
	const isOurs = (await world.store.commit(plan)) === 'done';
	return isOurs ? {notices, nextSeconds} : {notices: [], nextSeconds: 1};
}
