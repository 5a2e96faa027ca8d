import {expect, test} from 'vitest';
import {webReportCsv} from '../../../source/format/tables/report.js';
import {fromCommandReport} from '../../../source/web/api/reports.js';
import {holderOf} from '../../../source/format/tables/host-tables.js';
import {fromCommandRow, fromCommandRows, secondsOf} from '../../../source/format/hosts/remote-gpu.js';

test('fromCommandRow converts a status row of another host and sanitizes its texts', () => {
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

test('fromCommandRow returns the holder as "account (label)"', () => {
	const now = 1_800_000_000;
	const held = {gpu_id: 0, status: 'IN_USE'};
	const rowFrom = (row: Readonly<Record<string, unknown>>) => {
		const gpu = fromCommandRow({...held, ...row}, now);
		return [gpu?.user, gpu?.accounts, gpu?.sharers, holderOf(row)];
	};

	expect(rowFrom({user: 'team', actual_user: 'alice'})).toEqual(['alice (team)', ['alice'], undefined, 'alice (team)']);
	expect(rowFrom({user: 'alice', actual_user: 'alice'})).toEqual(['alice', ['alice'], undefined, 'alice']);
	expect(rowFrom({user: 'team'})).toEqual(['team', ['team'], undefined, 'team']);
	expect(rowFrom({shares: [{user: 'eval', actual_user: 'bob'}, {user: 'carol'}]})).toEqual([
		undefined,
		['bob', 'carol'],
		['bob (eval)', 'carol'],
		undefined,
	]);
	expect(rowFrom({})).toEqual([undefined, undefined, undefined, undefined]);
});

test('fromCommandRow treats values of a wrong type as unknown', () => {
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
		state: 'error',
	});
	const sound = {pid: 1, user: 'alice'};
	expect(
		fromCommandRow(
			{gpu_id: 0, status: 'IN_USE', processes: [{pid: 'x'}, sound, 7], health: [], unreserved_users: [1]},
			0,
		),
	).toEqual({gpu_id: 0, status: 'IN_USE', state: 'in-use', processes: [sound]});
	expect(fromCommandRow({gpu_id: '0', status: 'IN_USE'}, 0)).toBeUndefined();
	expect(fromCommandRows([hostile, {...hostile, status: 'IN_USE'}], 0)).toMatchObject([{status: 'IN_USE'}]);
});

test('fromCommandRows drops the processes of a large answer and rejects a huge answer', () => {
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

test('fromCommandRow does not turn an unknown process list into an empty one', () => {
	const row = (parts: Readonly<Record<string, unknown>>) =>
		fromCommandRow({gpu_id: 0, status: 'AVAILABLE', ...parts}, 0)!;
	expect(row({}).processes).toBeUndefined();
	expect(row({processes: 'hidden'}).processes).toBeUndefined();
	expect(row({processes: []}).processes).toEqual([]);
	expect(row({processes: [{pid: 1, command: 'a.py --hf-token abc'}]}).processes).toEqual([
		{pid: 1, command: 'a.py --hf-token ***'},
	]);
	const part = {instance: 3, profile: '1g.10gb', gpu_instance_id: 7, memory_total_mb: 9984};
	expect(row({mig_instances: [part, 7, {profile: {}}]}).mig_instances).toEqual([part, {}]);
	expect(row({mig_instances: []}).mig_instances).toEqual([]);
	expect(row({}).mig_instances).toBeUndefined();
});

test('fromCommandRow treats impossible times and durations as unknown', () => {
	const rowFrom = fromCommandRow(
		{
			gpu_id: 0,
			status: 'IN_USE',
			user: 'erin',
			duration: '9999999h 59m 59s',
			expiry_time: '9999-12-31T23:59:59Z',
			ends_by: '+275760-09-13T00:00:00Z',
			remaining_seconds: 1e300,
			idle_seconds: 1e18,
			last_heartbeat: 'soon',
		},
		1_800_000_000,
	)!;
	const {duration, start_time: began, remaining_seconds: left, idle_seconds: idle, ends_by: end} = rowFrom;
	expect([duration, began, left, idle, end, rowFrom.last_heartbeat]).toEqual(Array.from({length: 6}));
	expect(fromCommandRow({gpu_id: 0, status: 'IN_USE', duration: '1h 2m 3s'}, 1_800_000_000)).toMatchObject({
		duration: 3723e9,
	});
});

test('fromCommandRow reports a drained GPU as an error only if the GPU also has a fault', () => {
	const stateOf = (parts: Readonly<Record<string, unknown>>) =>
		fromCommandRow({gpu_id: 0, status: 'ERROR', ...parts}, 0)!.state;
	expect(stateOf({drained: {reason: 'fan'}, error: 'drained: fan'})).toBe('drained');
	expect(stateOf({drained: {by: 'root'}, error: 'drained'})).toBe('drained');
	expect(stateOf({drained: {reason: 'fan'}, error: 'drained: fan; Xid 79', health: ['Xid 79']})).toBe('error');
	expect(stateOf({drained: {reason: 'fan'}, error: 'unreadable record: no JSON'})).toBe('error');
	expect(stateOf({error: 'Xid 79'})).toBe('error');
});

test('fromCommandReport returns the rows as `users`, whichever grouping the other host has used', () => {
	const row = {name: 'a\u{202E}b', gpu_hours: 1, percentage: 100, run_count: 1, manual_count: 0};
	const sums = {total_gpu_hours: 1, total_reservations: 1, unique_users: 1, days: 7};
	const dates = {start_date: '2026-01-01', end_date: '2026-01-08'};
	const ours = {...sums, ...dates, since: '2026-01-01T10:00:00Z', until: '2026-01-08T10:00:00Z'};
	for (const name of ['users', 'gpus', 'daily', 'models']) {
		expect(fromCommandReport('box', {...ours, [name]: [row], more: 1})).toEqual({
			...ours,
			users: [{...row, name: 'a b'}],
		});
	}

	expect(fromCommandReport('box', {...sums, ...dates, users: null})).toEqual({
		...sums,
		...dates,
		users: [],
		since: '2026-01-01',
		until: '2026-01-08',
	});
	for (const bad of [
		{...ours, users: 7},
		{...ours, users: [{...row, name: 7}]},
		{...ours, since: 'soon'},
	]) {
		expect(() => fromCommandReport('box', bad)).toThrow('box: its answer is not a report');
	}
});

test('fromCommandReport treats missing and invalid numbers as unknown, never as 0', () => {
	const dates = {start_date: '2026-01-01', end_date: '2026-01-08'};
	const row = {name: 'carol', gpu_hours: '12.5', percentage: null, run_count: -3, mig_instance_hours: 'some'};
	const report = fromCommandReport('box', {
		...dates,
		users: [row, {name: 'dave', gpu_hours: 0, percentage: 0, run_count: 0, manual_count: 2}],
		total_gpu_hours: 'many',
		total_mig_instance_hours: null,
		unique_users: -1,
	});
	expect(report).toEqual({
		...dates,
		since: dates.start_date,
		until: dates.end_date,
		users: [{name: 'carol'}, {name: 'dave', gpu_hours: 0, percentage: 0, run_count: 0, manual_count: 2}],
	});
	expect(webReportCsv(report, 'user')).toBe(
		'user,gpu_hours,percentage,run_count,manual_count\ncarol,,,,\ndave,0.0000,0.0,0,2',
	);
});
