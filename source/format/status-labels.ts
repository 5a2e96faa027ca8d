/** A status row in words: what the table, the JSON and the page say in the same way. */
import {cautionOf, type StatusRow} from '../core/rules/pool/status.js';
import type {GpuProcess} from '../core/model/types.js';
import {ownerText} from './owner.js';
import {firstOf, mebibytes} from './text/numbers.js';
import {clockTime} from './text/days.js';
import {longDuration} from './text/durations.js';
import {sharesText} from './shares.js';
import {sanitize, shorten} from './text/text.js';

/** Processes named before the rest are only counted. */
const namedProcesses = 2;

const processText = ({pid, name}: GpuProcess): string =>
	`PID ${pid} (${name === undefined ? 'unknown process' : shorten(sanitize(name), 32)})`;

/** `PID 12345 (python3), PID 67890 (jupyter) and 2 more`. */
export const processList = (processes: readonly GpuProcess[]): string =>
	firstOf(
		processes.map((process) => processText(process)),
		namedProcesses,
	);

/** `8452MB used by PID 12345 (python3)`, `used by ...` where it is not known how much, or undefined for a GPU that is not in unreserved use. */
export function unreservedText(row: StatusRow): string | undefined {
	if (row.state !== 'unreserved' || row.use.kind !== 'used') {
		return undefined;
	}

	const by = row.processes.length > 0 ? `by ${processList(row.processes)}` : 'by a process that cannot be seen';
	const {memoryUsedMiB, isDirty} = row.use;
	const used =
		isDirty === true
			? `not clean yet: ${leftoverText(row, memoryUsedMiB)}`
			: `${memoryUsedMiB === undefined ? '' : `${mebibytes(memoryUsedMiB)} `}used ${by}`;
	const left = leftText(row);
	return left === undefined ? used : `${used}, ${left}`;
}

/**
Returns a text such as `left by job of alice, ended 12:04`, with the processes if others use the GPU too. Undefined if no job is known to have
left any.
*/
export function leftText({left, processes, freeSeconds = 0}: StatusRow): string | undefined {
	if (left === undefined) {
		return undefined;
	}

	const which = left.processes.length === processes.length ? '' : `${processList(left.processes)} `;
	return `${which}left by job of ${sanitize(left.account)}, ended ${clockTime(left.endedAt, left.endedAt + freeSeconds)}`;
}

/** What was left on a GPU: `PID 12345 (python3)`, or memory that no process is shown for, and the verb that finds out whose it is. */
const leftoverText = ({index, processes}: StatusRow, memoryUsedMiB: number | undefined): string =>
	processes.length > 0
		? processList(processes)
		: `${mebibytes(memoryUsedMiB ?? 0)} are held, and no process is shown for it: canhazgpu who ${index}`;

/** All who use it without a reservation, each once; `unknown` for those who are unknown. */
export function unreservedNames({state, unreservedUsers, processes}: StatusRow): readonly string[] {
	const hasUnknown = processes.length === 0 || processes.some(({user}) => user === undefined);
	return state === 'unreserved' ? [...unreservedUsers, ...(hasUnknown ? ['unknown'] : [])] : [];
}

/**
The column USER: `account`, `account (label)`, `2 shared`, or all who use it without a reservation.

@param betweenTwo - What stands between two of those.
*/
export function userText(row: StatusRow, betweenTwo: ',' | ' and ' = ','): string {
	if (row.owner !== undefined) {
		return ownerText(row.owner, row.label);
	}

	if (row.shares !== undefined) {
		return `${row.shares.length} shared`;
	}

	if (row.state !== 'unreserved') {
		return '-';
	}

	const names = unreservedNames(row).map((user) => sanitize(user));
	return names.join(names.length === 2 ? betweenTwo : ',');
}

/** The column DETAILS. */
export function detailText(row: StatusRow): string {
	const caution = row.state === 'in-use' || row.state === 'unreserved' ? cautionOf(row) : undefined;
	return [stateDetails(row), caution === undefined ? '' : sanitize(caution), migText(row.reading) ?? '']
		.filter((part) => part !== '')
		.join(', ');
}

/** As far as a scan or another host tells. */
type MigParts = {
	readonly isMigEnabled?: boolean | undefined;
	readonly migInstances?: ReadonlyArray<{readonly profile?: string | undefined}> | undefined;
};

