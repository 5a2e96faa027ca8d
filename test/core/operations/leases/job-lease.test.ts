import {beforeEach, describe, expect, test} from 'vitest';
import {createPool} from '../../../../source/core/operations/pool/create-pool.js';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {
	sendHeartbeat,
	findJobLease,
	endJobLease,
	withJob,
	type JobLease,
} from '../../../../source/core/operations/job-lease.js';
import {readStatus, release, reserve} from '../../../../source/core/operations/reservations.js';
import type {Store} from '../../../../source/core/model/ports.js';
import {createRestoringStore} from '../../../../source/core/live/restoring-store.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../../../_helpers/world.js';

const alice = person('alice');
const job = {pid: 2, startTicks: 22};

let world: TestWorld;
let commits: number;
let jobLease: JobLease;

const stored = (index: number) =>
	JSON.parse(world.memory.state.gpus.get(index) ?? 'null') as Record<string, unknown> | undefined;

const loseData = () => {
	const {state} = world.memory;
	state.gpus.clear();
	state.entries.clear();
	state.queue.length = 0;
	state.pool = {gpuCount: undefined, provider: undefined, machine: undefined};
	state.revision = undefined;
};

const makeAgain = async (force = false) => createPool(world, {gpuCount: 4, provider: 'fake', force});

beforeEach(async () => {
	commits = 0;
	world = await createTestWorld({
		wrap: (store: Store): Store => ({
			...store,
			async commit(plan) {
				commits++;
				return store.commit(plan);
			},
		}),
	});
	await acquireNow(world, {requester: alice, count: 2, tenure: {type: 'run'}, note: 'n'}, 'lease-a');
	jobLease = withJob(await findJobLease(world, 'lease-a'), job);
	commits = 0;
});

describe('the heartbeat of a job', () => {
	test("records the job's process at once, and later writes only once a minute", async () => {
		expect(await sendHeartbeat(world, jobLease)).toMatchObject({kind: 'held'});
		expect(stored(1)).toMatchObject({job_pid: 2, job_pid_start: 22, pid: 1});
		expect(commits).toBe(1);
		world.pass(59);
		await sendHeartbeat(world, jobLease);
		expect(commits).toBe(1);
		world.pass(1);
		await sendHeartbeat(world, jobLease);
		expect(commits).toBe(2);
		expect(stored(0)).toMatchObject({last_heartbeat: startTime + 60, start_time: startTime});
	});

	test('keeps fields that other programs wrote into the record', async () => {
		await sendHeartbeat(world, jobLease);
		world.memory.state.gpus.set(0, JSON.stringify({...stored(0), note: 'changed', later: {version: 2}}));
		world.pass(60);
		await sendHeartbeat(world, jobLease);
		expect(stored(0)).toMatchObject({note: 'changed', later: {version: 2}, last_heartbeat: startTime + 60});
	});

	test('keeps the earlier start time of a GPU that was held while the job waited', async () => {
		world.memory.state.gpus.set(1, JSON.stringify({...stored(1), start_time: startTime - 500}));
		jobLease = withJob(await findJobLease(world, 'lease-a'), job);
		world.pass(61);
		await sendHeartbeat(world, jobLease);
		world.memory.state.gpus.set(
			1,
			JSON.stringify({
				user: 'alice',
				type: 'run',
				start_time: new Date((startTime - 500) * 1000).toISOString(),
				later: {version: 2},
			}),
		);
		expect(await sendHeartbeat(world, jobLease)).toMatchObject({kind: 'held'});
		expect([stored(0)!['start_time'], stored(1)!['start_time']]).toEqual([startTime, startTime - 500]);
		expect(stored(1)).toMatchObject({lease_id: 'lease-a', job_pid: 2, note: 'n', later: {version: 2}});
	});

	test('restores a record that the Go canhazgpu rewrote before the job started', async () => {
		const granted = await findJobLease(world, 'lease-a');
		const rewritten = {user: 'alice', type: 'run', start_time: startTime, last_heartbeat: startTime};
		world.memory.state.gpus.set(0, JSON.stringify(rewritten));
		expect(await sendHeartbeat(world, granted)).toMatchObject({kind: 'held'});
		expect(stored(0)).toMatchObject({lease_id: 'lease-a', pid: 1});
	});

	test('reports each lost GPU and its new holder once', async () => {
		await release(world, alice, {by: 'gpus', ids: [1]});
		const lost = await sendHeartbeat(world, jobLease);
		expect(lost).toMatchObject({kind: 'lost', gpus: [{index: 1, holder: undefined}], jobLease: {gpus: [0]}});
		expect(await sendHeartbeat(world, lost.jobLease)).toMatchObject({kind: 'held'});
		await release(world, alice, {by: 'gpus', ids: [0]});
		await reserve(world, {requester: person('bob'), count: 1, ids: [0], durationSeconds: 60});
		expect(await sendHeartbeat(world, lost.jobLease)).toMatchObject({
			kind: 'lost',
			gpus: [{index: 0, holder: {user: 'bob'}}],
			jobLease: {gpus: []},
		});
		expect(stored(0)).toMatchObject({user: 'bob'});
	});

	test('does not renew another lease that was granted in the same second', async () => {
		world.memory.state.gpus.set(0, JSON.stringify({user: 'bob', type: 'run', start_time: startTime}));
		expect(await sendHeartbeat(world, jobLease)).toMatchObject({kind: 'lost', gpus: [{index: 0}]});
		world.memory.state.gpus.set(0, JSON.stringify({user: 'alice', type: 'run', start_time: startTime, lease_id: 'b'}));
		expect(await sendHeartbeat(world, jobLease)).toMatchObject({kind: 'lost', gpus: [{index: 0}]});
	});
});

