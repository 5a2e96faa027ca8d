import {expect, test} from 'vitest';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {adopt} from '../../../source/core/operations/adopt.js';
import {drain, undrain} from '../../../source/core/operations/pool/drain.js';
import {entryFor, planJoin} from '../../../source/core/rules/queue/queue.js';
import {readStatus, release, reserve} from '../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import type {Store} from '../../../source/core/model/ports.js';
import type {GpuReading} from '../../../source/core/model/types.js';
import {queueTable} from '../../../source/format/tables/queue-table.js';
import {createPaint} from '../../../source/format/text/paint.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../_helpers/world.js';
import {queueRows} from '../../../source/core/rules/queue/queue-rows.js';

const root = person('root', 'root', 0);
const alice = person('alice');
const bob = person('bob', 'bob', 1001);

const ask = async (world: TestWorld, more: {count?: number; ids?: readonly number[]; force?: boolean} = {}) =>
	reserve(world, {requester: alice, count: 1, durationSeconds: 3600, ...more});

const joinAs = async (world: TestWorld, id: string, wanted: {count: number; ids?: readonly number[]}) =>
	world.store.commit(
		planJoin(
			entryFor({id, requester: bob, wanted, tenure: {type: 'run'}, waitSeconds: undefined}, world.host, world.now()),
			'box',
		),
	);

test('drain keeps the current lease of a GPU but prevents new grants, even with force', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await ask(world, {ids: [1]});
	expect(await drain(world, root, [1, 0], 'fan')).toEqual({gpus: [0, 1], leased: [1]});
	expect((await readStatus(world)).rows).toMatchObject([
		{state: 'error', problem: 'drained: fan', drain: {reason: 'fan', by: 'root'}},
		{state: 'in-use', problem: 'drained: fan'},
	]);
	await release(world, alice, {by: 'gpus', ids: [1]});
	for (const force of [false, true]) {
		expect(await ask(world, {ids: [1], force})).toMatchObject({
			kind: 'refused',
			blocked: [{index: 1, block: {kind: 'drained', drain: {reason: 'fan'}}}],
		});
	}

	expect(await undrain(world, root, [1, 0])).toEqual([0, 1]);
	expect(await undrain(world, root, [1])).toEqual([]);
	expect(await ask(world, {ids: [1]})).toMatchObject({kind: 'granted'});
	expect((await world.store.audit()).map(({kind, account, gpus}) => `${account} ${kind} ${gpus.join(',')}`)).toEqual([
		'alice pool ',
		'alice granted 1',
		'root drained 0,1',
		'alice released 1',
		'alice refused 1',
		'alice refused 1',
		'root undrained 0,1',
		'alice granted 1',
	]);
});

test('a waiting request gives up a held GPU that is drained, and gets another GPU instead', async () => {
	const world = await createTestWorld({gpuCount: 3});
	await ask(world, {ids: [1, 2]});
	const drainAndRelease = async () => {
		const result = await drain(world, root, [0], 'fan');
		await release(world, alice, {by: 'gpus', ids: [1, 2]});
		return result;
	};

	let drained: ReturnType<typeof drain> | undefined;
	const answer = await acquire(
		world,
		{requester: bob, count: 2, tenure: {type: 'manual', durationSeconds: 60}},
		{
			waitSeconds: 60,
			signal: new AbortController().signal,
			onProgress(progress) {
				if (progress.kind === 'waiting' && progress.held.length > 0) {
					drained ??= drainAndRelease();
				}
			},
		},
	);
	expect(await drained).toEqual({gpus: [0], leased: []});
	expect(answer).toMatchObject({kind: 'granted', gpus: [1, 2]});
	expect((await readStatus(world)).rows[0]).toMatchObject({state: 'error', problem: 'drained: fan'});
});

test('drain prevents a grant that scanned before the drain and commits after the drain', async () => {
	const made: TestWorld[] = [];
	let hasDrained = false;
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store): Store => ({
			...store,
			async commit(plan) {
				if (plan.grants && !hasDrained) {
					hasDrained = true;
					await drain(made[0]!, root, [0], undefined);
				}

				return store.commit(plan);
			},
		}),
	});
	made.push(world);
	expect(await ask(world)).toMatchObject({kind: 'refused', available: 0});
	expect(hasDrained).toBe(true);
});

