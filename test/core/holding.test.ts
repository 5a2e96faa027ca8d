import {beforeEach, describe, expect, test} from 'vitest';
import {makePool} from '../../source/core/administration.js';
import {acquireNow} from '../../source/core/acquisition.js';
import {beat, findHold, finish, withJob, type Hold} from '../../source/core/holding.js';
import {look, release, reserve} from '../../source/core/reservations.js';
import type {Store} from '../../source/core/ports.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../_helpers/world.js';

const alice = person('alice');
const job = {pid: 2, startTicks: 22};

let world: TestWorld;
let uptime: number;
let commits: number;
let hold: Hold;

const stored = (index: number) =>
	JSON.parse(world.memory.state.gpus.get(index) ?? 'null') as Record<string, unknown> | undefined;

const loseData = () => {
	const {state} = world.memory;
	state.gpus.clear();
	state.entries.clear();
	state.line.length = 0;
	state.pool = {gpuCount: undefined, provider: undefined, machine: undefined};
};

/** The pool as somebody makes it anew. */
const makeAnew = async (force = false) => makePool(world, {gpuCount: 4, provider: 'fake', force});

beforeEach(async () => {
	uptime = Infinity;
	commits = 0;
	world = await createTestWorld({
		wrap: (store: Store): Store => ({
			...store,
			read: async (options) => ({...(await store.read(options)), storeUptimeSeconds: uptime}),
			async commit(plan) {
				commits++;
				return store.commit(plan);
			},
		}),
	});
	await acquireNow(world, {requester: alice, count: 2, tenure: {type: 'run'}, note: 'n'}, 'lease-a');
	hold = withJob(await findHold(world, 'lease-a'), job);
	commits = 0;
});

describe('a beat', () => {
	test('names the job, and then writes only once a minute', async () => {
		expect(await beat(world, hold)).toMatchObject({kind: 'held'});
		expect(stored(1)).toMatchObject({job_pid: 2, job_pid_start: 22, pid: 1});
		expect(commits).toBe(1);
		world.pass(59);
		await beat(world, hold);
		expect(commits).toBe(1);
		world.pass(1);
		await beat(world, hold);
		expect(commits).toBe(2);
		expect(stored(0)).toMatchObject({last_heartbeat: startTime + 60, start_time: startTime});
	});

	test('leaves alone what others wrote into the record', async () => {
		await beat(world, hold);
		world.memory.state.gpus.set(0, JSON.stringify({...stored(0), note: 'changed', later: {version: 2}}));
		world.pass(60);
		await beat(world, hold);
		expect(stored(0)).toMatchObject({note: 'changed', later: {version: 2}, last_heartbeat: startTime + 60});
	});

	test('keeps the beginning of each GPU, for one held while waiting began earlier', async () => {
		world.memory.state.gpus.set(1, JSON.stringify({...stored(1), start_time: startTime - 500}));
		hold = withJob(await findHold(world, 'lease-a'), job);
		world.pass(61);
		await beat(world, hold);
		world.memory.state.gpus.set(
			1,
			JSON.stringify({
				user: 'alice',
				type: 'run',
				start_time: new Date((startTime - 500) * 1000).toISOString(),
				later: {version: 2},
			}),
		);
		expect(await beat(world, hold)).toMatchObject({kind: 'held'});
		expect([stored(0)!['start_time'], stored(1)!['start_time']]).toEqual([startTime, startTime - 500]);
		expect(stored(1)).toMatchObject({lease_id: 'lease-a', job_pid: 2, note: 'n', later: {version: 2}});
	});

	test('says once which GPUs are lost, to whom, and goes on with the rest', async () => {
		await release(world, alice, {by: 'gpus', ids: [1]});
		const lost = await beat(world, hold);
		expect(lost).toMatchObject({kind: 'lost', gpus: [{index: 1, holder: undefined}], hold: {gpus: [0]}});
		expect(await beat(world, lost.hold)).toMatchObject({kind: 'held'});
		await release(world, alice, {by: 'gpus', ids: [0]});
		await reserve(world, {requester: person('bob'), count: 1, ids: [0], durationSeconds: 60});
		expect(await beat(world, lost.hold)).toMatchObject({
			kind: 'lost',
			gpus: [{index: 0, holder: {user: 'bob'}}],
			hold: {gpus: []},
		});
		expect(stored(0)).toMatchObject({user: 'bob'});
	});

	test('does not take the lease of somebody else, granted in the same second, for its own', async () => {
		world.memory.state.gpus.set(0, JSON.stringify({user: 'bob', type: 'run', start_time: startTime}));
		expect(await beat(world, hold)).toMatchObject({kind: 'lost', gpus: [{index: 0}]});
		world.memory.state.gpus.set(0, JSON.stringify({user: 'alice', type: 'run', start_time: startTime, lease_id: 'b'}));
		expect(await beat(world, hold)).toMatchObject({kind: 'lost', gpus: [{index: 0}]});
	});
});