describe('a GPU whose lease was ended while its job still runs', () => {
	const free = (index: number, record: unknown) => {
		world.memory.state.gpus.set(index, JSON.stringify(record));
	};

	const at = (seconds: number) => new Date((startTime + seconds) * 1000).toISOString();

	beforeEach(async () => {
		const answer = await sendHeartbeat(world, jobLease);
		jobLease = answer.jobLease;
		world.pass(30);
	});

	test.each([
		['no reason, as written by an earlier version or the Go canhazgpu', {last_released: at(20)}, undefined, 20],
		[
			'a reboot that did not happen',
			{last_released: at(20), ended: {reason: 'reboot', lease_id: 'lease-a'}},
			'reboot',
			20,
		],
		[
			'an expiry, which a job does not have',
			{last_released: at(25), ended: {reason: 'expired', lease_id: 'lease-a'}},
			'expired',
			25,
		],
		[
			'the end of an earlier lease, before the job started',
			{last_released: at(-50), ended: {reason: 'released', lease_id: 'lease-0'}},
			'released',
			0,
		],
		[
			'the end of an earlier lease, after the job started',
			{last_released: at(29), ended: {reason: 'expired', lease_id: 'lease-0'}},
			'expired',
			0,
		],
		['none', {}, undefined, 0],
	])('is taken back in one commit if its record shows this end of the lease: %s', async (_, record, reason, start) => {
		free(0, record);
		commits = 0;
		const answer = await sendHeartbeat(world, jobLease);
		expect(answer).toMatchObject({kind: 'held', takenBack: [{index: 0, reason}], jobLease: {gpus: [0, 1]}});
		expect(commits).toBe(1);
		// The time before the mistaken end is not counted again.
		expect(stored(0)).toMatchObject({lease_id: 'lease-a', job_pid: 2, start_time: startTime + start, user: 'alice'});
		expect((await world.store.audit()).at(-1)).toMatchObject({
			kind: 'granted',
			account: 'alice',
			gpus: [0],
			leaseId: 'lease-a',
			reason: 'taken back',
		});
		expect(await sendHeartbeat(world, answer.jobLease)).toMatchObject({kind: 'held', takenBack: []});
		await endJobLease(world, answer.jobLease, 'exited');
		expect(await historyOf(world.store)).toMatchObject([
			{gpuId: 0, startTime: startTime + start, endTime: startTime + 30},
			{gpuId: 1, startTime, endTime: startTime + 30},
		]);
	});

	test.each(['released', 'pool-reset', 'exited'])(
		'stays free if its lease ended with the reason "%s"',
		async (reason) => {
			free(0, {last_released: at(20), ended: {reason, lease_id: 'lease-a'}});
			const before = stored(0);
			expect(await sendHeartbeat(world, jobLease)).toMatchObject({
				kind: 'lost',
				gpus: [{index: 0}],
				jobLease: {gpus: [1]},
				takenBack: [],
			});
			expect(stored(0)).toEqual(before);
		},
	);

	test('stays free after a release and a later lease', async () => {
		await release(world, alice, {by: 'gpus', ids: [0, 1]});
		await reserve(world, {requester: person('bob'), count: 1, ids: [0], durationSeconds: 60});
		await release(world, person('bob'), {by: 'gpus', ids: [0]});
		free(1, {last_released: at(30)});
		expect(await sendHeartbeat(world, jobLease)).toMatchObject({
			kind: 'lost',
			gpus: [{index: 0}, {index: 1}],
			takenBack: [],
		});
	});

	test('is taken back even if the audit log cannot be read', async () => {
		const mute: TestWorld = {
			...world,
			store: {
				...world.store,
				async audit() {
					throw new CanhazgpuError('store-refused', 'no audit log');
				},
			},
		};
		free(0, {last_released: at(20)});
		expect(await sendHeartbeat(mute, jobLease)).toMatchObject({kind: 'held', takenBack: [{index: 0}]});
	});

	test('is not taken back if somebody else reserves it first', async () => {
		free(0, {});
		let isFirst = true;
		const raced: TestWorld = {
			...world,
			store: {
				...world.store,
				async commit(plan) {
					if (isFirst) {
						isFirst = false;
						await reserve(world, {requester: person('bob'), count: 1, ids: [0], durationSeconds: 60});
					}

					return world.store.commit(plan);
				},
			},
		};
		expect(await sendHeartbeat(raced, jobLease)).toMatchObject({
			kind: 'lost',
			gpus: [{index: 0, holder: {user: 'bob'}}],
			takenBack: [],
		});
		expect(stored(0)).toMatchObject({user: 'bob'});
	});
});

