/** The stored idle time of a reservation. All times are rounded so that the owner never loses a second. */
import {latestTime, type GraceTimer, type LeaseIdle, type LeaseParked} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';
import {wholePast, wholePromise} from './json/time.js';
import {optionalText} from './json/write.js';

const isTime = (value: number | undefined): value is number => value !== undefined && value >= 0 && value <= latestTime;

/** Reads a time. Undefined for anything else, which only makes the idle time start again. */
export function timeIn(fields: Fields | undefined, name: string): number | undefined {
	const value = fields?.anyNumber(name);
	return isTime(value) ? value : undefined;
}

/** Reads the start of a grace period on the machine's clock. A period without such a start is measured only on the store's clock. */
export function timerIn(fields: Fields | undefined): GraceTimer | undefined {
	const timer = fields?.object('timer');
	const clock = timer?.anyText('clock');
	const seconds = timeIn(timer, 'seconds');
	return clock === undefined || seconds === undefined ? undefined : {clock, seconds};
}

export const timerRecord = (timer: GraceTimer | undefined): Readonly<Record<string, unknown>> | undefined =>
	timer && {clock: optionalText(timer.clock), seconds: Math.floor(timer.seconds)};

export function readIdle(fields: Fields): LeaseIdle | undefined {
	const idle = fields.object('idle');
	const since = timeIn(idle, 'since');
	const seen = timeIn(idle, 'seen');
	const warned = timeIn(idle, 'warned');
	const deadline = timeIn(idle, 'deadline');
	const remindedOf = timeIn(idle, 'reminded_of');
	const timer = timerIn(idle);
	return since === undefined || seen === undefined
		? undefined
		: {
				since,
				seen,
				...(warned !== undefined && deadline !== undefined && {warned, deadline}),
				...(remindedOf !== undefined && {remindedOf}),
				...(timer !== undefined && {timer}),
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
		timer: timerRecord(idle.timer),
	};

export function readParked(fields: Fields): LeaseParked | undefined {
	const parked = fields.object('parked');
	const since = timeIn(parked, 'since');
	const seen = timeIn(parked, 'seen');
	const toldOf = timeIn(parked, 'told_of');
	return since === undefined || seen === undefined ? undefined : {since, seen, ...(toldOf !== undefined && {toldOf})};
}

export const parkedRecord = (parked: LeaseParked | undefined): Readonly<Record<string, unknown>> | undefined =>
	parked && {
		since: wholePromise(parked.since),
		seen: wholePast(parked.seen),
		told_of: optionalPromise(parked.toldOf),
	};
