import {beforeEach, expect, test} from 'vitest';
import {adopt, type AdoptRequest} from '../../../source/core/operations/adopt.js';
import {readStatus, release, reserve} from '../../../source/core/operations/reservations.js';
import type {GpuProcess} from '../../../source/core/model/types.js';
import {splitReading} from '../../_helpers/mig-box.js';
import {
	createTestWorld,
	historyOf,
	idleReading,
	observationOf,
	person,
	startTime,
	type TestWorld,
} from '../../_helpers/world.js';

const alice = person('alice');
const root = person('root', 'root', 0);

const training: GpuProcess = {pid: 700, startTicks: 7007, user: 'alice', name: 'python3', memoryUsedMiB: 9000};

let world: TestWorld;

/** Makes scans report this process on GPUs 1 and 3. */
const seeProcess = (process: GpuProcess) => {
	world.see(() =>
		observationOf(
			Array.from({length: 4}, (_, index) =>
				index % 2 === 1 ? {...idleReading(index), memoryUsedMiB: 9000, processes: [process]} : idleReading(index),
			),
		),
	);
};

const adopting = async (changes: Partial<AdoptRequest> = {}) => adopt(world, {requester: alice, pid: 700, ...changes});

const refusal = async (changes: Partial<AdoptRequest>, code: string, message: string) => {
	await expect(adopting(changes)).rejects.toMatchObject({code, message});
	expect((await readStatus(world)).rows.filter(({lease}) => lease?.type === 'run')).toEqual([]);
};

beforeEach(async () => {
	world = await createTestWorld();
	seeProcess(training);
});

test('adopt reserves the GPUs that a process uses until the process ends', async () => {
	expect(await adopting({note: 'found'})).toEqual({
		gpus: [1, 3],
		leaseId: expect.any(String) as unknown,
		owner: 'alice',
		name: 'python3',
	});
	const {rows} = await readStatus(world);
	expect(rows.map(({owner}) => owner)).toEqual([undefined, 'alice', undefined, 'alice']);
	expect(rows[1]!.lease).toMatchObject({
		type: 'run',
		startTime,
		note: 'found',
		job: {pid: 700, startTicks: 7007},
		holder: undefined,
		machine: 'machine-1',
		bootId: 'boot-1',
	});
	world.pass(100_000);
	expect((await readStatus(world)).rows[3]!.owner).toBe('alice');
	// The state of a hidden process is unknown, so its lease does not end.
	world.processes.set(700, 'unknown');
	world.pass(100_000);
	expect((await readStatus(world)).rows[3]!.owner).toBe('alice');
	world.processes.set(700, 'dead');
	expect((await readStatus(world)).rows.map(({lease}) => lease)).toEqual([undefined, undefined, undefined, undefined]);
	expect((await historyOf(world.store)).map(({gpuId, endReason}) => [gpuId, endReason])).toEqual([
		[1, 'holder-died'],
		[3, 'holder-died'],
	]);
});

test('the usage record of an adopted process ends at the reboot of its machine', async () => {
	await adopting();
	world.pass(200_000);
	const after = {...world, host: {...world.host, bootId: 'boot-2', uptimeSeconds: () => 50_000}};
	expect((await readStatus(after)).rows.map(({lease}) => lease)).toEqual([undefined, undefined, undefined, undefined]);
	expect((await historyOf(world.store)).map(({endReason, endTime}) => [endReason, endTime])).toEqual([
		['reboot', startTime + 150_000],
		['reboot', startTime + 150_000],
	]);
});

test('the owner of the process can release an adopted lease', async () => {
	await adopting();
	const {released} = await release(world, alice, {by: 'gpus', ids: [1, 3]});
	expect(released).toHaveLength(2);
});

test('adopt as root reserves the GPUs for the owner of the process, with the label that root chooses', async () => {
	expect(await adopting({requester: root, label: 'team'})).toMatchObject({owner: 'alice'});
	expect((await readStatus(world)).rows[1]).toMatchObject({owner: 'alice', label: 'team'});
});

test('adopt refuses processes of other accounts', async () => {
	await refusal({requester: person('bob', 'alice', 1001)}, 'not-owner', 'Process 700 belongs to alice');
});

test('adopt refuses a process with an unknown owner or start time', async () => {
	for (const hidden of [
		{...training, user: undefined},
		{...training, startTicks: undefined},
	]) {
		seeProcess(hidden);
		await refusal({requester: root}, 'not-owner', 'The owner of process 700 is unknown');
	}
});

test('adopt refuses a process that does not exist or uses no GPU', async () => {
	world.processes.set(701, 'dead');
	await refusal({pid: 701}, 'not-found', 'There is no process 701');
	await refusal({pid: 702}, 'not-found', 'Process 702 uses no GPU, according to the GPU tool');
});

test('adopt refuses a later process that reuses the pid', async () => {
	await refusal({startTicks: 7006}, 'not-found', 'Process 700 has ended, and another process has its pid now');
	expect(await adopting({startTicks: 7007})).toMatchObject({gpus: [1, 3]});
});

test('adopt reserves the MIG instance that a process uses, even if another instance of the GPU is held', async () => {
	const onInstance = (gpuInstanceId: number) => ({...training, gpuInstanceId, computeInstanceId: 0});
	const see = (gpuInstanceId: number) => {
		world.see(() =>
			observationOf([{...splitReading(0, ['1g.10gb', '1g.10gb']), processes: [onInstance(gpuInstanceId)]}]),
		);
	};

	see(2);
	const need = {mig: {instances: [{gpu: 0, number: 0}]}};
	const answer = await reserve(world, {requester: person('bob'), count: 1, need, durationSeconds: 60});
	expect(answer).toMatchObject({kind: 'granted'});
	expect(await adopting()).toMatchObject({gpus: [0], instances: [{gpu: 0, number: 1}]});
	see(1);
	await expect(adopting()).rejects.toMatchObject({
		code: 'unavailable',
		message: 'Instance 0:0 is already held by bob',
	});
});

test('adopt refuses a process whose GPU is reserved', async () => {
	await reserve(world, {requester: person('bob'), count: 1, ids: [3], durationSeconds: 60, force: true});
	await refusal({}, 'unavailable', 'GPU 3 is already held by bob');
	world.memory.state.gpus.set(3, 'rubbish');
	await refusal({}, 'unavailable', 'GPU 3 has an unreadable record: it is not JSON');
	world.memory.state.gpus.delete(3);
	await adopting();
	await expect(adopting()).rejects.toMatchObject({code: 'unavailable', message: 'GPU 1 is already held by alice'});
});

test('adopt fails if the GPUs cannot be scanned', async () => {
	world.see(() => observationOf([], {failure: {message: 'the tool hangs', hint: 'fix it'}}));
	await refusal({}, 'provider', 'The GPUs cannot be read: the tool hangs');
});

test('adopt refuses a process on a GPU outside of the pool', async () => {
	world = await createTestWorld({gpuCount: 2});
	seeProcess(training);
	await refusal({}, 'unavailable', 'GPU 3 is not in this pool');
});
