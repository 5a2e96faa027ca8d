import {expect, test} from 'vitest';
import {encodeFree, encodeLease, encodeQueueEntry, encodeUsage} from '../../../source/store/records/index.js';
import {entry, lease, start, usage} from '../samples.js';

test('encodeLease writes every field of a lease', () => {
	expect(
		encodeLease({
			user: 'team',
			actualUser: 'alice',
			type: 'run',
			startTime: start + 0.9,
			lastHeartbeat: start + 60.9,
			expiryTime: start + 100.1,
			note: 'n',
			partialQueueId: 'q',
			leaseId: 'l',
			machine: 'm',
			bootId: 'b',
			holder: {pid: 1, startTicks: 2, namespace: '5', timeNamespace: '6'},
			job: {pid: 3, startTicks: 4},
			silence: {clock: 'b/6', seconds: 70.25, since: start + 960, lastHeartbeat: start + 60},
			unknownFields: {later: null, user: 'mallory'},
		}),
	).toBe(
		'{"user":"team","actual_user":"alice","start_time":1760000000,"last_heartbeat":1760000060,"expiry_time":1760000101,' +
			'"type":"run","note":"n","partial_queue_id":"q","lease_id":"l","machine":"m","boot_id":"b",' +
			'"pid":1,"pid_start":2,"pid_ns":"5","pid_time_ns":"6","job_pid":3,"job_pid_start":4,' +
			'"silence":{"clock":"b/6","seconds":70.25,"since":1760000960,"last_heartbeat":1760000060},"later":null}',
	);
});

test('encodeLease omits unset fields', () => {
	expect(encodeLease({user: 'a', type: 'manual', startTime: 5, note: '', actualUser: ''})).toBe(
		'{"user":"a","start_time":5,"type":"manual"}',
	);
});

test('encodeFree writes the release time with its fraction of a second', () => {
	expect(encodeFree(start)).toBe('{"last_released":"2025-10-09T08:53:20Z"}');
	expect(encodeFree(start + 0.25)).toBe('{"last_released":"2025-10-09T08:53:20.25Z"}');
	expect(encodeFree(start + 0.000001)).toBe('{"last_released":"2025-10-09T08:53:20.000001Z"}');
	expect(encodeFree(start + 0.9999999)).toBe('{"last_released":"2025-10-09T08:53:21Z"}');
});

test('encodeFree writes the ended lease and the reason in a form that older versions do not read as a lease', () => {
	expect(encodeFree(start, {reason: 'released', leaseId: 'l'})).toBe(
		'{"last_released":"2025-10-09T08:53:20Z","ended":{"reason":"released","lease_id":"l"}}',
	);
	expect(encodeFree(start, {reason: 'expired'})).toBe(
		'{"last_released":"2025-10-09T08:53:20Z","ended":{"reason":"expired"}}',
	);
	expect(
		encodeFree(start, {reason: 'exited', leaseId: 'l', account: 'alice', left: [{pid: 17, startTicks: 420}]}),
	).toBe(
		'{"last_released":"2025-10-09T08:53:20Z","ended":{"reason":"exited","lease_id":"l","user":"alice","left":{"17":420}}}',
	);
	expect(encodeFree(undefined, {reason: 'expired'})).toBeUndefined();
});

test('encodeQueueEntry writes every field of a queue entry', () => {
	expect(
		encodeQueueEntry(
			entry('q', {
				actualUser: 'alice',
				requestedIds: [2],
				reservationType: 'manual',
				expirySeconds: 5400.5,
				note: 'n',
				waitTimeout: start + 60,
				machine: 'm',
				bootId: 'b',
				holder: {pid: 1, startTicks: 2},
			}),
		),
	).toBe(
		'{"id":"q","user":"bob","actual_user":"alice","requested_count":1,"requested_ids":[2],"allocated_gpus":[],' +
			'"reservation_type":"manual","expiry_duration":5400500000000,"note":"n","enqueue_time":"2025-10-09T08:53:20Z",' +
			'"last_heartbeat":"2025-10-09T08:53:20Z","wait_timeout":"2025-10-09T08:54:20Z","machine":"m","boot_id":"b",' +
			'"pid":1,"pid_start":2}',
	);
	expect(encodeQueueEntry(entry('q', {expirySeconds: 3_153_600_000}))).toContain(
		'"expiry_duration":3153600000000000000,',
	);
});

test('encodeUsage writes every field of a usage record', () => {
	expect(encodeUsage(usage({actualUser: 'b', leaseId: 'l', note: 'n', endReason: 'expired'}))).toBe(
		'{"user":"alice","actual_user":"b","gpu_id":0,"start_time":"2025-10-09T08:52:20Z","end_time":"2025-10-09T08:53:20Z",' +
			'"duration_seconds":60,"reservation_type":"run","lease_id":"l","note":"n","end_reason":"expired"}',
	);
});

test('the encoders throw for values that cannot be stored', () => {
	expect(() => encodeLease(lease({user: ''}))).toThrow(TypeError);
	expect(() => encodeQueueEntry(entry(''))).toThrow(TypeError);
	expect(() => encodeQueueEntry(entry('q', {user: ''}))).toThrow(TypeError);
	expect(() => encodeUsage(usage({user: ''}))).toThrow(TypeError);
	expect(() => encodeLease(lease({expiryTime: -1}))).toThrow(RangeError);
	for (const time of [NaN, Infinity, -1e11, 1e15]) {
		expect(() => encodeLease(lease({expiryTime: time}))).toThrow(RangeError);
		expect(() => encodeFree(time)).toThrow(RangeError);
		expect(() => encodeUsage(usage({endTime: time}))).toThrow(RangeError);
	}

	expect(() => encodeUsage(usage({durationSeconds: NaN}))).toThrow(RangeError);
});
