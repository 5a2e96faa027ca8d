import {expect, test} from 'vitest';
import {fromCommandRows} from '../../../../source/format/hosts/remote-gpu.js';
import {
	End,
	Owner,
	Process,
	State,
	TotalFree,
	TotalMemory,
	TotalUtilization,
} from '../../../../source/tui/panels/hosts/host-cells.js';
import type {GpuLine, TotalLine} from '../../../../source/tui/state/hosts/lines.js';
import {Label} from '../../../../source/tui/widgets/label.js';
import {drawn, painted} from '../../_drawn.js';
import {after, stateOf} from '../../_harness.js';
import {createBox, sceneTime} from '../../_world.js';
import {answered, held, remoteRow} from '../../hosts/_hosts.js';

const state = await stateOf(await createBox(1), {columns: 100, rows: 30});

const lineOf = (row: Readonly<Record<string, unknown>>, more: Partial<GpuLine> = {}): GpuLine => {
	const gpu = fromCommandRows([row], sceneTime)![0]!;
	return {kind: 'gpu', key: 'k', host: 'box', isOwn: false, atMs: 1000, isLast: false, gpu, state: gpu.state, ...more};
};

const bob = held(1, 'bob');
const unreserved = {status: 'UNRESERVED', unreserved_users: ['dave', 'er\u{1B}[31min']};