describe('after the store lost its data', () => {
	test('lease and pool are put back when both are gone', async () => {
		await beat(world, hold);
		loseData();
		expect(await beat(world, hold)).toMatchObject({kind: 'held'});
		const {rows, pool} = await look(world);
		expect(pool.gpuCount).toBe(4);
		expect(rows.map(({lease}) => lease?.leaseId)).toEqual(['lease-a', 'lease-a', undefined, undefined]);
		expect((await world.store.audit()).slice(-2)).toMatchObject([
			{kind: 'pool', account: 'alice', reason: 'restored', count: 4, provider: 'fake'},
			{kind: 'granted', account: 'alice', reason: 'restored', gpus: [0, 1]},
		]);
	});

	test('nothing is put back where a record tells that the GPU was released or taken', async () => {
		await release(world, alice, {by: 'gpus', ids: [0]});
		const before = stored(0);
		expect(await beat(world, hold)).toMatchObject({kind: 'lost', gpus: [{index: 0}], hold: {gpus: [1]}});
		expect(stored(0)).toEqual(before);
	});

	test('nothing is put back into a pool that was remade while the store ran on', async () => {
		await beat(world, hold);
		await makeAnew(true);
		expect(await beat(world, hold)).toMatchObject({kind: 'lost', gpus: [{index: 0}, {index: 1}]});
		loseData();
		await makeAnew();
		expect(await beat(world, hold)).toMatchObject({kind: 'lost', gpus: [{index: 0}, {index: 1}]});
	});

	test('it is put back beside another who was first, when the store has restarted since', async () => {
		await beat(world, hold);
		world.pass(10);
		loseData();
		await makeAnew();
		uptime = 3;
		expect(await beat(world, hold)).toMatchObject({kind: 'held'});
		expect(stored(0)).toMatchObject({lease_id: 'lease-a', job_pid: 2});
	});

	test('but not over somebody who has it by now, nor into a pool that became too small', async () => {
		await beat(world, hold);
		world.pass(10);
		loseData();
		await makeAnew();
		await reserve(world, {requester: person('bob'), count: 1, ids: [0], durationSeconds: 60});
		uptime = 3;
		expect(await beat(world, hold)).toMatchObject({
			kind: 'lost',
			gpus: [{index: 0, holder: {user: 'bob'}}, {index: 1}],
		});
		loseData();
		await makePool(world, {gpuCount: 1, provider: 'fake', force: false});
		expect(await beat(world, hold)).toMatchObject({kind: 'lost', gpus: [{index: 0}, {index: 1}]});
	});
});

describe('the end', () => {
	test('gives back what is still ours, with a whole record even where the peer cut it', async () => {
		await beat(world, hold);
		world.memory.state.gpus.set(
			0,
			JSON.stringify({user: 'alice', type: 'run', start_time: startTime, expiry_time: null}),
		);
		await release(world, alice, {by: 'gpus', ids: [1]});
		world.pass(1);
		expect(await finish(world, hold, 'exited')).toEqual([0]);
		expect(await historyOf(world.store)).toMatchObject([
			{gpuId: 1, endReason: 'released'},
			{gpuId: 0, endReason: 'exited', leaseId: 'lease-a', note: 'n'},
		]);
		expect(await finish(world, hold, 'exited')).toEqual([]);
	});

	test('of a lease that is gone before its command starts is told', async () => {
		await release(world, alice, {by: 'lease', leaseId: 'lease-a'});
		await expect(findHold(world, 'lease-a')).rejects.toMatchObject({code: 'failed'});
	});
});
