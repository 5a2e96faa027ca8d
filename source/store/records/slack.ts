/** The stored mark of a reservation beyond its account's limit. An unreadable part counts as absent, which only keeps the GPUs longer. */
import type {LeaseSlack} from '../../core/model/types.js';
import {optionalPromise, timeIn, timerIn, timerRecord} from './idle.js';
import type {Fields} from './json/fields.js';

export function readSlack(fields: Fields): LeaseSlack | undefined {
	const slack = fields.object('slack');
	if (slack === undefined) {
		return undefined;
	}

	const groups = slack.anyList('groups').filter((item) => typeof item === 'string');
	const warned = timeIn(slack, 'warned');
	const deadline = timeIn(slack, 'deadline');
	const remindedOf = timeIn(slack, 'reminded_of');
	const timer = timerIn(slack);
	return {
		...(groups.length > 0 && {groups}),
		...(warned !== undefined && deadline !== undefined && {warned, deadline}),
		...(remindedOf !== undefined && {remindedOf}),
		...(timer !== undefined && {timer}),
	};
}

export const slackRecord = (slack: LeaseSlack | undefined): Readonly<Record<string, unknown>> | undefined =>
	slack && {
		groups: slack.groups,
		warned: optionalPromise(slack.warned),
		deadline: optionalPromise(slack.deadline),
		reminded_of: optionalPromise(slack.remindedOf),
		timer: timerRecord(slack.timer),
	};
