import {expect, test} from 'vitest';
import type {Action} from '../../../source/tui/state/actions.js';
import type {SeenHost} from '../../../source/tui/ports.js';
import {selectedHostLine} from '../../../source/tui/state/hosts/rows.js';
import {after, frameOf, stateOf, type Step} from '../_harness.js';
import {createScene} from '../_world.js';
import {answered, failed, held, remoteRow} from './_hosts.js';

const names = ['gpu-box-1', 'alice@gpu-box-7.example.org', 'gpu-box-8', 'gpu-box-9', 'gpu-box-10'];

const known: readonly SeenHost[] = [
	answered(
		'gpu-box-1',
		[
			remoteRow(0),
			held(1, 'alice', {
				utilization: 84,
				memory_used_mb: 62_000,
				processes: [{pid: 7, name: 'python3', command: '/usr/bin/vllm serve Llama-3-70B', memory_used_mb: 61_000}],
			}),
			held(2, 'bob', {type: 'RUN', remaining_seconds: undefined, idle_seconds: 21_600}),
			remoteRow(3, {status: 'UNRESERVED', unreserved_users: ['dave'], process_info: '8452MB used by PID 12 (jupyter)'}),
		],
		900,
		2,
	),
	answered('alice@gpu-box-7.example.org', [
		held(0, 'alice', {remaining_seconds: 300}),
		remoteRow(1, {status: 'ERROR', error: 'drained: new fan', drained: {by: 'root', reason: 'new fan'}}),
		remoteRow(2, {status: 'ERROR', error: 'GPU is lost', memory_used_mb: undefined, utilization: undefined}),
	]),
	failed('gpu-box-8', 'ssh: connect to host gpu-box-8 port 22: No route to host', {
		rows: [remoteRow(0), held(1, 'carol')],
		answeredMs: -719_000,
	}),
	failed('gpu-box-9', 'canhazgpu is not installed there'),
];

const arrived: Action = {kind: 'hosts-arrived', known, nowMs: 1000};

const hostsState = async (size: {columns: number; rows: number}, steps: readonly Step[] = [], more = {}) =>
	stateOf(await createScene(), size, {otherHosts: names, ...more}, ['focus-hosts', arrived, ...steps]);

for (const [columns, rows] of [
	[60, 15],
	[80, 24],
	[120, 32],
	[200, 50],
] as const) {
	test(`top draws the table of all hosts at ${columns}x${rows}`, async () => {
		const frame = frameOf(await hostsState({columns, rows}));
		await expect(`\n${frame}\n`).toMatchFileSnapshot(`frames/${columns}x${rows}/hosts.txt`);
	});
}

test('Esc leaves the table of all hosts at once if its filter was already switched off', async () => {
	const twice = ['filter-mine', 'filter-mine'] as const;
	const {panels} = await hostsState({columns: 120, rows: 32}, [...twice, 'clear-marks']);
	expect(panels.focus).toBe('gpus');
});

const lineOf = async (pattern: RegExp, ...steps: readonly Step[]): Promise<string | undefined> =>
	frameOf(await hostsState({columns: 120, rows: 32}, steps))
		.split('\n')
		.find((line) => pattern.test(line));

test('the last values of a silent host are marked with their age and are not counted', async () => {
	expect(await lineOf(/gpu-box-8 +0/v)).toContain('Free?');
	expect(await lineOf(/gpu-box-8 +!/v)).toMatch(/No route to host \(values of 12m ago\)/v);
	expect(await lineOf(/Free \d/v)).toMatch(/Free 3 {2}Mine 3 {2}Others 4 .* of 15 .*Queue 4/v);
	const back = known.map((host) => (host.name === 'gpu-box-8' ? answered('gpu-box-8', [remoteRow(0)]) : host));
	expect(await lineOf(/Free \d/v, {kind: 'hosts-arrived', known: back, nowMs: 1000})).toMatch(
		/Free 4 {2}Mine 3 {2}Others 4 .* of 16/v,
	);
});

test('this host counts as not answering while its store is unreachable', async () => {
	const lost: Step = {kind: 'store-lost', reason: 'gone', sinceMs: 1000, nowMs: 1000};
	expect(await lineOf(/canhazgpu top/v)).toMatch(/6 hosts {2}3 answering {2}1 asked {2}2 not answering/v);
	expect(await lineOf(/canhazgpu top/v, lost)).toMatch(/6 hosts {2}2 answering {2}1 asked {2}3 not answering/v);
	expect(await lineOf(/Free \d/v, lost)).toMatch(/Free 1 .* of 7 .*Queue 2/v);
	// The mark of old values is never cut off.
	expect(await lineOf(/gpu-box-3 +6/v, lost)).toMatch(/ Unreserv…\? /v);
});

