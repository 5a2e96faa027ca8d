/** Remembers which targets did not get their last notice. `doctor` reports them, because a monitor has no place for failures. */
import path from 'node:path';
import type {Delivery} from '../core/model/notice-request.js';
import type {Host} from '../core/model/ports.js';
import {machineStateDirectory, readUserFile, writeUserFile} from './user-file.js';

export type NoticeFailure = {readonly time: number; readonly reason: string};

const longestBytes = 100_000;
const longestReason = 500;

const fileOf = (host: Pick<Host, 'machineId'>): string | undefined => {
	const directory = machineStateDirectory(host);
	return directory === undefined ? undefined : path.join(directory, 'notices.json');
};

const isFailure = (value: unknown): value is NoticeFailure =>
	typeof value === 'object' &&
	value !== null &&
	typeof (value as NoticeFailure).time === 'number' &&
	typeof (value as NoticeFailure).reason === 'string';

export function readNoticeFailures(host: Pick<Host, 'machineId'>): ReadonlyMap<string, NoticeFailure> {
	const file = fileOf(host);
	try {
		const text = file === undefined ? undefined : readUserFile(file, longestBytes);
		const entries = Object.entries(JSON.parse(text ?? '{}') as Record<string, unknown>);
		return new Map(entries.filter((entry): entry is [string, NoticeFailure] => isFailure(entry[1])));
	} catch {
		return new Map();
	}
}

/** Adds failures, and removes the failures of targets that work again. Writes the file only if something changed. */
export function recordDeliveries(
	host: Pick<Host, 'machineId'>,
	deliveries: ReadonlyArray<{readonly name: string; readonly delivery: Delivery}>,
	now: number,
): void {
	const known = readNoticeFailures(host);
	const failures = new Map(known);
	for (const {name, delivery} of deliveries) {
		if (delivery.outcome === 'failed') {
			failures.set(name, {time: Math.round(now), reason: delivery.reason.slice(0, longestReason)});
		} else {
			failures.delete(name);
		}
	}

	const file = fileOf(host);
	const hasFailed = deliveries.some(({delivery}) => delivery.outcome === 'failed');
	if (file !== undefined && (hasFailed || failures.size !== known.size)) {
		writeUserFile(file, `${JSON.stringify(Object.fromEntries(failures))}\n`);
	}
}
