/** Idle reservations, from the first observation until their GPUs are free again. */
import {describe, expect, test} from 'vitest';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import type {GpuReading} from '../../../../source/core/model/types.js';
import {createReclaimer} from '../../../../source/core/operations/reclaim.js';
import {claimReminders} from '../../../../source/core/operations/reminders.js';
import {drain} from '../../../../source/core/operations/pool/drain.js';
import {extend, readStatus, release, reserve} from '../../../../source/core/operations/reservations.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {eventText} from '../../../../source/format/events.js';
import {statusJson} from '../../../../source/format/json/status-json.js';
import {queueWhy} from '../../../../source/format/queue/why.js';
import {reminderText} from '../../../../source/format/reminder-text.js';
import {detailText} from '../../../../source/format/status-labels.js';
import {createPaint} from '../../../../source/format/text/paint.js';
import {idleReading, observationOf, person, startTime} from '../../../_helpers/world.js';
import {alice, allIdle, bob, createIdleBox, hour, joinAs, minute, root, setPolicy, usedReading} from './_idle.js';

const idleAfterHalfAnHour = {'idle.after': '30m'};
const always = {...idleAfterHalfAnHour, 'idle.when': 'always'};

test('an idle reservation gets one warning and ends after the grace period', async () => {
	const box = await createIdleBox();
	await joinAs(box.world, {ids: [0]});
	await box.lookFor(31);
	expect(await box.kinds()).toEqual(['idle']);
	expect(await box.idleOf(0)).toEqual({
		since: startTime + minute,
		seen: startTime + 31 * minute,
		warned: startTime + 31 * minute,
		deadline: startTime + 51 * minute,
		timer: {clock: 'boot-1', seconds: 31 * minute},
	});
	await box.lookFor(19);
	expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
	await box.lookFor(1);
	expect(await box.holders()).toEqual([undefined, undefined, undefined, undefined]);
	expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
	const history = await Array.fromAsync(box.world.store.history(0, 4_000_000_000));
	expect(history.map(({gpuId, endReason}) => [gpuId, endReason])).toEqual([
		[0, 'reclaimed'],
		[1, 'reclaimed'],
	]);
});

test('observing GPUs writes nothing to the store without idle.after', async () => {
	const box = await createIdleBox({});
	await joinAs(box.world, {ids: [0]});
	const before = await box.world.memory.read();
	await box.lookFor(120);
	expect((await box.world.memory.read()).revision.count).toBe(before.revision.count);
});

test('observing idle GPUs does not write to the store at every scan', async () => {
	const box = await createIdleBox({'idle.after': '2h', 'idle.when': 'always'});
	await box.lookAfter(2);
	const {count} = (await box.world.memory.read()).revision;
	for (let scan = 0; scan < 300; scan++) {
		await box.lookAfter(2);
	}

	expect((await box.world.memory.read()).revision.count - count).toBe(5);
});