test('a free GPU in MIG mode on another host is counted separately from whole GPUs', async () => {
	const split = remoteRow(1, {mig_instances: [{profile: '3g.40gb'}]});
	const hosts = {kind: 'hosts-arrived', known: [answered('gpu-box-8', [remoteRow(0), split])], nowMs: 1000} as const;
	expect(await lineOf(/Free \d/v, hosts)).toMatch(/Free 3 \+1 MIG {2}Mine 1/v);
});

test('MIG instances of another host are shown as in the table of this host', async () => {
	const split = remoteRow(5, {mig_instances: [{profile: '3g.40gb'}, {profile: '1g.10gb'}, {profile: '1g.10gb'}]});
	const hosts = {kind: 'hosts-arrived', known: [answered('gpu-box-8', [split])], nowMs: 1000} as const;
	expect(await lineOf(/gpu-box-8 +5/v, hosts)).toContain('MIG 3g.40gb 2x1g.');
	const empty = remoteRow(5, {mig_instances: []});
	expect(await lineOf(/gpu-box-8 +5/v, {...hosts, known: [answered('gpu-box-8', [empty])]})).toContain('MIG without');
	expect(await lineOf(/Free \d/v, {...hosts, known: [answered('gpu-box-8', [remoteRow(0), empty])]})).toMatch(
		/Free 3 \+1 MIG/v,
	);
});

test('a shared GPU of another host is shown as in the table of this host', async () => {
	const shares = [{user: 'carol'}, {user: 'dave'}];
	const shared = remoteRow(5, {status: 'IN_USE', type: 'MANUAL', user: undefined, shares});
	const hosts = {kind: 'hosts-arrived', known: [answered('gpu-box-8', [shared])], nowMs: 1000} as const;
	expect(await lineOf(/gpu-box-8 +5/v, hosts)).toMatch(/gpu-box-8 +5 +Reserved +2 shared /v);
	const typed = [...'dave'].map((text) => ({kind: 'typed', text}) as const);
	expect(await lineOf(/gpu-box-8 +5/v, hosts, 'open-filter', ...typed)).toContain('2 shared');
});

test('a reservation on another host is idle only if that host reports it as idle', async () => {
	const stateWith = async (more: Readonly<Record<string, unknown>>) => {
		const rows = [held(0, 'carol', {idle_seconds: undefined, ...more})];
		const line = await lineOf(/gpu-box-8 +0/v, {
			kind: 'hosts-arrived',
			known: [answered('gpu-box-8', rows)],
			nowMs: 1000,
		});
		return /gpu-box-8 +0 (?<state>\S+(?: \d\w+)?) +carol/v.exec(line ?? '')?.groups?.['state'];
	};

	const unused = {validation: 'no usage detected'};
	expect(await stateWith(unused)).toBe('Idle');
	expect(await stateWith({...unused, idle_seconds: 21_600})).toBe('Idle 6h');
	// Not idle: a new reservation, a job, which may pause, a GPU in use, and a host that reports no use.
	expect(await stateWith({...unused, duration: '0h 5m 0s'})).toBe('Reserved');
	expect(await stateWith({...unused, type: 'RUN'})).toBe('Reserved');
	expect(await stateWith({validation: '9000MB, 1 processes'})).toBe('Reserved');
	expect(await stateWith({validation: 'unknown: no driver'})).toBe('Reserved');
	expect(await stateWith({})).toBe('Reserved');
});

/** Hosts and GPUs in the order of the rows. */
const order = async (...steps: readonly Step[]): Promise<readonly string[]> =>
	frameOf(await hostsState({columns: 200, rows: 50}, steps))
		.split('\n')
		.flatMap((line) => {
			const {host, gpu} = /^│[ >] (?<host>\S+) +(?<gpu>\d+(?= )|!|asking)/v.exec(line)?.groups ?? {};
			return host === undefined ? [] : [`${host} ${gpu}`];
		});

test('sorting by memory orders the GPUs of all hosts together, with unknown values last', async () => {
	const byMemory: readonly Step[] = ['sort-next', 'sort-next', 'sort-next', 'sort-next', 'sort-next'];
	const lines = await order(...byMemory);
	expect(lines.slice(0, 5)).toEqual(['gpu-box-3 4', 'gpu-box-3 5', 'gpu-box-1 1', 'gpu-box-3 0', 'gpu-box-3 6']);
	expect(lines.slice(-5)).toEqual([
		'gpu-box-3 7',
		'alice@gpu-box-7.example… 2',
		'gpu-box-8 !',
		'gpu-box-9 !',
		'gpu-box-10 asking',
	]);
	expect((await order(...byMemory, 'invert-sort')).slice(-5)).toEqual(lines.slice(-5));
});

