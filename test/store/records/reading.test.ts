import {describe, expect, test} from 'vitest';
import {decodeEvent, decodeGpu, decodeQueueEntry, decodeUsage, rawOf} from '../../../source/store/records/index.js';

const read = (fields: Record<string, unknown>) =>
	decodeGpu(0, JSON.stringify({user: 'eve', type: 'run', start_time: 1_751_301_278, ...fields}));

describe('a stored time', () => {
	const time = 1_751_301_278;
	test.each([
		[time, time],
		[time + 0.5, time + 0.5],
		['1751301278', time],
		['1751301278.25', time + 0.25],
		['2025-06-30T16:34:38Z', time],
		['2025-06-30T16:34:38.372177993Z', time + 0.372177993],
		['2025-06-30T18:34:38+02:00', time],
		['2025-06-30T11:04:38.5-05:30', time + 0.5],
		['2025-06-30t16:34:38z', time],
		['2024-02-29T00:00:00Z', 1_709_164_800],
		['2016-12-31T23:59:60Z', 1_483_228_799],
		[0, 0],
	])('%j is read as %d', (stored, seconds) => {
		expect(read({start_time: stored})).toMatchObject({kind: 'leased', lease: {startTime: seconds}});
	});

	test.each([null, '', '0001-01-01T00:00:00Z'])('%j is read as unset', (stored) => {
		expect(read({expiry_time: stored})).toMatchObject({kind: 'leased', lease: {expiryTime: undefined}});
		expect(read({start_time: stored})).toMatchObject({kind: 'garbage', problem: 'start_time is missing'});
	});

	test.each([
		true,
		-1,
		1e300,
		[],
		{},
		'noon',
		'2025-02-30T00:00:00Z',
		'2025-13-01T00:00:00Z',
		'2025-06-30T24:00:01Z',
		'2025-06-30T16:34:38',
		'2025-06-30T16:34:38+99:00',
		'1e9',
		'Infinity',
	])('%j makes the record invalid', (stored) => {
		expect(read({expiry_time: stored})).toMatchObject({
			kind: 'garbage',
			problem: `expiry_time is ${JSON.stringify(stored)}, which is not a time`,
		});
	});

	test('that JSON reads as infinite makes the record invalid', () => {
		const raw = '{"user":"eve","type":"run","start_time":1e999}';
		expect(decodeGpu(0, raw)).toMatchObject({kind: 'garbage', problem: 'start_time is null, which is not a time'});
	});
});

test('a record with too deeply nested values is invalid', () => {
	const deep = '['.repeat(200_000) + ']'.repeat(200_000);
	expect(decodeGpu(0, `{"user":"eve","type":"run","start_time":1,"note":${deep}}`)).toMatchObject({
		kind: 'garbage',
		problem: 'note is nested too deeply, which is not a string',
	});
	expect(decodeQueueEntry('id', `{"user":"eve","requested_ids":${deep}}`)).toMatchObject({kind: 'garbage'});
	expect(decodeUsage(`{"user":${deep}}`)).toBeUndefined();
	expect(decodeEvent(`{"kind":"granted","gpus":[],"user":${deep}}`)).toBeUndefined();
});

