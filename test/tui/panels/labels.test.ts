import {expect, test} from 'vitest';
import {statusRows} from '../../../source/core/rules/pool/status.js';
import type {GpuReading, IdleSpan, Lease} from '../../../source/core/model/types.js';
import {statusJson} from '../../../source/format/json/status-json.js';
import {stateName} from '../../../source/tui/state/gpus/row-state.js';
import {observationOf} from '../../_helpers/world.js';
import {answered, held as heldRow} from '../hosts/_hosts.js';
import {leave} from '../../../source/tui/commands/leave.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {frameOf, pressing, stateOf as screenOf, type Step} from '../_harness.js';
import {alice, busy, createBox, gpuReading, lease, run, sceneTime, waiter} from '../_world.js';

const hour = 3600;

/** Returns the row of a GPU that is leased and has been idle for this many seconds. */
async function seen(held: Lease, idleSeconds: number | undefined, reading: GpuReading) {
	const {store} = await createBox(1, {leases: {0: held}});
	const idle: readonly IdleSpan[] =
		idleSeconds === undefined ? [] : [{lease: held.leaseId!, index: 0, seconds: idleSeconds, until: sceneTime}];
	const observation = observationOf([reading], {idle});
	return {rows: statusRows(await store.read(), observation, 1024), observation};
}

/** Returns the STATE column of the GPU in the table of its host. */
async function stateOf(held: Lease, idleSeconds: number | undefined, reading = gpuReading(0)): Promise<string> {
	const {rows} = await seen(held, idleSeconds, reading);
	return stateName(rows[0]!, alice, true);
}

/** Returns the STATE column of the GPU in the table of all hosts. */
async function stateAmongHosts(held: Lease, idleSeconds: number | undefined, reading = gpuReading(0)): Promise<string> {
	const {rows, observation} = await seen(held, idleSeconds, reading);
	const known = [answered('gpu-box-7', statusJson(rows, observation))];
	const state = await screenOf(await createBox(1), {columns: 120, rows: 32}, {otherHosts: ['gpu-box-7']}, [
		'focus-hosts',
		{kind: 'hosts-arrived', known, nowMs: 1000},
	]);
	return /gpu-box-7 +0 (?<state>.{10})/v.exec(frameOf(state))!.groups!['state']!.trimEnd();
}

const old = lease('bob', {startTime: sceneTime - 7 * hour});
const oldRun = run('bob', {startTime: sceneTime - 7 * hour});

test.each<[string, Lease, number | undefined, string]>([
	['an idle reservation shows the observed idle hours', old, 6.7 * hour, 'Idle 6h'],
	['an idle reservation shows the observed idle days', old, 50 * hour, 'Idle 2d'],
	['a short idle time is shown in minutes', old, 12 * 60, 'Idle 12m'],
	['an idle reservation observed only briefly shows no idle time', old, 5, 'Idle'],
	['an idle reservation that was never observed shows no idle time', old, undefined, 'Idle'],
	['a new reservation is not shown as idle', lease('bob'), 5, 'Reserved'],
	['an idle job shows its idle hours', oldRun, hour, 'Idle 1h'],
	['a job that pauses', oldRun, 60, 'Reserved'],
])('%s', async (_, held, idleSeconds, word) => {
	expect(await stateOf(held, idleSeconds)).toBe(word);
});

test('the table of all hosts shows the same idle time of a reservation as the table of this host', async () => {
	const desktop = {...gpuReading(0), processes: [{pid: 1, name: 'Xorg', kind: 'graphics' as const, memoryUsedMiB: 40}]};
	for (const [held, idleSeconds, reading] of [
		[old, 5],
		[old, 12 * 60],
		[old, hour, desktop],
		[old, 5, desktop],
		[lease('bob'), 5],
		[oldRun, 60],
		[oldRun, hour],
		[old, hour, busy(0, 'bob', 'python train.py', {gibibytes: 10, percent: 0})],
	] as const) {
		const words = await Promise.all([stateOf(held, idleSeconds, reading), stateAmongHosts(held, idleSeconds, reading)]);
		expect(words[1], JSON.stringify([held.type, idleSeconds, reading])).toBe(words[0]);
	}

	expect(await stateOf(old, hour, desktop)).toBe('Idle 1h');
});

test('a GPU with running processes is not shown as idle, even if a shared scan says so', async () => {
	const reading = busy(0, 'bob', 'python train.py', {gibibytes: 10, percent: 0});
	expect(await stateOf(old, 6 * hour, reading)).toBe('Reserved');
});

test('the dialog about a reservation or queue entry with a label also names the account', async () => {
	const box = await createBox(1, {
		leases: {0: lease('alice', {user: 'eval'})},
		waiting: [waiter('alice', {user: 'eval', requestedIds: [0]})],
	});
	const askedBy = async (...steps: readonly Step[]): Promise<string> =>
		frameOf(await screenOf(box, {columns: 120, rows: 32}, {}, steps));
	expect(await askedBy(pressing(release))).toContain('alice (eval), MANUAL, held');
	expect(await askedBy('focus-queue', pressing(leave))).toContain('alice (eval), for GPU 0');
});

test('tables show the label before the account if the account holds GPUs under different labels', async () => {
	const labelled = (label: string) => lease(label, {actualUser: 'shared', leaseId: label});
	const box = await createBox(4, {
		leases: {0: labelled('eval'), 1: labelled('train'), 2: lease('dora', {actualUser: 'dora1'})},
		waiting: [waiter('tune', {actualUser: 'shared', requestedIds: [2]})],
	});
	const size = {columns: 200, rows: 32};
	const known = [
		answered('far', [heldRow(0, 'eval', {actual_user: 'shared'}), heldRow(1, 'dora', {actual_user: 'dora'})]),
	];
	const frame = frameOf(await screenOf(box, size));
	expect(frame).toMatch(/0 +Reserved +eval @shared +MANUAL/v);
	expect(frame).toMatch(/1 +Reserved +train @shared +MANUAL/v);
	expect(frame).toMatch(/2 +Reserved +dora1 \(dora\) +MANUAL/v);
	expect(frame).toMatch(/1 +tune @shared +GPU 2/v);
	const hosts = frameOf(
		await screenOf(box, size, {otherHosts: ['far']}, ['focus-hosts', {kind: 'hosts-arrived', known, nowMs: 1000}]),
	);
	expect(hosts).toMatch(/gpu-box-3 +1 +Reserved +train @shared/v);
	expect(hosts).toMatch(/far +0 +Reserved +eval @shared/v);
	expect(hosts).toMatch(/far +1 +Reserved +dora /v);
});