test('a queue entry that waits for a drained GPU blocks no other request', async () => {
	const world = await createTestWorld({gpuCount: 3});
	await drain(world, root, [0, 1], 'fan');
	await joinAs(world, 'ids', {count: 2, ids: [0, 2]});
	await joinAs(world, 'many', {count: 2});
	expect(await ask(world)).toMatchObject({kind: 'granted', gpus: [2]});
	const {snapshot} = await readStatus(world);
	expect(queueRows(snapshot)).toMatchObject([
		{isPossible: true, outOfService: [0]},
		{isPossible: true, outOfService: [0, 1]},
	]);
	expect(queueTable(queueRows(snapshot), createPaint(false, {}), {now: snapshot.now})).toContain(
		'when GPUs 0 1 are back in service',
	);
	await undrain(world, root, [0, 1]);
	expect(await ask(world)).toMatchObject({kind: 'refused', blocked: [{block: {kind: 'queued'}}, {}, {}]});
});

test('a waiting request for any GPU gets an undrained GPU, and a request for the drained GPU waits for undrain', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await ask(world, {ids: [1]});
	await drain(world, root, [0], undefined);
	const tenure = {type: 'manual', durationSeconds: 60} as const;
	const options = {waitSeconds: 60, signal: new AbortController().signal, onProgress: () => undefined};
	const any = acquire(world, {requester: bob, count: 1, tenure}, options);
	const first = acquire(world, {requester: bob, count: 1, ids: [0], tenure}, options);
	await release(world, alice, {by: 'gpus', ids: [1]});
	expect(await any).toMatchObject({kind: 'granted', gpus: [1]});
	await undrain(world, root, [0]);
	expect(await first).toMatchObject({kind: 'granted', gpus: [0]});
});

test('an unhealthy GPU shows its problem and is granted only with force', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const sick = {...idleReading(0), health: [{kind: 'xid', words: 'Xid 79'}]} satisfies GpuReading;
	world.see(() => observationOf([sick, idleReading(1)]));
	expect((await readStatus(world)).rows[0]).toMatchObject({state: 'error', problem: 'Xid 79'});
	expect(await ask(world)).toMatchObject({kind: 'granted', gpus: [1]});
	expect(await ask(world, {ids: [0]})).toMatchObject({
		kind: 'refused',
		blocked: [{index: 0, block: {kind: 'unfit', problems: [{words: 'Xid 79'}]}}],
	});
	expect(await ask(world, {ids: [0], force: true})).toMatchObject({kind: 'granted', gpus: [0]});
	expect((await readStatus(world)).rows[0]).toMatchObject({state: 'in-use', problem: 'Xid 79'});
});

test('an unreadable drains record prevents all grants until undrain replaces it', async () => {
	const world = await createTestWorld({gpuCount: 2});
	world.memory.state.drains = 'not json';
	expect(await ask(world, {force: true})).toMatchObject({
		kind: 'refused',
		blocked: [{block: {kind: 'drained', drain: {reason: expect.stringContaining('cannot be read') as string}}}, {}],
	});
	expect(await undrain(world, root, [1])).toEqual([1]);
	expect(await ask(world)).toMatchObject({kind: 'granted', gpus: [1]});
	expect((await readCurrent(world)).drains.keys().toArray()).toEqual([0]);
});

test('drain and undrain reject unknown and repeated ids', async () => {
	const world = await createTestWorld({gpuCount: 2});
	for (const ids of [[2], [-1], [0, 0], [0.5]]) {
		await expect(drain(world, root, ids, undefined)).rejects.toMatchObject({code: 'impossible'});
		await expect(undrain(world, root, ids)).rejects.toMatchObject({code: 'impossible'});
	}

	expect((await readCurrent(world)).stored.drains).toBeUndefined();
});

test('neither adopt nor run can take a drained GPU', async () => {
	const world = await createTestWorld({gpuCount: 1});
	await drain(world, root, [0], 'fan');
	const processes = [{pid: 7, user: 'alice', startTicks: 1}];
	world.see(() => observationOf([{...idleReading(0), processes}]));
	await expect(adopt(world, {requester: alice, pid: 7})).rejects.toThrow('GPU 0 is out of service: fan');
	expect(await acquireNow(world, {requester: alice, count: 1, tenure: {type: 'run'}}, 'id')).toMatchObject({
		kind: 'refused',
	});
});