test('each host with several GPUs has a line with its subtotals, even while a filter is set', async () => {
	const subtotals = async (...steps: readonly Step[]) =>
		frameOf(await hostsState({columns: 80, rows: 50}, steps))
			.split('\n')
			.filter((line) => /\d\/\d free/v.test(line))
			.map((line) => line.replace(/^│?>?/v, '').replace(/│$/v, '').trim().replaceAll(/ +/gv, ' '));
	const all = [
		'gpu-box-3 2/8 free Queue 2 45% 227/637G',
		'gpu-box-1 1/4 free Queue 2 21% 61/320G',
		'alice@gpu-box-… 0/3 free 0% 0/240G',
	];
	expect(await subtotals()).toEqual(all);
	expect(await subtotals('filter-mine')).toEqual(all);
	expect(await subtotals('sort-next')).toEqual([]);
	const lost: Step = {kind: 'store-lost', reason: 'gone', sinceMs: 1000, nowMs: 1000};
	expect(await subtotals(lost)).toEqual(all.slice(1));
	const single = [answered('gpu-box-1', [remoteRow(0)])];
	expect(await subtotals({kind: 'hosts-arrived', known: single, nowMs: 1000})).toEqual(all.slice(0, 1));
	expect(await subtotals({kind: 'hosts-arrived', known: [], nowMs: 1000})).toEqual([]);
});

test("the table of all hosts can be filtered by words, by the user's GPUs and by the selected user", async () => {
	const typed: Action = {kind: 'typed', text: 'a100 free'};
	expect(await order('open-filter', typed, 'keep-filter')).toEqual(['gpu-box-1 0', 'gpu-box-8 0']);
	expect(await order('open-filter', typed, 'drop-filter')).toHaveLength(20);
	const mine = ['gpu-box-3 0', 'gpu-box-1 1', 'alice@gpu-box-7.example… 0'];
	expect((await order('filter-mine')).filter((line) => / \d+$/v.test(line))).toEqual(mine);
	expect((await order('filter-user')).filter((line) => / \d+$/v.test(line))).toEqual(mine);
	expect(await lineOf(/Filter/v, 'open-filter', typed)).toMatch(/2 of 17 GPUs/v);
});

test('canceling a filter in the table of all hosts restores the selection', async () => {
	const state = await hostsState({columns: 120, rows: 32}, ['line-down', 'line-down']);
	const typing = after(state, 'open-filter', {kind: 'typed', text: 'gpu-box-9'});
	expect(selectedHostLine(typing)?.host).toBe('gpu-box-9');
	expect(selectedHostLine(after(typing, 'drop-filter'))).toEqual(selectedHostLine(state));
	expect(selectedHostLine(after(typing, 'keep-filter'))?.host).toBe('gpu-box-9');
});

test('the selection in the table of all hosts stays on its row when another host appears above', async () => {
	const state = await hostsState({columns: 120, rows: 32}, [
		{kind: 'hosts-arrived', known: known.slice(1), nowMs: 1000},
		'last-line',
		'line-up',
	]);
	const selectedLine = (frame: string): string => frame.split('\n').find((line) => line.startsWith('│>')) ?? '';
	expect(selectedLine(frameOf(state))).toContain('gpu-box-9');
	expect(selectedLine(frameOf(after(state, arrived)))).toContain('gpu-box-9');
});

test('the totals of all hosts exclude the used memory of a GPU whose memory size is unknown', async () => {
	const rows = [
		remoteRow(0, {memory_used_mb: 40_960}),
		remoteRow(1, {memory_used_mb: undefined}),
		remoteRow(2, {memory_used_mb: 2048, memory_total_mb: undefined}),
	];
	const frame = frameOf(
		await hostsState(
			{columns: 200, rows: 50},
			[{kind: 'hosts-arrived', known: [answered('gpu-box-1', rows)], nowMs: 1000}],
			{hasNoPool: true},
		),
	);
	expect(frame).toContain('Mem 40/160G');
});

test('the table of all hosts does not change while top is paused', async () => {
	const state = await hostsState({columns: 120, rows: 32}, ['toggle-pause']);
	const without = after(state, {kind: 'hosts-arrived', known: [], nowMs: 1000});
	expect(frameOf(without)).toBe(frameOf(state));
});

test('the table of all hosts explains how to configure hosts if there are none', async () => {
	const alone = await stateOf(await createScene(), {columns: 120, rows: 32}, {}, [
		'focus-processes',
		'focus-next-panel',
	]);
	expect(alone.panels.focus).toBe('gpus');
	expect(frameOf(after(alone, 'focus-hosts'))).toContain('Name other hosts in the setting remote_hosts');
});

test('a screen reader gets the totals of all hosts, and the selected row first', async () => {
	const frame = frameOf(await hostsState({columns: 80, rows: 24}, ['line-down'], {isLinear: true}));
	const words = frame.replaceAll(/\s+/gv, ' ');
	expect(words).toContain('6 hosts 3 answering 1 asked 2 not answering');
	expect(words).toContain('> gpu-box-3 1 Free');
});
