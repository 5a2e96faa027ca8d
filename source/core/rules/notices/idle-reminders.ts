/** Reminds owners that a reservation goes back to the pool, because it is idle or beyond the account's limit, or that a reservation is parked. */
import type {Lease, Snapshot} from '../../model/types.js';
import {gpusOf, holdingsIn, type Holding} from '../leases/holdings.js';
import {planChange} from '../leases/lease-changes.js';
import {labelOf, ownerOf} from '../leases/ownership.js';
import {beyondLimitOf} from '../limits/slack.js';
import {offeredKeepSeconds, parkedAfterSeconds, parkedOf, warningOf} from '../policy/idle-rules.js';
import {dueTime, type DueReminders, type Reminder, type ReminderSender} from './reminder.js';

type Unreminded = {
	/** Store time from which the owner can be reminded. */
	readonly due: number;
	/** The deadline. For a parked reservation, the time since which it is parked. Leases with the same id and time cause one reminder. */
	readonly time: number;
	readonly facts: Pick<Reminder, 'idle' | 'beyondLimit' | 'parked' | 'remainingSeconds'>;
};

type Source = {
	readonly kind: 'idle' | 'beyond-limit' | 'parked';
	readonly warningFor: (lease: Lease) => Unreminded | undefined;
	readonly reminded: (lease: Lease) => Lease;
};

const secondsTo = (deadline: number, {now}: Pick<Snapshot, 'now'>): number => Math.max(0, deadline - now);

function warningsDue(
	{gpus, now}: Snapshot,
	sender: ReminderSender,
	written: ReadonlySet<number>,
	{kind, warningFor, reminded}: Source,
): DueReminders {
	const judged = holdingsIn(gpus).flatMap((holding) => {
		const warning = warningFor(holding.lease);
		if (warning === undefined) {
			return [];
		}

		const time = dueTime(kind, ownerOf(holding.lease), {due: warning.due, now}, sender) ?? Infinity;
		return [{holding, warning, dueIn: written.has(holding.index) ? 1 : time - now}];
	});
	const due = judged.filter(({dueIn}) => dueIn <= 0);
	const groups = Map.groupBy(due, ({holding: {index, lease}, warning}) => `${lease.leaseId ?? index} ${warning.time}`);
	return {
		reminders: Array.from(groups.values(), (group): Reminder => {
			const {holding, warning} = group[0]!;
			const {lease} = holding;
			return {
				kind,
				account: ownerOf(lease),
				label: labelOf(lease),
				gpus: gpusOf(group.map((each) => each.holding)),
				leaseId: lease.leaseId,
				...warning.facts,
				note: lease.note,
			};
		}),
		plan: planChange(
			due.map(({holding}): Holding => holding),
			reminded,
			undefined,
		),
		laterSeconds: judged.map(({dueIn}) => dueIn).filter((seconds) => seconds > 0),
	};
}

/** Returns the reminders about idle reservations. The same plan already changes the GPUs in `written`, so their reminders follow a second later. */
export const idleDue = (snapshot: Snapshot, sender: ReminderSender, written: ReadonlySet<number>): DueReminders =>
	warningsDue(snapshot, sender, written, {
		kind: 'idle',
		warningFor(lease) {
			const {idle} = lease;
			const warning = warningOf(lease, snapshot);
			return idle?.warned === undefined || warning === undefined || idle.remindedOf === warning.deadline
				? undefined
				: {
						due: idle.warned,
						time: warning.deadline,
						facts: {
							idle: {...warning, now: snapshot.now, keepSeconds: offeredKeepSeconds(snapshot)},
							remainingSeconds: secondsTo(warning.deadline, snapshot),
						},
					};
		},
		reminded: (lease) => ({...lease, idle: lease.idle && {...lease.idle, remindedOf: lease.idle.deadline}}),
	});

export const beyondLimitDue = (
	snapshot: Snapshot,
	sender: ReminderSender,
	written: ReadonlySet<number>,
): DueReminders =>
	warningsDue(snapshot, sender, written, {
		kind: 'beyond-limit',
		warningFor(lease) {
			const {warned, deadline, remindedOf} = lease.slack ?? {};
			const beyondLimit = deadline === undefined ? undefined : beyondLimitOf(lease, snapshot);
			return warned === undefined || deadline === undefined || beyondLimit === undefined || remindedOf === deadline
				? undefined
				: {
						due: warned,
						time: deadline,
						facts: {
							beyondLimit: {mostGpus: beyondLimit.limit.value, deadline, now: snapshot.now},
							remainingSeconds: secondsTo(deadline, snapshot),
						},
					};
		},
		reminded: (lease) => ({...lease, slack: lease.slack && {...lease.slack, remindedOf: lease.slack.deadline}}),
	});

export const parkedDue = (snapshot: Snapshot, sender: ReminderSender, written: ReadonlySet<number>): DueReminders =>
	warningsDue(snapshot, sender, written, {
		kind: 'parked',
		warningFor(lease) {
			const parked = parkedOf(lease, snapshot);
			return parked === undefined || lease.parked?.toldOf === parked.since
				? undefined
				: {
						due: parked.since + parkedAfterSeconds,
						time: parked.since,
						facts: {parked: {...parked, now: snapshot.now}},
					};
		},
		reminded: (lease) => ({...lease, parked: lease.parked && {...lease.parked, toldOf: lease.parked.since}}),
	});
