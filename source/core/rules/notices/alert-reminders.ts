/**
Reminders whose state is in the record of alerts: for shares that exceed their memory, for GPUs used without a
reservation, and for reservations that went back to the pool.
*/
import {emptyPlan} from '../../model/plan.js';
import type {Snapshot} from '../../model/types.js';
import {holdingsIn} from '../leases/holdings.js';
import {labelOf, ownerOf} from '../leases/ownership.js';
import {alertsWrite} from '../pool/alerts.js';
import {dueTime, type DueReminders, type Reminder, type ReminderSender} from './reminder.js';

function overusesDue({overuse, gpus, now}: Snapshot, sender: ReminderSender) {
	const holdings = holdingsIn(gpus);
	return overuse
		.filter(({isRecorded, isReminded}) => isRecorded && !isReminded)
		.flatMap((entry) => {
			const holding = holdings.find(({index, lease}) => index === entry.gpu && lease.leaseId === entry.leaseId);
			if (holding === undefined) {
				return [];
			}

			const {lease} = holding;
			const due = dueTime('overuse', ownerOf(lease), {due: entry.countedAt, now}, sender);
			return [{entry, lease, dueIn: (due ?? Infinity) - now}];
		});
}

const squattersDue = ({alerts, now}: Snapshot, sender: ReminderSender) =>
	alerts
		.filter(({kind, account, isTold}) => kind !== 'health' && account !== undefined && isTold !== true)
		.map((alert) => {
			const due = dueTime('squatter', alert.account!, {due: alert.since, now}, sender);
			return {alert, dueIn: (due ?? Infinity) - now};
		});

const returnsDue = ({returned = [], now}: Snapshot, sender: ReminderSender) =>
	returned.map((note) => ({
		note,
		dueIn: (dueTime('reclaimed', note.account, {due: note.endedAt, now}, sender) ?? Infinity) - now,
	}));

export function alertsDue(snapshot: Snapshot, sender: ReminderSender): DueReminders {
	const {overuse, alerts, returned = [], alertsProblem, stored, now} = snapshot;
	if (alertsProblem !== undefined) {
		// A reminder that cannot be recorded would be sent repeatedly.
		return {reminders: [], plan: emptyPlan, laterSeconds: []};
	}

	const overuses = overusesDue(snapshot, sender);
	const squatters = squattersDue(snapshot, sender);
	const returns = returnsDue(snapshot, sender);
	const returnsNow = returns.filter(({dueIn}) => dueIn <= 0).map(({note}) => note);
	const overusesNow = overuses.filter(({dueIn}) => dueIn <= 0);
	const alertsNow = squatters.filter(({dueIn}) => dueIn <= 0).map(({alert}) => alert);
	const reminded = new Set(overusesNow.map(({entry}) => entry));
	const told = new Set(alertsNow);
	const byUse = Map.groupBy(alertsNow, ({account, owner}) => JSON.stringify([account, owner]));
	const reminders = [
		...overusesNow.map(({entry, lease}): Reminder => ({
			kind: 'overuse',
			account: ownerOf(lease),
			label: labelOf(lease),
			gpus: [entry.gpu],
			leaseId: entry.leaseId,
			memoryMiB: lease.memoryMiB,
			usedMiB: entry.usedMiB,
			note: lease.note,
		})),
		...Array.from(byUse.values(), (uses): Reminder => ({
			kind: 'squatter',
			account: uses[0]!.account!,
			gpus: uses.map(({gpu}) => gpu),
			owner: uses[0]!.owner,
		})),
		...returnsNow.map(({account, label, gpus, leaseId, reason, endedAt, note}): Reminder => ({
			kind: 'reclaimed',
			account,
			label,
			gpus,
			leaseId,
			reclaimed: {reason, endedAt, now},
			note,
		})),
	];
	return {
		reminders,
		plan:
			reminders.length === 0
				? emptyPlan
				: {
						expect: [{kind: 'alerts', raw: stored.alerts}],
						writes: [
							alertsWrite(snapshot, {
								overuse: overuse.map((entry) => (reminded.has(entry) ? {...entry, isReminded: true} : entry)),
								alerts: alerts.map((alert) => (told.has(alert) ? {...alert, isTold: true} : alert)),
								returned: returned.filter((note) => !returnsNow.includes(note)),
							}),
						],
						usage: [],
					},
		laterSeconds: [...overuses, ...squatters, ...returns].map(({dueIn}) => dueIn).filter((seconds) => seconds > 0),
	};
}
