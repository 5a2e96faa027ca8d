/** Sends each reminder at most once: a process first records it in the lease. If the answer to that commit is lost, nobody sends the reminder. */
import {gpusOf, holdingsIn, neededLeaseId, type Holding} from '../rules/leases/holdings.js';
import {judgedByWaiter, planChange} from '../rules/leases/lease-changes.js';
import {timedEndOf} from '../rules/leases/liveness.js';
import {labelOf, ownerOf} from '../rules/leases/ownership.js';
import {alertsDue} from '../rules/notices/alert-reminders.js';
import {beyondLimitDue, idleDue, parkedDue} from '../rules/notices/idle-reminders.js';
import {dueTime, type DueReminders, type Reminder, type ReminderSender} from '../rules/notices/reminder.js';
import {emptyPlan, isEmpty, type Plan} from '../model/plan.js';
import type {Snapshot} from '../model/types.js';
import {readCurrent} from './transact.js';
import type {EngineWorld} from './engine.js';

/** The holder of a manual reservation is reminded this many seconds before its end. */
const remindSeconds = 600;

/** A reminder is sent even in the quiet time if less than this would be left of the reservation at the end of the quiet time. */
const leastSeconds = 300;

/**
Returns the holdings whose holder still needs a reminder of the end. A reservation that was short from the start needs none. A reservation starts when
its request got the last GPU, because the GPUs before it were only held in the queue.
*/
function unremindedIn(gpus: Snapshot['gpus']): readonly Holding[] {
	const holdings = holdingsIn(gpus);
	const groups = Map.groupBy(holdings, ({index, lease}) => lease.leaseId ?? index);
	const startOf = ({index, lease}: Holding): number =>
		Math.max(...groups.get(lease.leaseId ?? index)!.map((other) => other.lease.startTime));
	return holdings.filter(
		(holding) =>
			(timedEndOf(holding.lease) ?? -Infinity) - startOf(holding) > remindSeconds &&
			holding.lease.remindedOf !== holding.lease.expiryTime,
	);
}

type RemindersPlan = {
	readonly plan: Plan;
	readonly reminders: readonly Reminder[];
	readonly nextSeconds: number;
};

function endingsDue(snapshot: Snapshot, sender: ReminderSender): DueReminders {
	const unreminded = unremindedIn(snapshot.gpus);
	const {now} = snapshot;
	const dueIn = ({lease}: Holding): number => {
		const end = lease.expiryTime!;
		const moment = {due: end - remindSeconds, now, latest: end - leastSeconds};
		return (dueTime('ending', ownerOf(lease), moment, sender) ?? Infinity) - now;
	};

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
			isAmongOthers: neededLeaseId(snapshot.gpus, holdings, (other) => ownerOf(other) === ownerOf(lease)) !== undefined,
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

const reasonOf = ({kind, account, gpus}: Reminder): string => {
	const named = `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')}`;
	switch (kind) {
		case 'overuse': {
			return `${account} was told that the share of ${named} uses more memory than it reserved`;
		}

		case 'squatter': {
			return `${account} was told that a process uses ${named} without a reservation`;
		}

		case 'idle': {
			return `${account} was reminded that the idle reservation of ${named} goes back to the pool`;
		}

		case 'beyond-limit': {
			return `${account} was reminded that the reservation of ${named} is beyond the limit and goes back to the pool`;
		}

		case 'parked': {
			return `${account} was told that ${named} ${gpus.length === 1 ? 'holds' : 'hold'} memory without load`;
		}

		case 'reclaimed': {
			return `${account} was told that ${named} went back to the pool`;
		}

		default: {
			return `${account} was reminded that the reservation of ${named} ends soon`;
		}
	}
};

export function planReminders(snapshot: Snapshot, sender: ReminderSender): RemindersPlan {
	const endings = endingsDue(snapshot, sender);
	const parts = [endings, alertsDue(snapshot, sender)];
	const written = new Set(endings.reminders.flatMap(({gpus}) => gpus));
	for (const due of [idleDue, beyondLimitDue, parkedDue]) {
		const part = due(snapshot, sender, written);
		parts.push(part);
		for (const gpu of part.reminders.flatMap(({gpus}) => gpus)) {
			written.add(gpu);
		}
	}

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

/** Returns the reminders to send now, and in how many seconds to call again. Rejects with a CanhazgpuError if the store fails. */
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

	// If the commit conflicts, another process sends the reminders or a lease has changed. The next read shows which reminders are left.
	const isOurs = (await world.store.commit(plan)) === 'done';
	return isOurs ? {reminders, nextSeconds} : {reminders: [], nextSeconds: 1};
}
