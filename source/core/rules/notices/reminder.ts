import type {Plan} from '../../model/plan.js';
import type {Requester, ReturnNote} from '../../model/types.js';
import {timeToSend, usualPreferences, type NoticePreferences} from './events.js';

/** How long only the account's own processes may send a notice that is due, because only they know the targets that the account chose. */
const ownersFirstSeconds = 60;

export type Reminder = {
	/**
	`ending`: a reservation ends soon. `served`: a queued request was granted. `overuse`: a share uses too much memory. `squatter`: a process uses a
	GPU that its account did not reserve. `idle`: idle GPUs go back soon. `beyond-limit`: GPUs beyond the account's limit go back soon. `parked`: GPUs
	hold memory without load. `reclaimed`: GPUs went back.
	*/
	readonly kind: 'ending' | 'served' | 'overuse' | 'squatter' | 'idle' | 'beyond-limit' | 'parked' | 'reclaimed';
	readonly account: string;
	readonly label?: string;
	readonly gpus: readonly number[];
	readonly leaseId?: string;
	/** Whether the account has another lease on one of these GPUs, so that a command must name the lease. */
	readonly isAmongOthers?: boolean;
	readonly remainingSeconds?: number;
	/** Reserved memory and memory in use. Absent for a whole GPU. */
	readonly memoryMiB?: number;
	readonly usedMiB?: number;
	/**
	All times in this field and the fields below are store times. `now` is the time of the reminder. `keepSeconds` is
	how long the owner can keep the GPUs.
	*/
	readonly idle?: {
		readonly since: number;
		readonly deadline: number;
		readonly now: number;
		readonly keepSeconds: number;
	};
	readonly beyondLimit?: {readonly mostGpus: number; readonly deadline: number; readonly now: number};
	readonly parked?: {readonly since: number; readonly now: number};
	readonly reclaimed?: {readonly reason: ReturnNote['reason']; readonly endedAt: number; readonly now: number};
	readonly note?: string;
	readonly owner?: string;
};

export type ReminderSender = Pick<Requester, 'account' | 'uid' | 'userNamespace'> & {
	/** Whether this process has a target with which it reaches all accounts, and not only its own. */
	readonly reachesAll: boolean;
	readonly own?: NoticePreferences;
	readonly others?: NoticePreferences;
};

export type DueReminders = {
	readonly reminders: readonly Reminder[];
	readonly plan: Pick<Plan, 'expect' | 'writes' | 'usage'>;
	readonly laterSeconds: readonly number[];
};

type Moment = {readonly due: number; readonly now: number; readonly latest?: number};

/** Returns the store time from which this sender may notify an account. Undefined if this sender never may. */
export function dueTime(
	kind: Reminder['kind'],
	account: string,
	{due, ...moment}: Moment,
	sender: ReminderSender,
): number | undefined {
	const {own = usualPreferences, others = usualPreferences} = sender;
	if (account === sender.account) {
		return timeToSend(kind, {due, ...moment}, own);
	}

	return sender.reachesAll ? timeToSend(kind, {due: due + ownersFirstSeconds, ...moment}, others) : undefined;
}
