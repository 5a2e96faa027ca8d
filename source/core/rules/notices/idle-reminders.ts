import type {Snapshot} from '../../model/types.js';
import {gpusOf, holdingsIn} from '../leases/holdings.js';
import {planChange} from '../leases/lease-changes.js';
import {labelOf, ownerOf} from '../leases/ownership.js';
import {warningOf} from '../policy/idle-rules.js';
import {dueTime, type DueReminders, type Reminder, type ReminderSender} from './reminder.js';

/**
Returns the idle reservations whose owner was not reminded of the warning yet.
@param written - GPUs whose records another reminder changes. Their reminders come a second later.
*/
export function idleDue(snapshot: Snapshot, sender: ReminderSender, written: ReadonlySet<number>): DueReminders {
	const {now} = snapshot;
	const judged = holdingsIn(snapshot.gpus).flatMap((holding) => {
		const {idle} = holding.lease;
		const warning = warningOf(holding.lease, snapshot);
		if (idle?.warned === undefined || warning === undefined || idle.remindedOf === warning.deadline) {
			return [];
		}

		const time = dueTime('idle', ownerOf(holding.lease), {due: idle.warned, now}, sender) ?? Infinity;
		return [{holding, warning, dueIn: written.has(holding.index) ? 1 : time - now}];
	});
	const due = judged.filter(({dueIn}) => dueIn <= 0);
	const groups = Map.groupBy(
		due,
		({holding: {index, lease}, warning}) => `${lease.leaseId ?? index} ${warning.deadline}`,
	);
	return {
		reminders: Array.from(groups.values(), (group): Reminder => {
			const {holding, warning} = group[0]!;
			const {lease} = holding;
			return {
				kind: 'idle',
				account: ownerOf(lease),
				label: labelOf(lease),
				gpus: gpusOf(group.map((each) => each.holding)),
				leaseId: lease.leaseId,
				remainingSeconds: Math.max(0, warning.deadline - now),
				idle: {...warning, now},
				note: lease.note,
			};
		}),
		plan: planChange(
			due.map(({holding}) => holding),
			(lease) => ({...lease, idle: lease.idle && {...lease.idle, remindedOf: lease.idle.deadline}}),
			undefined,
		),
		laterSeconds: judged.map(({dueIn}) => dueIn).filter((seconds) => seconds > 0),
	};
}
