import {cautionOf, type StatusRow} from '../core/rules/pool/status.js';
import type {GpuProcess} from '../core/model/types.js';
import {ownerText} from './owner.js';
import {firstOf, mebibytes} from './text/numbers.js';
import {clockTime} from './text/days.js';
import {beyondLimitText, idleText, keptText as keptUntilText, parkedText as parkedSinceText} from './idle-text.js';
import {longDuration} from './text/durations.js';
import {sharesText} from './shares.js';
import {sanitize, shorten} from './text/text.js';

/** How many processes a text names. Any others are only counted. */
const namedProcesses = 2;

const processText = ({pid, name}: GpuProcess): string =>
	`PID ${pid} (${name === undefined ? 'unknown process' : shorten(sanitize(name), 32)})`;

export const processList = (processes: readonly GpuProcess[]): string =>
	firstOf(
		processes.map((process) => processText(process)),
		namedProcesses,
	);

/** Returns `8452MB used by PID 12345 (python3)` for a GPU in use without a reservation. */
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

/** Returns `left by alice's job, ended 12:04`, with the processes if others use the GPU too. */
export function leftText({left, processes, freeSeconds = 0}: StatusRow): string | undefined {
	if (left === undefined) {
		return undefined;
	}

	const which = left.processes.length === processes.length ? '' : `${processList(left.processes)} `;
	return `${which}left by ${sanitize(left.account)}'s job, ended ${clockTime(left.endedAt, left.endedAt + freeSeconds)}`;
}

/** Returns what was left on a GPU, or the command that finds the owner of memory without a process. */
const leftoverText = ({index, processes}: StatusRow, memoryUsedMiB: number | undefined): string =>
	processes.length > 0
		? processList(processes)
		: `${mebibytes(memoryUsedMiB ?? 0)} are in use, but no process is listed: canhazgpu who ${index}`;

/** Returns all users without a reservation, including `unknown`. */
export function unreservedNames({state, unreservedUsers, processes}: StatusRow): readonly string[] {
	const hasUnknown = processes.length === 0 || processes.some(({user}) => user === undefined);
	return state === 'unreserved' ? [...unreservedUsers, ...(hasUnknown ? ['unknown'] : [])] : [];
}

/** Returns the column USER: `account`, `account (label)`, `2 shared`, or all users without a reservation. */
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

export function detailText(row: StatusRow): string {
	const caution = row.state === 'in-use' || row.state === 'unreserved' ? cautionOf(row) : undefined;
	return [stateDetails(row), caution === undefined ? '' : sanitize(caution), migText(row.reading) ?? '']
		.filter((part) => part !== '')
		.join(', ');
}

type MigParts = {
	readonly isMigEnabled?: boolean | undefined;
	readonly migInstances?: ReadonlyArray<{readonly profile?: string | undefined}> | undefined;
};

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

			return row.lease?.partialQueueId === undefined
				? [warningText(row), parkedText(row), limitText(row), leaseDetails(row), keptText(row)]
						.filter((part) => part !== undefined)
						.join(', ')
				: 'held for a request in the queue';
		}
	}
}

const nowOf = ({lease, heldSeconds = 0}: Pick<StatusRow, 'lease' | 'heldSeconds'>): number =>
	(lease?.startTime ?? 0) + heldSeconds;

export function warningText(row: Pick<StatusRow, 'lease' | 'heldSeconds' | 'warning'>): string | undefined {
	const now = nowOf(row);
	return row.warning && idleText(row.warning, now);
}

export const limitText = (row: Pick<StatusRow, 'lease' | 'heldSeconds' | 'beyondLimit'>): string | undefined =>
	row.beyondLimit && beyondLimitText(row.beyondLimit, nowOf(row));

const parkedText = (row: Pick<StatusRow, 'lease' | 'heldSeconds' | 'parked'>): string | undefined =>
	row.parked && parkedSinceText(row.parked, (time) => clockTime(time, nowOf(row)));

export const keptText = (row: Pick<StatusRow, 'lease' | 'heldSeconds' | 'keepUntil'>): string | undefined =>
	row.keepUntil === undefined ? undefined : keptUntilText(row.keepUntil, (time) => clockTime(time, nowOf(row)));

/** Returns when the lease ends, as far as known. A job may end before its time limit. */
function leaseDetails({lease, remainingSeconds, heartbeatAgeSeconds, isHeartbeatAhead}: StatusRow): string {
	if (lease?.type === 'manual' && remainingSeconds !== undefined) {
		return `expires in ${longDuration(remainingSeconds)}`;
	}

	const limit = remainingSeconds === undefined ? [] : [`ends within ${longDuration(remainingSeconds)}`];
	// These are the words of the Go program.
	const unknown = lease?.type === 'manual' ? 'manual reservation' : 'active';
	const alive = lease?.isSuspended === true ? 'suspended' : unknown;
	const life = lease?.job === undefined ? alive : `until PID ${lease.job.pid} ends`;
	const age = isHeartbeatAhead === true ? 'in the future' : `${longDuration(heartbeatAgeSeconds ?? 0)} ago`;
	return [...limit, heartbeatAgeSeconds === undefined ? life : `heartbeat ${age}`].join(', ');
}

/** Returns `8452MB, 2 processes`, and the users of these processes who are not the holder. */
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

/** The text for a reserved GPU on which no use is visible. The Go program has the same text. */
export const noUsage = 'no usage detected';

/** Returns the column VALIDATION: what the GPU itself reports. */
export function validationText(row: StatusRow): string {
	if (row.state === 'unreserved' || row.state === 'error') {
		return '-';
	}

	const memory = row.reading?.memoryUsedMiB;
	switch (row.use.kind) {
		case 'failed':
		case 'unknown': {
			// The memory may be unknown while processes are visible.
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
			// The Go program has the same text for memory without a process.
			return row.processes.length === 0 && memoryUsedMiB !== undefined
				? `${mebibytes(memoryUsedMiB)} used`
				: useText(row, memoryUsedMiB);
		}
	}
}
