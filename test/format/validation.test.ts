/** How each interface describes the users of a GPU, whether they may use it, and unknown values. */
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {statusRows} from '../../source/core/rules/pool/status.js';
import type {GpuProcess, GpuReading, GpuRecord, Lease, Snapshot} from '../../source/core/model/types.js';
import {detailText, userText, validationText} from '../../source/format/status-labels.js';
import {statusJson} from '../../source/format/json/status-json.js';
import {idleReading, snapshotWith, observationOf} from '../_helpers/world.js';

const free: GpuRecord = {kind: 'free', index: 0, raw: undefined};
const alices = (lease: Partial<Lease> = {}): GpuRecord => ({
	kind: 'leased',
	index: 0,
	raw: '{}',
	lease: {user: 'alice', actualUser: 'alice', type: 'manual', startTime: 9000, expiryTime: 20_000, ...lease},
});

function rowOf(record: GpuRecord, reading: Partial<GpuReading>, threshold = 1024) {
	const snapshot: Snapshot = snapshotWith({
		now: 10_000,
		pool: {gpuCount: 1, provider: 'nvidia'},
		gpus: [record],
	});
	const observation = observationOf([{...idleReading(0), ...reading}]);
	const [row] = statusRows(snapshot, observation, threshold);
	return {row: row!, json: statusJson([row!], observation)[0]!};
}

const python = (pid: number, user: string | undefined, more: Partial<GpuProcess> = {}): GpuProcess => ({
	pid,
	user,
	name: 'python3',
	memoryUsedMiB: 4000,
	...more,
});

type Case = readonly [
	what: string,
	record: GpuRecord,
	reading: Partial<GpuReading>,
	said: {readonly user: string; readonly details?: string; readonly validation: string},
];

test.each<Case>([
	['free and almost unused', free, {memoryUsedMiB: 45}, {user: '-', details: 'never used', validation: '45MB used'}],
	[
		'free with a small process',
		free,
		{memoryUsedMiB: 300, processes: [python(7, 'bob')]},
		{user: '-', details: 'never used', validation: '300MB, 1 processes'},
	],
	[
		'reserved and used by its holder',
		alices(),
		{memoryUsedMiB: 8452, processes: [python(7, 'alice')]},
		{user: 'alice', validation: '8452MB, 1 processes'},
	],
	['reserved and unused', alices(), {}, {user: 'alice', validation: 'no usage detected'}],
	[
		'reserved and slightly used',
		alices(),
		{memoryUsedMiB: 300, processes: [python(7, 'alice')]},
		{user: 'alice', validation: '300MB, 1 processes'},
	],
	[
		'reserved by one account and used by others',
		alices(),
		{memoryUsedMiB: 9000, processes: [python(7, 'alice'), python(8, 'bob'), python(9, 'carol'), python(10, 'bob')]},
		{
			user: 'alice',
			validation:
				'9000MB, 4 processes, ALSO bob,carol without a reservation: PID 8 (python3), PID 9 (python3) and 1 more',
		},
	],
	[
		'reserved and used by another account with little memory',
		alices(),
		{memoryUsedMiB: 200, processes: [python(8, 'bob')]},
		{user: 'alice', validation: '200MB, 1 processes, ALSO bob without a reservation: PID 8 (python3)'},
	],
	[
		'reserved with a label and used by its holder',
		alices({user: 'team'}),
		{memoryUsedMiB: 9000, processes: [python(7, 'alice')]},
		{user: 'alice (team)', validation: '9000MB, 1 processes'},
	],
	[
		'reserved and used by a process of an unknown account',
		alices(),
		{memoryUsedMiB: 9000, processes: [python(7, 'alice'), python(8, undefined)]},
		{user: 'alice', validation: '9000MB, 2 processes, 1 of an unknown user'},
	],
	[
		'reserved and used by a desktop',
		alices(),
		{memoryUsedMiB: 90, processes: [python(7, 'gdm', {name: 'Xorg', kind: 'graphics'})]},
		{user: 'alice', validation: '90MB, 1 processes'},
	],
	[
		'reserved, with unreadable memory and known processes',
		alices(),
		{memoryUsedMiB: undefined, processes: [python(8, 'bob')]},
		{
			user: 'alice',
			validation: 'unknown: memory in use is unknown, 1 processes, ALSO bob without a reservation: PID 8 (python3)',
		},
	],
	[
		'used without a reservation',
		free,
		{memoryUsedMiB: 1025, processes: [python(12_345, 'bob')]},
		{user: 'bob', details: '1025MB used by PID 12345 (python3)', validation: '-'},
	],
	[
		'used by several accounts without a reservation',
		free,
		{memoryUsedMiB: 9000, processes: [python(1, 'carol'), python(2, 'bob'), python(3, 'alice'), python(4, 'bob')]},
		{
			user: 'alice,bob,carol',
			details: '9000MB used by PID 1 (python3), PID 2 (python3) and 2 more',
			validation: '-',
		},
	],
	[
		'used by a known and an unknown account without a reservation',
		free,
		{memoryUsedMiB: 9000, processes: [python(1, 'bob'), python(2, undefined, {name: undefined})]},
		{user: 'bob,unknown', details: '9000MB used by PID 1 (python3), PID 2 (unknown process)', validation: '-'},
	],
	[
		'used by a process of unknown size and unable to report memory',
		free,
		{
			memoryUsedMiB: undefined,
			unknown: {memoryUsedMiB: '[N/A]'},
			processes: [python(1, 'bob', {memoryUsedMiB: undefined})],
		},
		{user: 'bob', details: 'used by PID 1 (python3)', validation: '-'},
	],
	[
		'used without a reservation by hidden processes',
		free,
		{memoryUsedMiB: 9000, processes: undefined},
		{user: 'unknown', details: '9000MB used by a process that cannot be seen', validation: '-'},
	],
])('status describes the use of a GPU that is %s', (_, record, reading, {user, details, validation}) => {
	const {row, json} = rowOf(record, reading);
	expect({user: userText(row), validation: validationText(row)}).toEqual({user, validation});
	expect(detailText(row)).toBe(details ?? 'expires in 2h 46m 40s');
	expect(json.validation).toBe(validation === '-' ? undefined : validation);
	// JSON has separate fields for the label and the account.
	expect(json.user).toBe(user === '-' || row.state === 'unreserved' ? undefined : (row.label ?? row.owner));
	expect(json.unreserved_users).toEqual(row.state === 'unreserved' ? user.split(',') : undefined);
});