test.each([
	['a free GPU', lineOf(remoteRow(0)), '-', 'dim'],
	['a reserved GPU', lineOf(bob), 'bob', 'plain'],
	['a GPU of the user', lineOf(held(1, 'alice'), {state: 'mine'}), 'alice', 'mine'],
	['a reservation with a label', lineOf(held(1, 'night', {actual_user: 'ci'})), 'ci (night)', 'plain'],
	[
		'a shared GPU',
		lineOf(remoteRow(0, {status: 'IN_USE', shares: [{user: 'bob'}, {user: 'carol'}]})),
		'2 shared',
		'plain',
	],
	['an unreserved GPU', lineOf(remoteRow(0, unreserved)), 'dave,erin?', 'warning'],
	['an unreserved GPU of an unknown user', lineOf(remoteRow(0, {status: 'UNRESERVED'})), 'unknown?', 'warning'],
] as const)('Owner shows who holds or uses %s on another host', (_, line, text, tone) => {
	const owner = <Owner line={line} width={20} />;
	expect(drawn(owner, {state})).toBe(text);
	expect(painted(owner, 'dark', {state})).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test('Owner shows the label first if the account holds GPUs of other hosts under different labels', async () => {
	const rows = ['night', 'day'].map((label, index) => held(index, label, {actual_user: 'ci'}));
	const several = after(await stateOf(await createBox(1), {columns: 100, rows: 30}, {otherHosts: ['box']}), {
		kind: 'hosts-arrived',
		known: [answered('box', rows)],
		nowMs: 1000,
	});
	expect(drawn(<Owner line={lineOf(rows[0]!)} width={20} />, {state: several})).toBe('night @ci');
});

const endless = {remaining_seconds: undefined};

test.each([
	['a free GPU', lineOf(remoteRow(0)), '-'],
	['an unreserved GPU', lineOf(remoteRow(0, unreserved)), '-'],
	['a reservation, whose time passes between two answers', lineOf(bob, {atMs: 1000 - 60_000}), '1h59m'],
	['a reservation that ends soon', lineOf({...bob, remaining_seconds: 300}), '!5m'],
	[
		'a reservation that has ended since the last answer',
		lineOf({...bob, remaining_seconds: 30}, {atMs: -99_000}),
		'!0s',
	],
	['a reservation without an end', lineOf({...bob, ...endless}), 'never'],
	['a job', lineOf({...bob, ...endless, type: 'RUN'}), 'on-exit'],
	['a reservation of an unknown kind', lineOf({...bob, ...endless, type: undefined}), '-'],
	['a GPU held for the queue', lineOf({...bob, held_for_queue: 'q'}), 'queued'],
])('End of %s', (_, line, expected) => {
	expect(drawn(<End line={line} width={10} />, {state})).toBe(expected);
});

const train = {pid: 7, command: '/usr/bin/train --lr 1', memory_used_mb: 900};
const small = {pid: 8, name: 'small', memory_used_mb: 9};
const reclaim = new Date((sceneTime + 720) * 1000).toISOString();
const parked = new Date((sceneTime - 4 * 3600) * 1000).toISOString();
const kept = new Date((sceneTime + 60) * 1000).toISOString();
const drained = {status: 'ERROR', error: 'drained: fan', drained: {by: 'root', reason: 'fan'}};

test.each([
	['nothing', remoteRow(0), '-', 'dim'],
	['its largest process', {...bob, processes: [small, train]}, 'train --lr 1 +1', 'plain'],
	['the use that a host without processes reports', {...bob, process_info: '9MB used'}, '9MB used', 'plain'],
	['a drain', remoteRow(0, drained), 'drained by root: fan', 'warning'],
	['an error', remoteRow(0, {status: 'ERROR', error: 'GPU is \u{1B}[31mlost'}), 'GPU is lost', 'error'],
	['an error without a reason', remoteRow(0, {status: 'ERROR'}), 'error', 'error'],
	['a health problem before processes', {...bob, health: ['Xid 79'], processes: [train]}, 'Xid 79', 'error'],
	['the process of an unreserved GPU', remoteRow(0, {...unreserved, processes: [train]}), 'train --lr 1', 'warning'],
	['an unreserved GPU without processes', remoteRow(0, unreserved), 'used without a reservation', 'warning'],
	[
		'when it goes back',
		{...bob, reclaim_at: reclaim, processes: [train]},
		'goes back at 14:44: train --lr 1',
		'warning',
	],
	['a limit', {...bob, beyond_limit: true}, 'beyond limit', 'warning'],
	['since when it is parked', {...bob, parked_since: parked}, 'parked 4h', 'warning'],
	['until when it is kept', {...bob, keep_until: kept}, 'kept until 14:33', 'plain'],
	['its place on a cluster', {...bob, node: 'n1', node_gpu_id: 3}, 'GPU 3 of n1', 'plain'],
	['its MIG instances', remoteRow(0, {mig_instances: [{profile: '1g.10gb'}]}), 'MIG 1g.10gb', 'plain'],
] as const)('Process of another host shows %s', (_, row, text, tone) => {
	const process = <Process line={lineOf(row)} width={40} />;
	expect(drawn(process, {state})).toBe(text);
	expect(painted(process, 'dark', {state})).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test.each([
	['a free GPU', lineOf(remoteRow(0)), 'Free', 'free'],
	['a GPU of a host that does not answer any longer', lineOf(remoteRow(0), {isLast: true}), 'Free?', 'free'],
	['a long word with a question mark', lineOf(remoteRow(0, unreserved), {isLast: true}), 'Unreserv…?', 'warning'],
	['an idle GPU', lineOf({...bob, idle_seconds: 21_700}, {state: 'idle'}), 'Idle 6h', 'warning'],
] as const)('State of %s', (_, line, text, tone) => {
	const word = <State line={line} width={10} />;
	expect(drawn(word)).toBe(text);
	expect(painted(word, 'dark')).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

const totals = {
	free: {whole: 2, split: 0},
	gpuCount: 8,
	utilization: 0.5,
	memoryUsedMiB: 40_960,
	memoryTotalMiB: 163_840,
};
const total = (more: Partial<TotalLine['totals']> = {}): TotalLine => ({
	kind: 'total',
	key: 'k',
	host: 'box',
	isOwn: false,
	waiting: 0,
	totals: {...totals, ...more},
});

test.each([
	['TotalMemory', TotalMemory, total(), 13, '40/160G'],
	['TotalMemory in a narrow column', TotalMemory, total(), 6, '25%'],
	['TotalMemory of unknown memory', TotalMemory, total({memoryTotalMiB: 0}), 13, ''],
	['TotalUtilization', TotalUtilization, total(), 13, '━━━━────  50%'],
	['TotalUtilization in a narrow column', TotalUtilization, total(), 4, '50%'],
	['TotalUtilization that is unknown', TotalUtilization, total({utilization: undefined}), 13, ''],
	['TotalFree', TotalFree, total(), 10, '2/8 free'],
] as const)('%s of a host', (_, Total, line, width, expected) => {
	expect(drawn(<Total line={line} width={width} />)).toBe(expected);
});