describe('a job after the store lost its data', () => {
	/** The world of a process that keeps running and remembers the pool. */
	let staying: TestWorld;

	beforeEach(async () => {
		staying = {...world, store: createRestoringStore(world.store, world)};
		const answer = await sendHeartbeat(staying, jobLease);
		jobLease = answer.jobLease;
		world.pass(10);
	});

	test('restores the lease and the pool if both are lost', async () => {
		loseData();
		expect(await sendHeartbeat(staying, jobLease)).toMatchObject({kind: 'held', takenBack: []});
		const {rows, pool} = await readStatus(world);
		expect(pool.gpuCount).toBe(4);
		expect(rows.map(({lease}) => lease?.leaseId)).toEqual(['lease-a', 'lease-a', undefined, undefined]);
		expect((await world.store.audit()).slice(-2)).toMatchObject([
			{kind: 'pool', account: 'alice', reason: 'restored', count: 4, provider: 'fake'},
			{kind: 'granted', account: 'alice', reason: 'restored', gpus: [0, 1]},
		]);
	});

	test('fails with a hint if its grant is newer than the restored data', async () => {
		await acquireNow(world, {requester: alice, count: 1, tenure: {type: 'run'}}, 'lease-b');
		await release(world, alice, {by: 'gpus', ids: [2]});
		await expect(findJobLease(staying, 'lease-b')).rejects.toMatchObject({
			hint: 'Somebody released them, or the pool was replaced. Try again.',
		});
		await acquireNow(world, {requester: alice, count: 1, tenure: {type: 'run'}}, 'lease-c');
		loseData();
		await expect(findJobLease(staying, 'lease-c')).rejects.toMatchObject({
			code: 'failed',
			hint: 'The store lost its data, and the restored copy is older than this reservation. Try again.',
		});
	});

	test('restores its lease only after the pool is recreated if its process remembers only the lease', async () => {
		loseData();
		await expect(sendHeartbeat(world, jobLease)).rejects.toMatchObject({code: 'no-pool'});
		await makeAgain();
		expect(await sendHeartbeat(world, jobLease)).toMatchObject({kind: 'held', takenBack: [{index: 0}, {index: 1}]});
	});

	test('does not restore its lease into a pool that was recreated with --force', async () => {
		await makeAgain(true);
		expect(await sendHeartbeat(staying, jobLease)).toMatchObject({kind: 'lost', gpus: [{index: 0}, {index: 1}]});
	});

	test('restores its lease into a recreated pool', async () => {
		loseData();
		await makeAgain();
		expect(await sendHeartbeat(staying, jobLease)).toMatchObject({kind: 'held'});
		expect(stored(0)).toMatchObject({lease_id: 'lease-a', job_pid: 2});
	});

	test('does not restore its lease over another holder or outside of a smaller pool', async () => {
		loseData();
		await makeAgain();
		await reserve(world, {requester: person('bob'), count: 1, ids: [0], durationSeconds: 60});
		const answer = await sendHeartbeat(staying, jobLease);
		expect(answer).toMatchObject({
			kind: 'lost',
			gpus: [{index: 0, holder: {user: 'bob'}}],
			jobLease: {gpus: [1]},
		});
		loseData();
		await createPool(world, {gpuCount: 1, provider: 'fake', force: false});
		expect(await sendHeartbeat(staying, answer.jobLease)).toMatchObject({kind: 'lost', gpus: [{index: 1}]});
	});
});

describe('the end of a job', () => {
	test('releases the GPUs that the job still holds and writes their usage records', async () => {
		await sendHeartbeat(world, jobLease);
		world.memory.state.gpus.set(
			0,
			JSON.stringify({user: 'alice', type: 'run', start_time: startTime, expiry_time: null}),
		);
		await release(world, alice, {by: 'gpus', ids: [1]});
		world.pass(1);
		expect(await endJobLease(world, jobLease, 'exited')).toEqual([0]);
		expect(await historyOf(world.store)).toMatchObject([
			{gpuId: 1, endReason: 'released'},
			{gpuId: 0, endReason: 'exited', leaseId: 'lease-a', note: 'n'},
		]);
		expect(await endJobLease(world, jobLease, 'exited')).toEqual([]);
	});

	test('findJobLease fails if the lease is lost before the command starts', async () => {
		await release(world, alice, {by: 'lease', leaseId: 'lease-a'});
		await expect(findJobLease(world, 'lease-a')).rejects.toMatchObject({code: 'failed'});
	});
});