test('a GPU is in use only above the memory threshold', () => {
	expect(rowOf(free, {memoryUsedMiB: 500}, 500).row.state).toBe('available');
	expect(rowOf(free, {memoryUsedMiB: 501}, 500).row.state).toBe('unreserved');
	expect(rowOf(free, {memoryUsedMiB: 1}, 0).row.state).toBe('unreserved');
});

describe('status of a GPU with any processes', () => {
	const anyProcess = fc
		.tuple(fc.nat(), fc.option(fc.constantFrom('alice', 'bob', 'carol'), {nil: undefined}))
		.map(([pid, user]) => python(pid, user));
	const anyReading = fc.record({
		memoryUsedMiB: fc.option(fc.nat({max: 3000}), {nil: undefined}),
		processes: fc.option(fc.array(anyProcess, {maxLength: 6}), {nil: undefined}),
	});

	test('names each user once and never describes a GPU with unknown use as free', () => {
		fc.assert(
			fc.property(anyReading, fc.boolean(), (reading, isHeld) => {
				const {row} = rowOf(isHeld ? alices() : free, reading);
				const users = new Set((reading.processes ?? []).map(({user}) => user ?? 'unknown'));
				if (isHeld) {
					const others = ['bob', 'carol'].filter((user) => users.has(user));
					const accused = /ALSO (?<names>[,a-z]+) without/v.exec(validationText(row))?.groups?.['names'] ?? '';
					expect(accused.split(',').filter(Boolean).toSorted()).toEqual(others);
				} else if (row.state === 'unreserved') {
					expect(userText(row).split(',')).toEqual(users.size === 0 ? ['unknown'] : [...users].toSorted());
				} else {
					expect(row.state).toBe(reading.memoryUsedMiB === undefined ? 'error' : 'available');
				}
			}),
		);
	});
});
