/** The stored idle time of a reservation. All times are rounded so that the owner never loses a second. */
import {latestTime, type LeaseIdle} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';
import {wholePast, wholePromise} from './json/time.js';

const isTime = (value: number | undefined): value is number => value !== undefined && value >= 0 && value <= latestTime;

/** Reads a time, and ignores anything else. An unreadable idle time only starts again. */
export function timeIn(fields: Fields | undefined, name: string): number | undefined {
	const value = fields?.anyNumber(name);
	return isTime(value) ? value : undefined;
}

export function readIdle(fields: Fields): LeaseIdle | undefined {
	const idle = fields.object('idle');
	const since = timeIn(idle, 'since');
	const seen = timeIn(idle, 'seen');
	const warned = timeIn(idle, 'warned');
	const deadline = timeIn(idle, 'deadline');
	const remindedOf = timeIn(idle, 'reminded_of');
	return since === undefined || seen === undefined
		? undefined
		: {
				since,
				seen,
				...(warned !== undefined && deadline !== undefined && {warned, deadline}),
				...(remindedOf !== undefined && {remindedOf}),
			};
}

export const readKeepUntil = (fields: Fields): number | undefined => timeIn(fields, 'keep_until');

export const optionalPromise = (time: number | undefined): number | undefined =>
	time === undefined ? undefined : wholePromise(time);

export const idleRecord = (idle: LeaseIdle | undefined): Readonly<Record<string, unknown>> | undefined =>
	idle && {
		since: wholePromise(idle.since),
		seen: wholePast(idle.seen),
		warned: optionalPromise(idle.warned),
		deadline: optionalPromise(idle.deadline),
		reminded_of: optionalPromise(idle.remindedOf),
	};