describe('the record of a free GPU', () => {
	test.each([
		undefined,
		'',
		'{}',
		'{"user":""}',
		'{"user":null,"last_released":null}',
		'{"last_released":""}',
		'{"last_released":"0001-01-01T00:00:00Z","start_time":null}',
	])('stored as %s means that the GPU was never used', (raw) => {
		expect(decodeGpu(4, raw)).toEqual({kind: 'free', index: 4, raw});
	});

	test.each([
		['{"last_released":1751301278}', 1_751_301_278],
		['{"last_released":1751301278.75}', 1_751_301_278.75],
		['{"last_released":"2025-06-30T16:34:38.5Z","user":"","colour":1}', 1_751_301_278.5],
	])('stored as %s contains the last release at %d', (raw, lastReleased) => {
		expect(decodeGpu(4, raw)).toEqual({kind: 'free', index: 4, raw, lastReleased});
	});

	test('contains the id of the lease that ended, and the reason for the end', () => {
		const raw = '{"last_released":1751301278,"ended":{"reason":"expired","lease_id":"l","by":"eve"}}';
		expect(decodeGpu(4, raw)).toMatchObject({kind: 'free', ended: {reason: 'expired', leaseId: 'l'}});
		expect(decodeGpu(4, '{"ended":{"reason":"later"}}')).toEqual({
			kind: 'free',
			index: 4,
			raw: '{"ended":{"reason":"later"}}',
			ended: {reason: 'later'},
		});
	});

	test('lists the processes that the job left behind', () => {
		const readEnded = (left: string) =>
			decodeGpu(4, `{"last_released":1,"ended":{"reason":"exited","user":"alice","left":${left}}}`);
		expect(readEnded('{"17":420,"x":1,"18":"y","19":[]}')).toMatchObject({
			kind: 'free',
			ended: {reason: 'exited', account: 'alice', left: [{pid: 17, startTicks: 420}]},
		});
		for (const left of ['1', 'null', '[]', '{}', '"17"', '{"17":null}']) {
			expect(readEnded(left)).toMatchObject({kind: 'free', ended: {reason: 'exited'}});
			expect(readEnded(left)).not.toHaveProperty('ended.left');
		}
	});

	test.each(['1', '"released"', '[]', 'null', '{}', '{"reason":1}', '{"lease_id":"l"}'])(
		'is valid if its ended lease is %s',
		(ended) => {
			const raw = `{"last_released":1751301278,"ended":${ended}}`;
			expect(decodeGpu(4, raw)).toEqual({kind: 'free', index: 4, raw, lastReleased: 1_751_301_278});
		},
	);

	test('is invalid if its release time cannot be read', () => {
		expect(decodeGpu(4, '{"last_released":{}}').kind).toBe('garbage');
	});
});

describe('the record of a lease', () => {
	test('is read in both forms that the Go canhazgpu writes', () => {
		const fresh = '{"start_time":1751301278,"type":"run","user":"eve","actual_user":"eve","last_heartbeat":1751301300}';
		const rewritten =
			'{"user":"eve","actual_user":"eve","start_time":"2025-06-30T16:34:38Z","last_heartbeat":"2025-06-30T16:35:00.123456789Z",' +
			'"type":"run","expiry_time":null,"last_released":null}';
		const lease = {user: 'eve', actualUser: 'eve', type: 'run', startTime: 1_751_301_278, lastHeartbeat: 1_751_301_300};
		expect(decodeGpu(0, fresh)).toEqual({kind: 'leased', index: 0, raw: fresh, lease});
		expect(decodeGpu(0, rewritten)).toEqual({
			kind: 'leased',
			index: 0,
			raw: rewritten,
			lease: {...lease, lastHeartbeat: 1_751_301_300 + 0.123456789},
		});
	});

	test.each([
		[{type: undefined}, 'type is missing'],
		[{type: 'borrowed'}, 'type is "borrowed", which is not run or manual'],
		[{type: 5}, 'type is 5, which is not run or manual'],
		[{user: ['eve']}, 'user is ["eve"], which is not a string'],
		[{note: {}}, 'note is {}, which is not a string'],
		[{pid: '12'}, 'pid is "12", which is not a number'],
		[{pid: 1.5}, 'pid is 1.5, which is not a whole number'],
		[{job_pid_start: -1}, 'job_pid_start is -1, which is not a number'],
		[{lease_id: 'x'.repeat(99), machine: true}, 'machine is true, which is not a string'],
	])('is invalid with %j, because "%s"', (fields, problem) => {
		expect(read(fields)).toMatchObject({kind: 'garbage', problem});
	});

	test('has an unknown boot id if version 0.1.0 could not read the boot id', () => {
		expect(read({machine: 'm', boot_id: 'no-boot-id-m'})).toMatchObject({kind: 'leased', lease: {bootId: undefined}});
		expect(read({machine: 'm', boot_id: 'b'})).toMatchObject({kind: 'leased', lease: {bootId: 'b'}});
	});

	test.each([[1], ['long'], [[]], [{}], [{clock: 'b', seconds: '5', since: 7}], [{clock: 5, seconds: 5, since: 7}]])(
		'is valid although its "silence" field is %j',
		(silence) => {
			const record = read({silence});
			expect(record).toMatchObject({kind: 'leased', lease: {silence: undefined}});
			expect(record).not.toHaveProperty('lease.unknownFields');
		},
	);

	test('keeps unknown fields and changes no prototype', () => {
		const raw = '{"user":"eve","type":"run","start_time":1,"__proto__":{"polluted":true},"later":[{"a":1}]}';
		const record = decodeGpu(0, raw);
		if (record.kind !== 'leased') {
			throw new Error(record.kind);
		}

		expect(Object.entries(record.lease.unknownFields!)).toEqual([
			['__proto__', {polluted: true}],
			['later', [{a: 1}]],
		]);
		expect(Reflect.get({}, 'polluted')).toBeUndefined();
		expect(Object.getPrototypeOf(record.lease)).toBe(Object.prototype);
		expect(Reflect.get(record.lease, 'polluted')).toBeUndefined();
	});

	test('is decoded even if it contains invalid UTF-8', () => {
		const bytes = new Uint8Array([
			...new TextEncoder().encode('{"user":"eve","type":"run","start_time":1,"note":"'),
			0xff,
		]);
		const raw = rawOf(new Uint8Array([...bytes, ...new TextEncoder().encode('"}')]));
		expect(decodeGpu(0, raw)).toMatchObject({kind: 'leased', raw, lease: {note: '\u{FFFD}'}});
	});
});

