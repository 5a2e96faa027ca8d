/**
Sends each reminder at most once. The sender first records the reminder in the lease, so only one of several processes
sends it. If the answer to that commit is lost, nobody sends the reminder.
*/
import {gpusOf, holdingsIn, type Holding} from '../rules/leases/holdings.js';
import {judgedByWaiter, planChange} from '../rules/leases/lease-changes.js';
import {timedEndOf} from '../rules/leases/liveness.js';
import {isRoot, labelOf, ownerOf} from '../rules/leases/ownership.js';
import {alertsWrite} from '../rules/pool/alerts.js';
import {emptyPlan, isEmpty, type Plan} from '../model/plan.js';
import type {Requester, Snapshot} from '../model/types.js';
import {readCurrent} from './transact.js';
import type {EngineWorld} from './engine.js';

/** Remaining time at which the holder of a manual reservation is reminded. */
const remindSeconds = 600;

/** Seconds during which only the holder's processes and root's may send, because they can reach the holder's terminals. */
const ownersFirstSeconds = 60;

export type Reminder = {
	/** `ending`: a reservation ends soon. `served`: a queued request was granted. `overuse`: a share uses too much memory. */
	readonly kind: 'ending' | 'served' | 'overuse';
	readonly account: string;
	readonly label?: string;
	readonly gpus: readonly number[];
	readonly leaseId?: string;
	readonly remainingSeconds?: number;
	/** Reserved memory and memory in use. Absent for a whole GPU. */
	readonly memoryMiB?: number;
	readonly usedMiB?: number;
	readonly note?: string;
};

export type ReminderSender = Pick<Requester, 'account' | 'uid' | 'userNamespace'> & {
	/** Whether this process can reach all accounts, not only its own. */
	readonly reachesAll: boolean;
};

/** Whether nobody was reminded of this end. Reservations that are short from the start need no reminder. */
const isUnreminded = ({lease}: Holding): boolean =>
	(timedEndOf(lease) ?? -Infinity) - lease.startTime > remindSeconds && lease.remindedOf !== lease.expiryTime;

/** Returns when this sender may send a reminder that is due at `due`, or undefined for never. Store time. */
function dueTime({lease}: Holding, due: number, sender: ReminderSender): number | undefined {
	if (isRoot(sender) || ownerOf(lease) === sender.account) {
		return due;
	}

	return sender.reachesAll ? due + ownersFirstSeconds : undefined;
}

type RemindersPlan = {
	readonly plan: Plan;
	readonly reminders: readonly Reminder[];
	readonly nextSeconds: number;
};

type Due = {
	readonly reminders: readonly Reminder[];
	readonly plan: Pick<Plan, 'expect' | 'writes' | 'usage'>;
	readonly laterSeconds: readonly number[];
};

function endingsDue(snapshot: Snapshot, sender: ReminderSender): Due {
	const unreminded = holdingsIn(snapshot.gpus).filter((holding) => isUnreminded(holding));
	const dueIn = (holding: Holding): number =>
		(dueTime(holding, holding.lease.expiryTime! - remindSeconds, sender) ?? Infinity) - snapshot.now;
	const due = unreminded.filter((holding) => dueIn(holding) <= 0);
	const groups = Map.groupBy(due, ({index, lease}) => `${lease.leaseId ?? index} ${lease.expiryTime}`);
	const reminders = Array.from(groups.values(), (holdings): Reminder => {
		const {lease} = holdings[0]!;
		return {
			kind: 'ending',
			account: ownerOf(lease),
			label: labelOf(lease),
			gpus: gpusOf(holdings),
			leaseId: lease.leaseId,
			remainingSeconds: lease.expiryTime! - snapshot.now,
			note: lease.note,
		};
	});
	return {
		reminders,
		plan: planChange(due, (lease) => ({...lease, remindedOf: lease.expiryTime}), undefined),
		laterSeconds: unreminded.map((holding) => dueIn(holding)).filter((seconds) => seconds > 0),
	};
}