describe('an idle warning is withdrawn', () => {
	const unknowns: ReadonlyArray<[string, Partial<GpuReading>]> = [
		['memory is unknown', {memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[Unknown Error]'}}],
		['processes are hidden', {processes: undefined}],
		['utilization is unknown', {utilizationPercent: undefined, unknown: {utilizationPercent: '[Unknown Error]'}}],
		['the GPU tool does not report utilization', {utilizationPercent: undefined}],
		['the GPU is broken', {failure: 'lost'}],
		['the GPU is unhealthy', {health: [{kind: 'xid', words: 'Xid 79'}]}],
		['the GPU is in MIG mode', {isMigEnabled: true, migInstances: [{uuid: 'MIG-1', memoryUsedMiB: 0}]}],
		['the MIG mode is unknown', {unknown: {isMigEnabled: '[Unknown Error]'}}],
	];

	test.each(unknowns)('if %s', async (_, changes) => {
		const box = await createIdleBox(always);
		await box.lookFor(40);
		await box.lookAfter(minute, [idleReading(0), {...idleReading(1), ...changes}]);
		expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
		expect(await box.idleOf(0)).toBeUndefined();
		await box.lookFor(30);
		expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
	});

	test('if memory is in use and its process may be hidden, as in a container', async () => {
		const box = await createIdleBox(always);
		const self = {...box.world.host.self, namespace: '4026532270'};
		const inside = createReclaimer({...box.world, host: {...box.world.host, self}});
		const lookInside = async (memoryUsedMiB: number) => {
			const gpus = [{...idleReading(0), memoryUsedMiB}, idleReading(1)];
			await inside.look(await box.world.memory.read(), observationOf(gpus, {takenAtMs: box.world.clock.monotonicMs()}));
		};

		await box.lookFor(40);
		await lookInside(3);
		expect(await box.kinds()).toEqual(['idle']);
		await lookInside(450);
		expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
	});

	test("if a scan fails or omits one of the reservation's GPUs", async () => {
		const box = await createIdleBox(always);
		await box.lookFor(40);
		await box.lookAfter(minute, [], {failure: {message: 'no answer'}});
		await box.lookFor(40);
		await box.lookAfter(minute, [idleReading(0)]);
		expect(await box.kinds()).toEqual(['idle', 'idle unknown', 'idle', 'idle unknown']);
	});

	test("if one of the reservation's GPUs is used", async () => {
		const box = await createIdleBox(always);
		await box.lookFor(40);
		await box.lookAfter(2, [idleReading(0), usedReading(1)]);
		expect(await box.kinds()).toEqual(['idle', 'idle used']);
		await box.lookFor(30);
		expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
	});

	test('if no process observed the GPUs for more than five minutes', async () => {
		const box = await createIdleBox(always);
		await box.lookFor(40);
		await box.lookAfter(301);
		expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
	});

	test("if one of the reservation's GPUs is drained", async () => {
		const box = await createIdleBox(always);
		await box.lookFor(40);
		await drain(box.world, root, [1], undefined);
		await box.lookFor(60);
		expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
	});

	test('if the owner extends with --keep, which leaves a later end unchanged', async () => {
		const box = await createIdleBox(always);
		await box.lookFor(40);
		const {extended, now} = await extend(
			box.world,
			alice,
			{by: 'label', label: 'alice'},
			{
				atLeast: 2 * hour,
				keepSeconds: 2 * hour,
			},
		);
		expect(extended.map(({expiryTime, keepUntil}) => [expiryTime, keepUntil])).toEqual(
			[0, 1].map(() => [startTime + 24 * hour, Math.ceil(now + 2 * hour)]),
		);
		await box.lookFor(119);
		expect(await box.kinds()).toEqual(['idle', 'idle kept']);
		expect(await box.idleOf(0)).toBeUndefined();
		await box.lookFor(33);
		expect(await box.kinds()).toEqual(['idle', 'idle kept', 'idle']);
	});
});

test('raising idle.after withdraws an earlier warning, and another warning precedes the end', async () => {
	const box = await createIdleBox(always);
	await box.lookFor(31);
	await setPolicy(box.world, {'idle.after': '2h'});
	await box.lookFor(1);
	expect(await box.kinds()).toEqual(['idle', 'idle policy']);
	expect(await box.idleOf(0)).toEqual({since: startTime + minute, seen: startTime + 31 * minute});
	expect(detailText((await readStatus(box.world)).rows[0]!)).toMatch(/^expires in /v);
	expect((await box.world.store.audit()).map((entry) => eventText(entry))).toContain(
		'alice keeps GPUs 0,1: idle.after was raised',
	);
	await box.lookFor(88);
	expect(await box.kinds()).toEqual(['idle', 'idle policy']);
	await box.lookFor(1);
	expect(await box.kinds()).toEqual(['idle', 'idle policy', 'idle']);
	await box.lookFor(19);
	expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
	await box.lookFor(1);
	expect(await box.kinds()).toEqual(['idle', 'idle policy', 'idle', 'ended reclaimed']);
});

test('extend --keep moves the end of a reservation that would end earlier', async () => {
	const box = await createIdleBox(always);
	box.world.pass(23.5 * hour);
	const {extended, now} = await extend(
		box.world,
		alice,
		{by: 'label', label: 'alice'},
		{
			atLeast: 2 * hour,
			keepSeconds: 2 * hour,
		},
	);
	expect(extended[0]!.expiryTime).toBe(Math.ceil(now + 2 * hour));
});

test('extend --keep does not shorten a longer --keep of another reservation', async () => {
	const box = await createIdleBox(always);
	await reserve(box.world, {requester: alice, count: 1, ids: [2], durationSeconds: 24 * hour, keepSeconds: 12 * hour});
	const change = {atLeast: 2 * hour, keepSeconds: 2 * hour};
	const {extended, now} = await extend(box.world, alice, {by: 'label', label: 'alice'}, change);
	const kept = [2, 2, 12].map((hours) => Math.ceil(now + hours * hour));
	expect(extended.map(({keepUntil}) => keepUntil)).toEqual(kept);
	const {gpus} = await box.world.memory.read();
	expect(gpus.flatMap((gpu) => (gpu.kind === 'leased' ? [gpu.lease.keepUntil] : []))).toEqual(kept);
	const said = (await box.world.memory.audit()).filter(({kind}) => kind === 'idle');
	expect(said.map(({gpus: of, until}) => [of, until])).toEqual([
		[[0, 1], kept[0]],
		[[2], kept[2]],
	]);
});

test('extend --keep moves the end only as far as limits.max-duration allows', async () => {
	const box = await createIdleBox(always);
	await setPolicy(box.world, {'limits.max-duration': '1h'});
	box.world.pass(23.5 * hour);
	const change = {atLeast: 2 * hour, keepSeconds: 2 * hour};
	const {extended, now} = await extend(box.world, alice, {by: 'label', label: 'alice'}, change);
	expect(extended[0]!.expiryTime).toBe(Math.ceil(now + hour));
});

test('--keep is rejected if it exceeds idle.keep-max', async () => {
	const {world} = await createIdleBox({...always, 'idle.keep-max': '4h'});
	const limit = {
		code: 'usage',
		message: '--keep can be at most 4h in this pool',
		hint: 'The limit is idle.keep-max=4h. Nothing was changed. Try: --keep 4h',
	};
	await expect(
		extend(world, alice, {by: 'label', label: 'alice'}, {atLeast: 5 * hour, keepSeconds: 5 * hour}),
	).rejects.toMatchObject(limit);
	await expect(
		reserve(world, {requester: bob, count: 1, durationSeconds: 8 * hour, keepSeconds: 5 * hour}),
	).rejects.toMatchObject(limit);
	expect(
		await reserve(world, {requester: bob, count: 1, durationSeconds: 8 * hour, keepSeconds: 4 * hour}),
	).toMatchObject({kind: 'granted', keepUntil: world.now() + 4 * hour});
});

describe('with idle.when=wanted', () => {
	test.each<[string, Parameters<typeof joinAs>[1], number]>([
		['gets a warning if somebody waits for its GPU', {ids: [1]}, 1],
		['gets no warning if somebody waits for other GPUs', {ids: [2]}, 0],
		['gets no warning if only its owner waits', {requester: alice, ids: [1]}, 0],
	])('an idle reservation %s', async (_, waits, warnings) => {
		const box = await createIdleBox();
		await joinAs(box.world, waits);
		await box.lookFor(20);
		// The first entry sends no heartbeats, so another one joins.
		await joinAs(box.world, {...waits, id: 'later'});
		for (let passed = 0; passed < 30; passed++) {
			await heartbeat(box);
			await box.lookAfter(minute);
		}

		expect((await box.kinds()).filter((kind) => kind === 'idle')).toHaveLength(warnings);
	});

	test("an idle reservation is not reclaimed for a request that waits only for its own account's limit", async () => {
		const box = await createIdleBox();
		await setPolicy(box.world, {'limits.max-gpus': '1'});
		await reserve(box.world, {requester: bob, count: 1, ids: [2], durationSeconds: 24 * hour});
		await joinAs(box.world, {ids: [0]});
		for (let passed = 0; passed < 60; passed++) {
			await heartbeat(box);
			await box.lookAfter(minute);
		}

		expect(await box.kinds()).toEqual([]);
		expect(await box.holders()).toEqual(['alice', 'alice', 'bob', undefined]);
	});

	test('only as many idle reservations are reclaimed as waiting requests need', async () => {
		const box = await createIdleBox();
		await release(box.world, alice, {by: 'label', label: 'alice'});
		for (const index of [0, 1, 2, 3]) {
			await reserve(box.world, {requester: alice, count: 1, ids: [index], durationSeconds: 24 * hour});
		}

		await joinAs(box.world, {});
		for (let passed = 0; passed < 51; passed++) {
			await heartbeat(box);
			await box.lookAfter(minute);
		}

		expect(await box.holders()).toEqual([undefined, 'alice', 'alice', 'alice']);
		// The waiting request has not yet taken the GPU.
		await box.lookAfter(2);
		expect(await box.holders()).toEqual([undefined, 'alice', 'alice', 'alice']);
		await joinAs(box.world, {id: 'later'});
		await box.lookAfter(2);
		expect(await box.holders()).toEqual([undefined, undefined, 'alice', 'alice']);
	});

	test('an idle reservation gets no warning and is not reclaimed for a stopped request', async () => {
		const box = await createIdleBox();
		const {processes, host} = box.world;
		const {pid} = host.self;
		const lookWith = async (state: 'alive' | 'stopped', minutes: number) => {
			processes.set(pid, state);
			for (let passed = 0; passed < minutes; passed++) {
				await heartbeat(box);
				await box.lookAfter(minute);
			}
		};

		await joinAs(box.world, {ids: [0]});
		await lookWith('stopped', 40);
		expect(await box.kinds()).toEqual([]);
		await lookWith('alive', 1);
		expect(await box.kinds()).toEqual(['idle']);
		await lookWith('stopped', 40);
		expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
		await lookWith('alive', 1);
		expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
	});

	/** Creates a pool with two GPUs of each model, in which bob waits for two GPUs of the same model, and jobs hold `busy`. */
	const ofTwoModels = async (busy: readonly number[], readings = allIdle) => {
		const box = await createIdleBox();
		const {world} = box;
		const gpus = readings.map((reading, index) => ({...reading, name: index < 2 ? 'A100' : 'H100'}));
		await release(world, alice, {by: 'label', label: 'alice'});
		for (const index of [0, 1, 2, 3].filter((id) => !busy.includes(id))) {
			await reserve(world, {requester: alice, count: 1, ids: [index], durationSeconds: 24 * hour});
		}

		const lease = {user: 'carol', type: 'run', startTime, leaseId: 'job'} as const;
		await world.memory.commit({...emptyPlan, writes: busy.map((index) => ({kind: 'lease', index, lease}))});
		await joinAs(world, {count: 2, readings: gpus});
		return {
			...box,
			async lookFor(minutes: number) {
				for (let passed = 0; passed < minutes; passed++) {
					await heartbeat(box);
					await box.lookAfter(minute, gpus);
				}
			},
		};
	};

	test('idle reservations stay if they leave a request without enough GPUs of one model', async () => {
		const {lookFor, kinds, holders} = await ofTwoModels([0, 2]);
		await lookFor(60);
		expect(await kinds()).toEqual([]);
		expect(await holders()).toEqual(['carol', 'alice', 'carol', 'alice']);
	});

	test('only idle reservations of one model are reclaimed for a request for GPUs of one model', async () => {
		const {lookFor, kinds, holders} = await ofTwoModels([0]);
		await lookFor(60);
		expect(await kinds()).toEqual(['idle', 'idle', 'ended reclaimed', 'ended reclaimed']);
		expect(await holders()).toEqual(['carol', 'alice', undefined, undefined]);
	});

	test('idle reservations stay if the other GPU of their model is in use without a reservation', async () => {
		const {world, lookFor, kinds} = await ofTwoModels(
			[0],
			[idleReading(0), idleReading(1), idleReading(2), usedReading(3)],
		);
		await release(world, alice, {by: 'gpus', ids: [3]});
		await lookFor(60);
		expect(await kinds()).toEqual([]);
	});

	test('a reservation with a warning is reclaimed only when all GPUs that the request needs can be reclaimed', async () => {
		const {world, lookFor, kinds, holders} = await ofTwoModels([0, 1]);
		await lookFor(31);
		expect(await kinds()).toEqual(['idle', 'idle']);
		await extend(world, alice, {by: 'gpus', ids: [3]}, {atLeast: hour, keepSeconds: hour});
		await lookFor(60);
		expect(await holders()).toEqual(['carol', 'carol', 'alice', 'alice']);
		await lookFor(60);
		expect(await holders()).toEqual(['carol', 'carol', undefined, undefined]);
	});

	test('an idle reservation stays if an earlier request keeps its GPU and still lacks others', async () => {
		const {world, lookFor, kinds} = await ofTwoModels([0, 2]);
		await joinAs(world, {requester: person('dave'), id: 'later'});
		await lookFor(60);
		expect(await kinds()).toEqual([]);
	});

	test('a reservation with a warning is reclaimed only when somebody waits for it', async () => {
		const box = await createIdleBox();
		await joinAs(box.world, {ids: [0]});
		await box.lookFor(31);
		await box.world.memory.commit({...emptyPlan, writes: [{kind: 'leave', id: 'waiter'}]});
		await box.lookFor(60);
		expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
		expect(detailText((await readStatus(box.world)).rows[0]!)).toMatch(
			/^idle, goes back when somebody is waiting, expires in /v,
		);
		await joinAs(box.world, {ids: [0]});
		await box.lookAfter(1);
		expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
	});
});

/** Renews the heartbeat of every queue entry. */
async function heartbeat({world}: Awaited<ReturnType<typeof createIdleBox>>): Promise<void> {
	const {queue, now} = await world.memory.read();
	await world.memory.commit({
		...emptyPlan,
		writes: queue.flatMap((record) =>
			record.kind === 'entry' ? [{kind: 'entry' as const, entry: {...record.entry, lastHeartbeat: now}}] : [],
		),
	});
}

test('jobs, shares, GPUs held by waiting requests and leases without an id are never reclaimed', async () => {
	const box = await createIdleBox(always);
	const {world} = box;
	await release(world, alice, {by: 'label', label: 'alice'});
	const lease = {user: 'alice', startTime, expiryTime: startTime + 24 * hour} as const;
	await world.memory.commit({
		...emptyPlan,
		writes: [
			{kind: 'lease', index: 0, lease: {...lease, type: 'run', leaseId: 'job'}},
			{kind: 'lease', index: 1, lease: {...lease, type: 'manual'}},
			{kind: 'lease', index: 2, lease: {...lease, type: 'manual', leaseId: 'held', partialQueueId: 'entry'}},
			{kind: 'shares', index: 3, shares: [{...lease, type: 'manual', leaseId: 'share', memoryMiB: 1000}]},
		],
	});
	const {count} = (await world.memory.read()).revision;
	await box.lookFor(120);
	expect((await world.memory.read()).revision.count).toBe(count);
});

test('ten concurrent observers warn and reclaim only once', async () => {
	const {world, ...box} = await createIdleBox(always);
	const observers = Array.from({length: 10}, () => createReclaimer(world));
	for (let passed = 0; passed < 60; passed++) {
		world.pass(minute);
		const snapshot = await world.memory.read();
		const observation = observationOf(allIdle, {takenAtMs: world.clock.monotonicMs()});
		await Promise.all(observers.map(async ({look}) => look(snapshot, observation)));
	}

	expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
});

test('the idle time restarts if use was seen while the store was down', async () => {
	let isDown = false;
	const box = await createIdleBox(always, (store) => ({
		...store,
		async read(options) {
			if (isDown) {
				const {CanhazgpuError} = await import('../../../../source/errors.js');
				throw new CanhazgpuError('store-unreachable', 'gone');
			}

			return store.read(options);
		},
	}));
	await box.lookFor(40);
	isDown = true;
	await box.lookAfter(minute, [usedReading(0), usedReading(1)]);
	isDown = false;
	await box.lookAfter(minute);
	expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
});

test("a shared scan can end an idle time, but only a process's own scan can start one", async () => {
	const box = await createIdleBox(always);
	await box.lookAfter(minute, allIdle, {isPosted: true});
	expect(await box.idleOf(0)).toBeUndefined();
	const scans = box.world.scans();
	await box.lookAfter(11, allIdle, {isPosted: true});
	expect(box.world.scans()).toBe(scans + 1);
	expect(await box.idleOf(0)).toMatchObject({since: box.world.now()});
	await box.lookAfter(5, [usedReading(0), usedReading(1)], {isPosted: true});
	expect(await box.idleOf(0)).toBeUndefined();
});

test('a failed scan of another process does not end an idle time', async () => {
	const box = await createIdleBox(always);
	await box.lookAfter(minute);
	const idle = await box.idleOf(0);
	expect(idle).toBeDefined();
	await box.lookAfter(5, [], {isPosted: true, failure: {message: 'nvidia-smi was not found.'}});
	expect(await box.idleOf(0)).toEqual(idle);
	await box.lookAfter(5, [], {failure: {message: 'nvidia-smi was not found.'}});
	expect(await box.idleOf(0)).toBeUndefined();
});

test('status, queue, events and the reminder show the idle warning', async () => {
	const box = await createIdleBox();
	const {world} = box;
	await joinAs(world, {ids: [0]});
	await box.lookFor(31);
	const view = await readStatus(world);
	expect(detailText(view.rows[0]!)).toMatch(/^idle, goes back at \d\d:\d\d unless used, expires in 23h 29m 0s$/v);
	expect(statusJson(view.rows, view.observation)[0]).toMatchObject({
		idle_since: new Date((startTime + minute) * 1000).toISOString().replace('.000', ''),
		reclaim_at: new Date((startTime + 51 * minute) * 1000).toISOString().replace('.000', ''),
	});
	expect(queueWhy(queueRows(view.snapshot), createPaint(false, {}), view.snapshot.now)).toMatch(
		/alice has GPUs? 0[^\n]*, idle, goes back at \d\d:\d\d unless used/v,
	);
	const owner = {account: 'alice', uid: 1000, reachesAll: false};
	const {reminders} = await claimReminders(world, owner);
	expect(reminders.map((reminder) => reminderText(reminder, 'box').replaceAll(/\d\d:\d\d/gv, 'HH:MM'))).toEqual([
		'canhazgpu on box: your reservation of GPUs 0,1 has been idle since HH:MM. The GPUs go back to the pool at HH:MM unless used. To keep them: canhazgpu extend --gpu-ids 0,1 --keep 2h',
	]);
	expect((await claimReminders(world, owner)).reminders).toEqual([]);
	world.see(() => observationOf([usedReading(0), usedReading(1), idleReading(2), idleReading(3)]));
	expect(detailText((await readStatus(world)).rows[0]!)).toBe('expires in 23h 29m 0s');
	await setPolicy(world, {'idle.when': 'always'});
	await box.lookFor(20);
	const words = (await world.store.audit()).map((entry) => eventText(entry).replaceAll(/\d\d:\d\d/gv, 'HH:MM'));
	expect(words).toContain('alice is not using GPUs 0,1, which go back to the pool at HH:MM unless used');
	expect(words).toContain('alice no longer has GPUs 0,1: still idle after a warning, so back in the pool');
});
