/** Changes by other processes between a command's read and its commit. None is overwritten or overtaken, and no GPU is granted twice. */
import {expect, test} from 'vitest';
import {createPool} from '../../../source/core/operations/pool/create-pool.js';
import {drain, undrain} from '../../../source/core/operations/pool/drain.js';
import {emptyPlan} from '../../../source/core/model/plan.js';
import {entryFor, planJoin} from '../../../source/core/rules/queue/queue.js';
import {release, reserve} from '../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import {undoableOf, undoRelease} from '../../../source/core/operations/undo.js';
import {checkAuditLog} from '../../_helpers/store/audit-log.js';
import {historyOf, person, type TestWorld} from '../../_helpers/world.js';
import {createInterruptedWorld, type Interlude} from './interrupted/_interrupted.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);

const bobWaits: Interlude = async (_, others) => {
	const tenure = {type: 'manual', durationSeconds: 60} as const;
	const options = {id: 'bob-waits', requester: bob, wanted: {count: 1}, tenure, waitSeconds: undefined};
	await others.store.commit(planJoin(entryFor(options, others.host, others.now()), 'box'));
};

const poolOfTwo: Interlude = async (_, others) => createPool(others, {gpuCount: 2, provider: 'fake', force: true});

const reserveId = async (world: TestWorld, id: number, requester = alice) =>
	reserve(world, {requester, count: 1, ids: [id], durationSeconds: 3600});

test('reserve does not overtake a queue entry that joins during the command', async () => {
	const {world, before} = await createInterruptedWorld(1);
	before(bobWaits);
	expect(await reserveId(world, 0)).toMatchObject({kind: 'refused', blocked: [{block: {kind: 'queued'}}]});
});

test('undoRelease does not overtake a queue entry that joins during the command', async () => {
	const {world, before} = await createInterruptedWorld(1);
	await reserveId(world, 0);
	const {released} = await release(world, alice, {by: 'label', label: 'alice'});
	before(bobWaits);
	expect(await undoRelease(world, alice, undoableOf(released))).toMatchObject({
		undone: [],
		refused: [{blocked: [{block: {kind: 'queued'}}]}],
	});
});

test.each([0, 1])('undoRelease of several reservations skips GPU %d if somebody takes it first', async (taken) => {
	const {world, before} = await createInterruptedWorld();
	await reserveId(world, 0);
	await reserveId(world, 1);
	const {released} = await release(world, alice, {by: 'label', label: 'alice'});
	before(async (_, others) => reserveId(others, taken, bob));
	expect(await undoRelease(world, alice, undoableOf(released))).toMatchObject({
		undone: [{gpus: [1 - taken]}],
		refused: [{blocked: [{index: taken, block: {kind: 'leased', lease: {user: 'bob'}}}]}],
	});
	const {gpus} = await readCurrent(world);
	const users = gpus.map((record) => record.kind === 'leased' && record.lease.user);
	expect(users).toEqual([taken === 0 ? 'bob' : 'alice', taken === 0 ? 'alice' : 'bob', false, false]);
	await checkAuditLog(world, await readCurrent(world));
});

test('reserve does not grant a GPU that is removed from the pool during the command', async () => {
	const {world, before} = await createInterruptedWorld();
	before(poolOfTwo);
	await expect(reserveId(world, 3)).rejects.toMatchObject({code: 'impossible'});
	expect(world.memory.state.gpus.has(3)).toBe(false);
});

test('drain refuses a GPU that is removed from the pool during the command', async () => {
	const {world, before} = await createInterruptedWorld();
	before(poolOfTwo);
	await expect(drain(world, alice, [3], undefined)).rejects.toMatchObject({code: 'impossible'});
	expect((await readCurrent(world)).drains.size).toBe(0);
});

test('concurrent drains are both applied, and so are concurrent undrains', async () => {
	const {world, before} = await createInterruptedWorld();
	before(async (_, others) => drain(others, bob, [1], 'bob’s'));
	await drain(world, alice, [0], 'alice’s');
	const drained = async () => {
		const {drains} = await readCurrent(world);
		return drains
			.keys()
			.toArray()
			.toSorted((a, b) => a - b);
	};

	expect(await drained()).toEqual([0, 1]);
	before(async (_, others) => drain(others, bob, [2], undefined));
	await undrain(world, alice, [0]);
	expect(await drained()).toEqual([1, 2]);
});

test("a late release does not end the GPU's next lease", async () => {
	const {world, before} = await createInterruptedWorld();
	await reserveId(world, 0);
	before(async (_, others) => {
		await release(others, alice, {by: 'label', label: 'alice'});
		others.pass(5);
		await reserveId(others, 0, bob);
	});
	expect(await release(world, alice, {by: 'label', label: 'alice'})).toMatchObject({released: []});
	const snapshot = await readCurrent(world);
	expect(snapshot.gpus[0]).toMatchObject({lease: {user: 'bob'}});
	expect(await historyOf(world.store)).toHaveLength(1);
	await checkAuditLog(world, snapshot);
});

test('reading the pool does not free a GPU that belongs to a queue entry which joins during the read', async () => {
	const {world, before} = await createInterruptedWorld();
	const lease = {
		user: 'bob',
		type: 'manual' as const,
		startTime: world.now(),
		partialQueueId: 'bob-waits',
		leaseId: 'l',
	};
	await world.memory.commit({...emptyPlan, writes: [{kind: 'lease', index: 0, lease}]});
	before(bobWaits);
	expect((await readCurrent(world)).gpus[0]).toMatchObject({kind: 'leased', lease: {leaseId: 'l'}});
	expect(await historyOf(world.store)).toEqual([]);
});

test('a lease that is released while the pool is recreated gets only one usage record', async () => {
	const {world, before} = await createInterruptedWorld();
	await reserveId(world, 0);
	await reserveId(world, 1);
	before(async (_, others) => release(others, alice, {by: 'gpus', ids: [0]}));
	expect(await createPool(world, {gpuCount: 4, provider: 'fake', force: true})).toMatchObject({droppedLeases: 1});
	expect((await historyOf(world.store)).map(({gpuId}) => gpuId)).toEqual([0, 1]);
});