/** Returns the recorded overuses whose owner was not reminded. */
function overusesDue(snapshot: Snapshot, sender: ReminderSender): Due {
	const {overuse, now, alertsProblem, stored} = snapshot;
	const holdings = holdingsIn(snapshot.gpus);
	// A reminder that cannot be recorded would be sent again and again.
	const recorded =
		alertsProblem === undefined ? overuse.filter(({isRecorded, isReminded}) => isRecorded && !isReminded) : [];
	const judged = recorded.flatMap((entry) => {
		const holding = holdings.find(({index, lease}) => index === entry.gpu && lease.leaseId === entry.leaseId);
		return holding === undefined
			? []
			: [{entry, lease: holding.lease, dueIn: (dueTime(holding, entry.countedAt, sender) ?? Infinity) - now}];
	});
	const due = judged.filter(({dueIn}) => dueIn <= 0);
	const reminded = new Set(due.map(({entry}) => entry));
	return {
		reminders: due.map(({entry, lease}) => ({
			kind: 'overuse',
			account: ownerOf(lease),
			label: labelOf(lease),
			gpus: [entry.gpu],
			leaseId: entry.leaseId,
			memoryMiB: lease.memoryMiB,
			usedMiB: entry.usedMiB,
			note: lease.note,
		})),
		plan:
			due.length === 0
				? emptyPlan
				: {
						expect: [{kind: 'alerts', raw: stored.alerts}],
						writes: [
							alertsWrite(snapshot, {
								overuse: overuse.map((entry) => (reminded.has(entry) ? {...entry, isReminded: true} : entry)),
							}),
						],
						usage: [],
					},
		laterSeconds: judged.map(({dueIn}) => dueIn).filter((seconds) => seconds > 0),
	};
}

const reasonOf = ({kind, account, gpus}: Reminder): string => {
	const named = `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')}`;
	return kind === 'overuse'
		? `${account} was told that the share of ${named} uses more than it asked for`
		: `${account} was reminded that the reservation of ${named} ends soon`;
};

export function planReminders(snapshot: Snapshot, sender: ReminderSender): RemindersPlan {
	const parts = [endingsDue(snapshot, sender), overusesDue(snapshot, sender)];
	const reminders = parts.flatMap((part) => part.reminders);
	return {
		plan: {
			...emptyPlan,
			expect: parts.flatMap(({plan}) => plan.expect),
			writes: parts.flatMap(({plan}) => plan.writes),
			audit: reminders.map((reminder) => ({
				time: snapshot.now,
				kind: 'notice',
				account: reminder.account,
				label: reminder.label,
				gpus: reminder.gpus,
				leaseId: reminder.leaseId,
				reason: reasonOf(reminder),
			})),
			event: {kind: 'notice', gpus: [...new Set(reminders.flatMap(({gpus}) => gpus))]},
		},
		reminders,
		nextSeconds: Math.min(Infinity, ...parts.flatMap(({laterSeconds}) => laterSeconds)),
	};
}

/** Claims the reminders that are due. Also returns when to read again. Throws `store-unreachable`, ... There is then nothing to send. */
export async function claimReminders(
	world: EngineWorld,
	sender: ReminderSender,
): Promise<Pick<RemindersPlan, 'reminders' | 'nextSeconds'>> {
	if (world.engine !== undefined) {
		// Other engines cannot record reminders, and send mails themselves.
		return {reminders: [], nextSeconds: Infinity};
	}

	const {plan, reminders, nextSeconds} = planReminders(
		await readCurrent(world, {judged: (read) => judgedByWaiter(read, () => world.clock.random())}),
		sender,
	);
	if (isEmpty(plan)) {
		return {reminders: [], nextSeconds};
	}

	// After a conflict, another process was first or the lease has changed. The next read shows which.
	const isOurs = (await world.store.commit(plan)) === 'done';
	return isOurs ? {reminders, nextSeconds} : {reminders: [], nextSeconds: 1};
}