/** `MIG 3g.40gb 2x1g.10gb`: the parts of a GPU that MIG has split. Undefined: MIG has not split it, or its parts are unknown. */
export function migText(reading: MigParts | undefined): string | undefined {
	if (reading?.isMigEnabled === true && reading.migInstances?.length === 0) {
		return 'MIG without instances';
	}

	const profiles = (reading?.migInstances ?? []).map(({profile}) => sanitize(profile ?? '?'));
	const counted = Array.from(
		Map.groupBy(profiles, (profile) => profile),
		([profile, {length: count}]) => (count === 1 ? profile : `${count}x${profile}`),
	);
	return counted.length === 0 ? undefined : `MIG ${counted.join(' ')}`;
}

function stateDetails(row: StatusRow): string {
	switch (row.state) {
		case 'available': {
			if (row.use.kind === 'unread') {
				return 'free';
			}

			return row.freeSeconds === undefined ? 'never used' : `free for ${longDuration(row.freeSeconds)}`;
		}

		case 'unreserved': {
			return unreservedText(row) ?? '';
		}

		case 'error': {
			return sanitize(row.problem ?? 'unknown error');
		}

		case 'in-use': {
			const shared = sharesText(row);
			if (shared !== undefined) {
				return shared;
			}

			return row.lease?.partialQueueId === undefined ? leaseDetails(row) : 'held for a waiter in the queue';
		}
	}
}

/** Until when it is held. A job may end before its time limit. */
function leaseDetails({lease, remainingSeconds, heartbeatAgeSeconds, isHeartbeatAhead}: StatusRow): string {
	if (lease?.type === 'manual' && remainingSeconds !== undefined) {
		return `expires in ${longDuration(remainingSeconds)}`;
	}

	const limit = remainingSeconds === undefined ? [] : [`ends within ${longDuration(remainingSeconds)}`];
	// Where nothing is known the words are the Go program's.
	const unknown = lease?.type === 'manual' ? 'manual reservation' : 'active';
	const alive = lease?.isSuspended === true ? 'suspended' : unknown;
	const life = lease?.job === undefined ? alive : `until PID ${lease.job.pid} ends`;
	const age = isHeartbeatAhead === true ? 'in the future' : `${longDuration(heartbeatAgeSeconds ?? 0)} ago`;
	return [...limit, heartbeatAgeSeconds === undefined ? life : `heartbeat ${age}`].join(', ');
}

/** `8452MB, 2 processes`, and who of them is not the holder. */
function useText(row: StatusRow, memoryUsedMiB: number | undefined): string {
	const {processes, squatters, reading} = row;
	const names = [...new Set(squatters.map(({user}) => sanitize(user ?? 'unknown')))].join(',');
	const unknown = processes.filter(({user}) => user === undefined).length;
	const words = [
		memoryUsedMiB === undefined ? undefined : mebibytes(memoryUsedMiB),
		reading?.processes === undefined ? undefined : `${processes.length} processes`,
		unknown === 0 ? undefined : `${unknown} of an unknown user`,
		names === '' ? undefined : `ALSO ${names} without a reservation: ${processList(squatters)}`,
	];
	return words.filter((word) => word !== undefined).join(', ');
}

/** What this program and the Go program write, in JSON too, of a GPU in use on which nothing is seen. */
export const noUsage = 'no usage detected';

/** The column VALIDATION: what the GPU itself says of the state. */
export function validationText(row: StatusRow): string {
	if (row.state === 'unreserved' || row.state === 'error') {
		return '-';
	}

	const memory = row.reading?.memoryUsedMiB;
	switch (row.use.kind) {
		case 'failed':
		case 'unknown': {
			// Memory may be hidden where processes are seen.
			return [`unknown: ${sanitize(row.use.why)}`, row.processes.length > 0 ? useText(row, undefined) : '']
				.filter((word) => word !== '')
				.join(', ');
		}

		case 'unread': {
			return '-';
		}

		case 'idle': {
			if (row.processes.length > 0) {
				return useText(row, memory);
			}

			return row.state === 'available' && memory !== undefined ? `${mebibytes(memory)} used` : noUsage;
		}

		case 'used': {
			const {memoryUsedMiB} = row.use;
			// As the Go program says it of memory that no process is shown for.
			return row.processes.length === 0 && memoryUsedMiB !== undefined
				? `${mebibytes(memoryUsedMiB)} used`
				: useText(row, memoryUsedMiB);
		}
	}
}
