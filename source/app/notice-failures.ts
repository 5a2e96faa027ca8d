/** Remembers which targets did not get their last notice. `doctor` reports them, because a monitor has no place for failures. */
import path from 'node:path';
import type {Delivery} from '../core/model/notice-request.js';
import type {Host} from '../core/model/ports.js';
import {isRoot} from '../core/rules/leases/ownership.js';
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

/** The home directory of the service `canhazgpu-keep`, as its unit sets it. */
export const serviceHome = '/var/lib/canhazgpu-keep';

function readFailures(file: string | undefined): ReadonlyMap<string, NoticeFailure> {
	try {
		const text = file === undefined ? undefined : readUserFile(file, longestBytes);
		const entries = Object.entries(JSON.parse(text ?? '{}') as Record<string, unknown>);
		return new Map(entries.filter((entry): entry is [string, NoticeFailure] => isFailure(entry[1])));
	} catch {
		return new Map();
	}
}

/**
Returns the failures of this account's processes and, for root, those of the service, which also runs as root. The later failure of a target counts.
*/
export function readNoticeFailures(
	host: Pick<Host, 'machineId' | 'account'>,
	home = serviceHome,
): ReadonlyMap<string, NoticeFailure> {
	const ofService = isRoot(host.account)
		? readFailures(path.join(home, '.local/state/canhazgpu', host.machineId, 'notices.json'))
		: new Map<string, NoticeFailure>();
	const all = [...readFailures(fileOf(host)), ...ofService];
	return new Map(all.toSorted(([, a], [, b]) => a.time - b.time));
}

/** Adds failures, and removes the failures of targets that work again. Writes the file only if something changed. */
export function recordDeliveries(
	host: Pick<Host, 'machineId'>,
	deliveries: ReadonlyArray<{readonly name: string; readonly delivery: Delivery}>,
	now: number,
): void {
	const file = fileOf(host);
	const known = readFailures(file);
	const failures = new Map(known);
	for (const {name, delivery} of deliveries) {
		if (delivery.outcome === 'failed') {
			failures.set(name, {time: Math.round(now), reason: delivery.reason.slice(0, longestReason)});
		} else {
			failures.delete(name);
		}
	}

	const hasFailed = deliveries.some(({delivery}) => delivery.outcome === 'failed');
	if (file !== undefined && (hasFailed || failures.size !== known.size)) {
		writeUserFile(file, `${JSON.stringify(Object.fromEntries(failures))}\n`);
	}
}
