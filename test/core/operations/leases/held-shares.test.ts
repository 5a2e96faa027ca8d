/** A job's share of a GPU is independent of the other shares, and is restored if the store lost it. */
import {beforeEach, describe, expect, test} from 'vitest';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import type {Lease} from '../../../../source/core/model/types.js';
import {createRestoringStore} from '../../../../source/core/live/restoring-store.js';
import {endJobLease, findJobLease, sendHeartbeat, withJob} from '../../../../source/core/operations/job-lease.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {undoableOf, undoRelease} from '../../../../source/core/operations/undo.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {planHoldings} from '../../../../source/core/rules/leases/holding-changes.js';
import {holdingsIn, holdingsOn} from '../../../../source/core/rules/leases/holdings.js';
import {planEnd} from '../../../../source/core/rules/leases/lease-changes.js';
import {crash, saved} from '../../../_helpers/store/losing.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../../../_helpers/world.js';

const capacityMiB = 100;
let world: TestWorld;

const share = (user: string, memoryMiB: number, part: Partial<Lease> = {}): Lease => ({
	user,
	actualUser: user,
	type: 'manual',
	startTime,
	expiryTime: startTime + 36_000,
	leaseId: `of-${user}`,
	memoryMiB,
	...part,
});

const jobShare = (user: string, memoryMiB: number): Lease => ({
	...share(user, memoryMiB),
	type: 'run',
	expiryTime: undefined,
	lastHeartbeat: startTime,
	machine: world.host.machineId,
	bootId: world.host.bootId,
	holder: world.host.self,
});

async function grant(lease: Lease, index = 0): Promise<void> {
	const record = (await world.store.read()).gpus[index]!;
	const startsNow = {...lease, startTime: Math.floor(world.now())};
	await world.store.commit({...emptyPlan, ...planHoldings([{kind: 'add', record, lease: startsNow, capacityMiB}])});
}

/** Ends a share as if a read had wrongly found its process dead. */
async function drop(leaseId: string): Promise<void> {
	const {gpus} = await world.store.read();
	const dropped = holdingsIn(gpus).filter(({lease}) => lease.leaseId === leaseId);
	const context = {now: world.now(), host: 'h'};
	const ends = dropped.map((holding) => ({
		holding,
		ending: {reason: 'heartbeat-lost', endTime: world.now()} as const,
	}));
	await world.store.commit(planEnd(ends, {kind: 'expired', gpus: [0]}, context));
}

const ownersOn = async (index = 0) => holdingsOn((await world.store.read()).gpus[index]).map(({lease}) => lease.user);

beforeEach(async () => {
	world = await createTestWorld({gpuCount: 2});
	await grant(share('alice', 40));
	await grant(jobShare('bob', 50));
});

