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

/** The holder of a manual reservation is reminded this many seconds before its end. */
const remindSeconds = 600;

/** For this time, only processes of the holder and of root send a reminder, because only they can write to the holder's terminals. */
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
	/** Whether this process can send reminders to all accounts, and not only to its own. */
	readonly reachesAll: boolean;
};

/** Whether the reservation's holder still needs a reminder of its end. Reservations that are short from the start need none. */
const isUnreminded = ({lease}: Holding): boolean =>
	(timedEndOf(lease) ?? -Infinity) - lease.startTime > remindSeconds && lease.remindedOf !== lease.expiryTime;

/** Returns the store time from which this sender may send a reminder that is due at `due`. Undefined if it never may. */
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

/** Returns the recorded overuses of which the owner was not reminded yet. */
function overusesDue(snapshot: Snapshot, sender: ReminderSender): Due {
	const {overuse, now, alertsProblem, stored} = snapshot;
	const holdings = holdingsIn(snapshot.gpus);
	// If the alerts cannot be written, nothing is due: a reminder that cannot be recorded would be sent again and again.
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

/** Returns the reminders that this process must send now, and in how many seconds to call again. Throws `store-unreachable`, ... if the store fails. */
export async function claimReminders(
	world: EngineWorld,
	sender: ReminderSender,
): Promise<Pick<RemindersPlan, 'reminders' | 'nextSeconds'>> {
	if (world.engine !== undefined) {
		// Reminders cannot be recorded in an engine such as Slurm, which sends mails itself.
		return {reminders: [], nextSeconds: Infinity};
	}

	const {plan, reminders, nextSeconds} = planReminders(
		await readCurrent(world, {judged: (read) => judgedByWaiter(read, () => world.clock.random())}),
		sender,
	);
	if (isEmpty(plan)) {
		return {reminders: [], nextSeconds};
	}

	// If the commit conflicts, another process sends the reminders or a lease has changed. The next read shows what is left.
	const isOurs = (await world.store.commit(plan)) === 'done';
	return isOurs ? {reminders, nextSeconds} : {reminders: [], nextSeconds: 1};
}
