/** Account limits in every operation that grants, extends or restores reservations. */
import {describe, expect, test} from 'vitest';
import {adopt} from '../../../source/core/operations/adopt.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {emptyPlan} from '../../../source/core/model/plan.js';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {extend, release, reserve} from '../../../source/core/operations/reservations.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import type {Store} from '../../../source/core/model/ports.js';
import {undoableOf, undoRelease} from '../../../source/core/operations/undo.js';
import {refusalMessage} from '../../../source/format/queue/refusal.js';
import {testHost} from '../../_helpers/machine/host.js';
import {eventually} from '../../_helpers/eventually.js';
import {createLiveWorld} from '../../_helpers/live-world.js';
import {timed} from '../../_helpers/program/timed.js';
import {
	createTestWorld,
	entryRecord,
	idleReading,
	observationOf,
	person,
	startTime,
	type TestWorld,
} from '../../_helpers/world.js';
import {start} from './waiting/_waiting.js';

const ada = person('ada');
const root = person('root', 'root', 0);
const hour = 3600;
const hourly = {type: 'manual', durationSeconds: hour} as const;

async function worldWith(settings: Readonly<Record<string, string>>): Promise<TestWorld> {
	const world = await createTestWorld();
	await set(world, settings);
	return world;
}

const set = async (world: Parameters<typeof changePolicy>[0], settings: Readonly<Record<string, string | undefined>>) =>
	changePolicy(
		world,
		root,
		Object.entries(settings).map(([key, value]) => ({key, value})),
	);

const take = async (world: TestWorld, ids: readonly number[], requester = ada, durationSeconds?: number) =>
	reserve(world, {requester, count: ids.length, ids, durationSeconds});

const collect =
	(progress: unknown[]) =>
	(one: unknown): void => {
		progress.push(one);
	};

const overBy = (held: number) => ({kind: 'refused', overLimit: {account: 'ada', held, ahead: 0}});

describe('max-gpus', () => {
	test('counts the GPUs of an account under all its labels, and does not limit root', async () => {
		const world = await worldWith({'limits.max-gpus': '1'});
		expect(await take(world, [0], person('ada', 'lab'))).toMatchObject({kind: 'granted'});
		expect(await take(world, [1])).toMatchObject(overBy(1));
		expect(await take(world, [1], person('bob'))).toMatchObject({kind: 'granted'});
		expect(await take(world, [2, 3], root)).toMatchObject({kind: 'granted'});
	});

	test('can be raised by a group of the account', async () => {
		const world = await worldWith({'limits.max-gpus': '1', 'limits.group.staff.max-gpus': '2'});
		const staff = {
			...world,
			host: testHost({...world.host, groupsAmong: (names) => names.filter((name) => name === 'staff')}),
		};
		expect(await take(world, [0])).toMatchObject({kind: 'granted'});
		expect(await take(world, [1])).toMatchObject(overBy(1));
		expect(await take(staff, [1])).toMatchObject({kind: 'granted'});
	});

	test('applies to adopt, unless root adopts', async () => {
		const world = await worldWith({'limits.max-gpus': '1'});
		const process = {pid: 700, startTicks: 7007, user: 'ada', name: 'python3', memoryUsedMiB: 9000};
		world.see(() =>
			observationOf([0, 1, 2, 3].map((index) => ({...idleReading(index), processes: index === 3 ? [process] : []}))),
		);
		await take(world, [0]);
		await expect(adopt(world, {requester: ada, pid: 700})).rejects.toMatchObject({
			code: 'unavailable',
			message: 'ada holds 1 of at most 1 GPUs',
		});
		expect(await adopt(world, {requester: root, pid: 700})).toMatchObject({gpus: [3], owner: 'ada'});
	});

	test('applies to the total of all reservations that one undo restores', async () => {
		const world = await worldWith({'limits.max-gpus': '2'});
		await take(world, [0]);
		await take(world, [1]);
		const {released} = await release(world, ada, {by: 'gpus', ids: [0, 1]});
		await take(world, [2]);
		const {undone, refused} = await undoRelease(world, ada, undoableOf(released));
		expect(undone.map(({gpus}) => gpus)).toEqual([[0]]);
		expect(refused).toMatchObject([overBy(2)]);
		expect(refusalMessage(refused[0]!).message).toContain('(ada holds 2 of at most 2 GPUs)');
	});

	test('counts GPUs held by a stopped request only once when undo restores several reservations', async () => {
		const world = await createTestWorld({gpuCount: 6});
		await set(world, {'limits.max-gpus': '3'});
		for (const id of [0, 1, 2]) {
			await take(world, [id]);
		}

		const {released} = await release(world, ada, {by: 'gpus', ids: [0, 1, 2]});
		const held = {user: 'ada', type: 'run', startTime, partialQueueId: 'stopped'} as const;
		const {machineId: machine, bootId} = world.host;
		const {entry} = entryRecord('stopped', {
			user: 'ada',
			requestedCount: 3,
			lastHeartbeat: startTime,
			machine,
			bootId,
			holder: {pid: 77},
		});
		await world.memory.commit({
			...emptyPlan,
			writes: [
				{kind: 'join', entry},
				...[3, 4].map((index) => ({kind: 'lease' as const, index, lease: {...held, leaseId: `held-${index}`}})),
			],
		});
		world.processes.set(77, 'stopped');
		const {undone} = await undoRelease(world, ada, undoableOf(released));
		expect(undone).toHaveLength(3);
		const history = await Array.fromAsync(world.store.history(0, 4_000_000_000));
		expect(history.flatMap(({gpuId = 0, endReason}) => (gpuId > 2 ? [[gpuId, endReason]] : []))).toEqual([
			[3, 'holder-stopped'],
			[4, 'holder-stopped'],
		]);
	});

	test('ends a waiting request that becomes impossible when the limit is lowered', async () => {
		const world = await createLiveWorld(2);
		await set(world, {'limits.max-gpus': '2'});
		await reserve(world, {requester: person('bob'), count: 2, durationSeconds: hour});
		const progress: unknown[] = [];
		const waiting = acquire(
			world.as(11),
			{requester: ada, count: 2, tenure: {type: 'run'}},
			{waitSeconds: undefined, signal: new AbortController().signal, onProgress: collect(progress)},
		);
		const outcome = expect(waiting).rejects.toMatchObject({
			code: 'impossible',
			message: 'Cannot reserve 2 GPUs: ada can hold at most 1',
		});
		await eventually(() => progress.length > 0);
		await set(world, {'limits.max-gpus': '1'});
		await outcome;
		expect((await world.store.read()).queue).toEqual([]);
	});

	test('takes effect for waiting requests at once when a group limit is added', async () => {
		const world = await createLiveWorld(2);
		await reserve(world, {requester: person('bob'), count: 2, durationSeconds: hour});
		const own = world.as(11);
		const staff = {
			...own,
			host: testHost({...own.host, groupsAmong: (names) => names.filter((name) => name === 'staff')}),
		};
		const {answer, waits, abort} = start(staff, {requester: ada, count: 2, tenure: hourly});
		await waits();
		await set(world, {'limits.max-gpus': '1', 'limits.group.staff.max-gpus': '2'});
		// The next heartbeat would come only after half a minute.
		await eventually(async () => {
			const [record] = (await world.store.read()).queue;
			return record?.kind === 'entry' && record.entry.groups?.includes('staff');
		}, 20_000);
		abort();
		await answer;
	});
});