describe('a job with a share of a GPU', () => {
	test('sends heartbeats and ends without changing other shares of the GPU', async () => {
		const hold = withJob(await findJobLease(world, 'of-bob'), {pid: 2, startTicks: 22});
		expect(await sendHeartbeat(world, hold)).toMatchObject({kind: 'held'});
		world.pass(61);
		await sendHeartbeat(world, hold);
		expect((await world.store.read()).gpus[0]).toMatchObject({
			shares: [share('alice', 40), {user: 'bob', job: {pid: 2}, lastHeartbeat: startTime + 61}],
		});
		expect(await endJobLease(world, hold, 'exited')).toEqual([0]);
		expect((await world.store.read()).gpus[0]).toMatchObject({shares: [share('alice', 40)], capacityMiB});
		expect(await historyOf(world.store)).toMatchObject([{user: 'bob', memoryMiB: 50, durationSeconds: 61}]);
	});

	test('takes its share back if its lease was ended by mistake', async () => {
		const hold = await findJobLease(world, 'of-bob');
		world.pass(100);
		await drop('of-bob');
		world.pass(20);
		expect(await sendHeartbeat(world, hold)).toMatchObject({kind: 'held', takenBack: [{index: 0}]});
		expect(await ownersOn()).toEqual(['alice', 'bob']);
		world.pass(10);
		await endJobLease(world, hold, 'exited');
		expect((await historyOf(world.store)).map(({durationSeconds}) => durationSeconds)).toEqual([100, 30]);
	});

	test('takes back its share of a GPU that became free, and leaves room for other shares to return', async () => {
		const jobs = [jobShare('carol', 40), jobShare('dan', 50)];
		for (const lease of jobs) {
			await grant(lease, 1);
		}

		const carols = withJob(await findJobLease(world, 'of-carol'), {pid: 2, startTicks: 22});
		const dans = await findJobLease(world, 'of-dan');
		world.pass(100);
		await drop('of-carol');
		await drop('of-dan');
		expect((await world.store.read()).gpus[1]).toMatchObject({kind: 'free'});
		expect(await sendHeartbeat(world, carols)).toMatchObject({kind: 'held', takenBack: [{index: 1}]});
		expect((await world.store.read()).gpus[1]).toMatchObject({shares: [{user: 'carol'}], capacityMiB});
		const answer = await sendHeartbeat(world, dans);
		expect(answer).toMatchObject({kind: 'held', takenBack: [{index: 1}]});

		// Once more, now that the job knows the share that it took back.
		await drop('of-carol');
		await drop('of-dan');
		await sendHeartbeat(world, answer.jobLease);
		expect((await world.store.read()).gpus[1]).toMatchObject({shares: [{user: 'dan'}], capacityMiB});
	});

	test('does not take its share back after a release', async () => {
		const hold = await findJobLease(world, 'of-bob');
		await release(world, person('root', 'root', 0), {by: 'lease', leaseId: 'of-bob'});
		expect(await sendHeartbeat(world, hold)).toMatchObject({kind: 'lost', gpus: [{index: 0}]});
	});

	test('does not take its share back if the memory was granted to others meanwhile', async () => {
		const hold = await findJobLease(world, 'of-bob');
		await drop('of-bob');
		await grant(share('carol', 30));
		expect(await sendHeartbeat(world, hold)).toMatchObject({kind: 'lost'});
		expect(await ownersOn()).toEqual(['alice', 'carol']);
	});

	test('does not take its MIG instance back if another lease holds the instance', async () => {
		const instance = (user: string, uuid: string): Lease => ({
			...jobShare(user, 0),
			memoryMiB: undefined,
			mig: {uuid},
		});
		await grant(instance('dan', 'MIG-1'), 1);
		await grant(instance('erin', 'MIG-2'), 1);
		const hold = await findJobLease(world, 'of-dan');
		await drop('of-dan');
		await grant(instance('carol', 'MIG-1'), 1);
		expect(await sendHeartbeat(world, hold)).toMatchObject({kind: 'lost'});
		expect(await ownersOn(1)).toEqual(['erin', 'carol']);
	});
});

describe('a store that lost its data', () => {
	const staying = () => ({...world, store: createRestoringStore(world.store, world)});

	test('gets every share of a GPU back from a running process', async () => {
		const process = staying();
		const {gpus} = await process.store.read();
		crash(world.memory);
		await process.store.read();
		expect((await world.store.read()).gpus[0]).toMatchObject({shares: holdingsOn(gpus[0]).map(({lease}) => lease)});
	});

	test('gets back the lost shares that still fit next to newer shares', async () => {
		const backup = saved(world.memory);
		world.pass(5);
		await grant(share('carol', 10));
		await release(world, person('alice'), {by: 'lease', leaseId: 'of-alice'});
		const process = staying();
		await process.store.read();
		world.pass(5);
		crash(world.memory, backup);
		expect(await ownersOn()).toEqual(['alice', 'bob']);
		await process.store.read();
		expect(await ownersOn()).toEqual(['bob', 'carol']);

		crash(world.memory, backup);
		world.pass(5);
		await release(world, person('alice'), {by: 'lease', leaseId: 'of-alice'});
		await grant(share('dan', 45));
		await process.store.read();
		expect(await ownersOn()).toEqual(['bob', 'dan']);
	});
});

test('a restored share ends at the next read if its process is dead', async () => {
	world.processes.set(world.host.self.pid, 'dead');
	expect((await readCurrent(world)).gpus[0]).toMatchObject({shares: [{user: 'alice'}]});
	await release(world, person('alice'), {by: 'label', label: 'alice'});
	expect((await readCurrent(world)).gpus[0]).toMatchObject({kind: 'free', ended: {leaseId: 'of-alice'}});
});

test('undoRelease by root restores the released shares of several users on one GPU', async () => {
	await grant(share('carol', 10), 1);
	await grant(share('dan', 20), 1);
	const root = person('root', 'root', 0);
	const {released} = await release(world, root, {by: 'gpus', ids: [1]});
	expect(released.map(({lease}) => lease.user)).toEqual(['carol', 'dan']);
	const {undone, refused} = await undoRelease(world, root, undoableOf(released));
	expect([undone.length, refused]).toEqual([2, []]);
	expect(await ownersOn(1)).toEqual(['carol', 'dan']);
	expect((await world.store.read()).gpus[1]).toMatchObject({shares: [{memoryMiB: 10}, {memoryMiB: 20}]});
});