describe('the record of a queue entry', () => {
	test('is read in the format of the Go canhazgpu', () => {
		const raw =
			'{"id":"q","user":"eve","actual_user":"eve","requested_count":2,"allocated_gpus":null,"reservation_type":"manual",' +
			'"expiry_duration":28800000000000,"enqueue_time":"2025-06-30T16:34:38.5Z","last_heartbeat":"2025-06-30T16:34:38.5Z",' +
			'"wait_timeout":"2025-06-30T17:34:38Z"}';
		expect(decodeQueueEntry('q', raw)).toEqual({
			kind: 'entry',
			id: 'q',
			raw,
			entry: {
				id: 'q',
				user: 'eve',
				actualUser: 'eve',
				requestedCount: 2,
				requestedIds: [],
				allocatedGpus: [],
				reservationType: 'manual',
				expirySeconds: 28_800,
				enqueueTime: 1_751_301_278.5,
				lastHeartbeat: 1_751_301_278.5,
				waitTimeout: 1_751_304_878,
			},
		});
	});

	const least = {user: 'eve', reservation_type: 'run', enqueue_time: 5};
	test('gets defaults for missing fields', () => {
		expect(decodeQueueEntry('q', JSON.stringify({...least, requested_ids: [1, 2]}))).toMatchObject({
			kind: 'entry',
			entry: {id: 'q', requestedCount: 2, lastHeartbeat: 5, enqueueTime: 5},
		});
		expect(decodeQueueEntry('q', undefined)).toEqual({kind: 'orphan', id: 'q'});
	});

	test.each([
		[{user: ''}, 'user is missing'],
		[{reservation_type: 'x'}, 'reservation_type is "x", which is not run or manual'],
		[{enqueue_time: null}, 'enqueue_time is missing'],
		[{requested_ids: ['1']}, 'requested_ids is ["1"], which is not a list of whole numbers'],
		[{allocated_gpus: {}}, 'allocated_gpus is {}, which is not a list of whole numbers'],
		[{requested_count: -2}, 'requested_count is -2, which is not a number'],
	])('is invalid with %j, because "%s"', (fields, problem) => {
		expect(decodeQueueEntry('q', JSON.stringify({...least, ...fields}))).toMatchObject({kind: 'garbage', problem});
	});
});

describe('a usage record', () => {
	test('is read in the format of the Go canhazgpu', () => {
		const raw =
			'{"user":"eve","gpu_id":0,"start_time":"2025-06-30T16:34:38Z","end_time":"2025-06-30T16:35:38.5Z",' +
			'"duration_seconds":60.5,"reservation_type":"run"}';
		expect(decodeUsage(raw)).toEqual({
			user: 'eve',
			gpuId: 0,
			startTime: 1_751_301_278,
			endTime: 1_751_301_338.5,
			durationSeconds: 60.5,
			reservationType: 'run',
		});
	});

	test('is valid with an end reason that only a later version knows', () => {
		const raw =
			'{"user":"e","gpu_id":0,"start_time":1,"end_time":2,"reservation_type":"run","end_reason":"teleported"}';
		expect(decodeUsage(raw)).toEqual({
			user: 'e',
			gpuId: 0,
			startTime: 1,
			endTime: 2,
			durationSeconds: 1,
			reservationType: 'run',
		});
	});

	test.each(['', 'x', '{}', '{"user":"e","gpu_id":0,"start_time":1,"reservation_type":"run"}'])(
		'is invalid if it is %j',
		(raw) => {
			expect(decodeUsage(raw)).toBeUndefined();
		},
	);
});

test('decodeEvent returns undefined for an invalid event', () => {
	for (const raw of ['', '1', '{}', '{"kind":"party","gpus":[]}', '{"kind":"pool","gpus":"0"}']) {
		expect(decodeEvent(raw)).toBeUndefined();
	}
});
