/** What another host answers, in this API's words. */
import {expect, test} from 'vitest';
import {fromCommandRow, fromCommandRows, secondsOf} from '../../source/web/api/remote-json.js';

test("the rows of another host in this API's words, and their texts harmless", () => {
	const row = fromCommandRow(
		{
			gpu_id: 1,
			status: 'IN_USE',
			type: 'RUN',
			duration: '1h 0m 5s',
			model: {model: 'a\u{202E}b'},
			expiry_time: '0001-01-01T00:00:00Z',
			note: '\u{1B}]0;x\u{7}hi',
			drained: {by: 'root'},
			idle_seconds: 5,
		},
		1_800_000_000,
	)!;
	expect(row).toMatchObject({
		gpu_id: 1,
		reservation_type: 'run',
		duration: 3605e9,
		start_time: '2027-01-15T06:59:55Z',
		idle_since: '2027-01-15T07:59:55Z',
		model_info: {model: 'a b'},
		note: 'hi',
		drain: {by: 'root'},
	});
	expect(row.expiry_time).toBeUndefined();
	expect(secondsOf('90')).toBeUndefined();
});

test('values of another kind than they should be are unknown, and unknown keys are left out', () => {
	const texts = ['user', 'note', 'type', 'error', 'processes', 'health', 'unreserved_users', 'drained', 'model'];
	const hostile = {
		...Object.fromEntries(texts.map((key) => [key, 7])),
		gpu_id: 0,
		status: '<img>',
		temperature: 'hot',
		utilization: null,
		power_w: [1],
		expiry_time: 'soon',
		last_released: {},
		idle_seconds: -1e300,
		duration: '9999999h 0m 0s',
		'<script>': 'x',
	};
	expect(fromCommandRow(hostile, 1_800_000_000)).toEqual({
		gpu_id: 0,
		status: 'ERROR',
		duration: 9_999_999 * 3600e9,
	});
	const sound = {pid: 1, user: 'alice'};
	expect(
		fromCommandRow(
			{gpu_id: 0, status: 'IN_USE', processes: [{pid: 'x'}, sound, 7], health: [], unreserved_users: [1]},
			0,
		),
	).toEqual({gpu_id: 0, status: 'IN_USE', processes: [sound]});
	expect(fromCommandRow({gpu_id: '0', status: 'IN_USE'}, 0)).toBeUndefined();
	expect(fromCommandRows([hostile, {...hostile, status: 'IN_USE'}], 0)).toMatchObject([{status: 'IN_USE'}]);
});

test('of too much the processes are left out, and of far too much nothing is shown', () => {
	const process = {pid: 1, command: 'x'.repeat(10_000)};
	const busy = Array.from({length: 64}, (_, gpu_id) => ({
		gpu_id,
		status: 'IN_USE',
		processes: Array.from({length: 1000}, (__, pid) => ({...process, pid})),
	}));
	expect(fromCommandRows(busy.slice(0, 2), 0)![1]!.processes).toHaveLength(64);
	const bare = fromCommandRows(busy, 0)!;
	expect([bare.length, bare[0]!.processes]).toEqual([64, undefined]);
	const endless = Array.from({length: 1024}, (_, gpu_id) => ({
		gpu_id,
		status: 'IN_USE',
		note: 'x'.repeat(1000),
		uuid: 'y'.repeat(1000),
	}));
	expect(fromCommandRows(endless, 0)).toBeUndefined();
});