test('a request over the limit is granted as soon as its account releases enough GPUs', async () => {
	const world = await createLiveWorld(3);
	await set(world, {'limits.max-gpus': '1'});
	const first = await reserve(world, {requester: ada, count: 1, ids: [0], durationSeconds: hour});
	const progress: unknown[] = [];
	const waiting = acquire(
		world.as(11),
		{requester: ada, count: 1, ids: [2], tenure: {type: 'run'}},
		{waitSeconds: undefined, signal: new AbortController().signal, onProgress: collect(progress)},
	);
	await eventually(() => progress.length > 0);
	expect(progress[0]).toMatchObject({kind: 'waiting', overLimit: {account: 'ada', held: 1, limit: {value: 1}}});
	const timing = timed(waiting);
	await release(world, ada, {by: 'lease', leaseId: first.kind === 'granted' ? first.leaseId : ''});
	expect(await waiting).toMatchObject({kind: 'granted', gpus: [2]});
	// A request that misses the release event reads the store only after two to five seconds.
	expect((await timing).ownSeconds).toBeLessThan(2);
});

describe('durations', () => {
	test('lowering max-duration does not end a granted reservation, even if the answer to the grant was lost', async () => {
		const world = await createLiveWorld(1);
		const held = await reserve(world, {requester: person('bob'), count: 1, durationSeconds: hour});
		let isLost = false;
		const store: Store = {
			...world.store,
			async commit(plan) {
				const outcome = await world.store.commit(plan);
				if (plan.grants && !isLost) {
					isLost = true;
					await set(world, {'limits.max-duration': '30m'});
					throw new CanhazgpuError('store-unreachable', 'gone');
				}

				return outcome;
			},
		};
		const {answer, waits} = start({...world.as(11), store}, {requester: ada, count: 1, tenure: hourly});
		await waits();
		await release(world, person('bob'), {by: 'lease', leaseId: held.kind === 'granted' ? held.leaseId : ''});
		expect(await answer).toMatchObject({kind: 'granted', gpus: [0]});
	});

	test("a reservation without a duration lasts for the policy's default", async () => {
		const world = await worldWith({});
		expect(await take(world, [0])).toMatchObject({durationSeconds: 8 * hour, endsBy: startTime + 8 * hour});
		await set(world, {'limits.default-duration': '30m'});
		expect(await take(world, [1])).toMatchObject({durationSeconds: hour / 2, endsBy: startTime + hour / 2});
		const live = await createLiveWorld(1);
		await set(live, {'limits.default-duration': '30m'});
		const options = {waitSeconds: undefined, signal: new AbortController().signal, onProgress: collect([])};
		expect(await acquire(live, {requester: ada, count: 1, tenure: {type: 'manual'}}, options)).toMatchObject({
			durationSeconds: hour / 2,
		});
	});

	test('extend cannot move the end of a reservation beyond max-duration from now', async () => {
		const world = await worldWith({});
		const {leaseId} = (await take(world, [0], ada, 10 * hour)) as {readonly leaseId: string};
		await set(world, {'limits.max-duration': '4h'});
		const to = async (hours: number, requester = ada) =>
			extend(world, requester, {by: 'lease', leaseId}, {until: world.now() + hours * hour});
		// The reservation is longer than the new limit. It can be shortened, but not extended.
		await expect(to(11)).rejects.toMatchObject({
			code: 'impossible',
			message: 'A reservation can end at most 4h from now',
			hint: expect.stringContaining('The limit is limits.max-duration=4h. Nothing was changed.') as string,
		});
		expect((await to(9)).extended).toHaveLength(1);
		expect((await to(1)).extended).toHaveLength(1);
		await expect(to(4.1)).rejects.toMatchObject({code: 'impossible'});
		world.pass(hour / 2);
		expect((await to(4)).extended).toHaveLength(1);
		expect((await to(20, root)).extended).toHaveLength(1);
	});
});
