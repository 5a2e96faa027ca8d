import {expect, test} from 'vitest';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {closePool, createPool} from '../../../source/core/operations/pool/create-pool.js';
import {readStatus, reserve} from '../../../source/core/operations/reservations.js';
import type {CommitOutcome} from '../../../source/core/model/ports.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createTestWorld, historyOf, person, type TestWorld} from '../../_helpers/world.js';

const request = {requester: person('alice'), count: 2, durationSeconds: 3600};

test('createPool records the machine of the pool', async () => {
	const world = await createTestWorld({gpuCount: 3});
	expect((await readStatus(world)).pool).toEqual({
		gpuCount: 3,
		provider: 'fake',
		machine: {id: 'machine-1', bootId: 'boot-1'},
	});
});

test('createPool without force does not change an existing pool', async () => {
	const world = await createTestWorld();
	await expect(createPool(world, {gpuCount: 8, provider: 'nvidia', force: false})).rejects.toMatchObject({
		code: 'pool-exists',
		exitCode: 1,
	});
	expect((await readStatus(world)).pool.gpuCount).toBe(4);
});

test("createPool never adopts another machine's pool, and with force replaces it only outside Redis", async () => {
	const world = await createTestWorld();
	const of = (kind: 'redis' | 'embedded') => ({
		...world,
		store: {...world.store, kind},
		host: {...world.host, machineId: 'machine-2', bootId: 'boot-2'},
	});
	const refusal = {code: 'wrong-machine', exitCode: 4};
	for (const kind of ['redis', 'embedded'] as const) {
		await expect(createPool(of(kind), {gpuCount: 4, provider: 'fake', force: false})).rejects.toMatchObject(refusal);
	}

	const forced = {gpuCount: 4, provider: 'fake', force: true} as const;
	await expect(createPool(of('redis'), forced)).rejects.toMatchObject(refusal);
	expect(await createPool(of('embedded'), forced)).toMatchObject({pool: {machine: {id: 'machine-2'}}});
});

test('a container recognizes the pool of its host after a reboot, and createPool with force keeps the id of the host', async () => {
	const world = await createTestWorld();
	const rebooted = {...world, host: {...world.host, bootId: 'boot-2'}};
	const container = {...world, host: {...rebooted.host, machineId: 'container'}};
	await expect(readStatus(container)).rejects.toMatchObject({
		code: 'wrong-machine',
		hint: expect.stringContaining('In a container') as string,
	});
	await readStatus(rebooted);
	expect((await readStatus(container)).pool.machine).toEqual({id: 'machine-1', bootId: 'boot-2'});
	await createPool(container, {gpuCount: 2, provider: 'fake', force: true});
	await readStatus({...world, host: {...world.host, bootId: 'boot-3'}});
	expect((await readStatus(world)).pool).toMatchObject({gpuCount: 2, machine: {id: 'machine-1'}});
});

test('a reboot is recorded once, without effect on commands if the store refuses writes or another command writes first', async () => {
	for (const answer of ['conflict', 'refused', 'moved'] as const) {
		let commits = 0;
		const world = await createTestWorld({
			wrap: (store) => ({
				...store,
				async commit(plan) {
					commits++;
					if (answer === 'moved') {
						await createPool({...world, store}, {gpuCount: 4, provider: 'amd', force: true});
						return store.commit(plan);
					}

					if (answer === 'refused') {
						throw new CanhazgpuError('store-refused', 'read-only');
					}

					return 'conflict';
				},
			}),
		});
		expect((await readStatus({...world, host: {...world.host, bootId: 'boot-2'}})).rows).toHaveLength(4);
		expect([answer, commits]).toEqual([answer, 1]);
		// The write that came first is kept.
		expect((await world.store.read()).pool).toMatchObject({
			provider: answer === 'moved' ? 'amd' : 'fake',
			machine: {bootId: 'boot-1'},
		});
	}
});

test('a reboot is not recorded without a boot id, or while a clone of the machine uses the pool', async () => {
	const world = await createTestWorld();
	await acquireNow(world, {requester: person('alice'), count: 1, tenure: {type: 'run'}}, 'job');
	for (const bootId of [undefined, 'boot-of-clone']) {
		await readStatus({...world, host: {...world.host, bootId}}).catch(() => undefined);
		expect((await world.store.read()).pool).toMatchObject({machine: {bootId: 'boot-1'}});
	}
});

test('createPool with force ends every lease and writes its usage record', async () => {
	const world = await createTestWorld();
	await reserve(world, request);
	world.memory.state.gpus.set(3, 'garbage');
	world.pass(60);
	expect(await createPool(world, {gpuCount: 2, provider: 'fake', force: true})).toMatchObject({
		pool: {gpuCount: 2},
		droppedLeases: 2,
	});
	expect(await historyOf(world.store)).toMatchObject([
		{gpuId: 0, endReason: 'pool-reset', durationSeconds: 60},
		{gpuId: 1, endReason: 'pool-reset'},
	]);
	expect((await readStatus(world)).rows.map(({state}) => state)).toEqual(['available', 'available']);
	expect(world.memory.state.gpus.keys().toArray()).toEqual([0, 1]);
});

test('createPool with force records the usage of expired reservations and crashed jobs up to their true end', async () => {
	const world = await createTestWorld();
	await reserve(world, {...request, count: 1, durationSeconds: 60});
	const job = {requester: person('bob'), count: 1, tenure: {type: 'run'}} as const;
	await acquireNow(world, job, 'job');
	world.processes.set(world.host.self.pid, 'dead');
	world.pass(3600);
	await createPool(world, {gpuCount: 2, provider: 'fake', force: true});
	expect(await historyOf(world.store)).toMatchObject([
		{user: 'alice', durationSeconds: 60, endReason: 'expired'},
		{user: 'bob', durationSeconds: 60, endReason: 'holder-died'},
	]);
});

test('createPool with force replaces an unreadable pool', async () => {
	const world = await createTestWorld();
	await reserve(world, request);
	world.memory.state.pool = {...world.memory.state.pool, gpuCount: 'many'};
	await expect(createPool(world, {gpuCount: 4, provider: 'fake', force: false})).rejects.toMatchObject({
		code: 'pool-garbage',
	});
	expect(await createPool(world, {gpuCount: 4, provider: 'fake', force: true})).toMatchObject({droppedLeases: 2});
	expect(await historyOf(world.store)).toHaveLength(2);
	// The previous values were unreadable.
	const recorded = (await world.store.audit()).filter(({kind}) => kind === 'pool');
	expect(recorded.map(({reason, count, before}) => [reason, count, before?.count])).toEqual([
		['made', 4, undefined],
		['remade', 4, undefined],
	]);
	await createPool(world, {gpuCount: 3, provider: 'amd', force: true});
	expect((await world.store.audit()).findLast(({kind}) => kind === 'pool')).toMatchObject({
		count: 3,
		provider: 'amd',
		before: {count: 4, provider: 'fake'},
	});
});

test('createPool with force never replaces an unreadable pool in Redis whose owner is another machine or unknown', async () => {
	const world = await createTestWorld();
	const store = {...world.store, kind: 'redis' as const};
	const other = {...world.host, machineId: 'machine-2', bootId: 'boot-2'};
	const forced = {gpuCount: 4, provider: 'fake', force: true} as const;
	const damaged = {...world.memory.state.pool, gpuCount: 'many'};
	world.memory.state.pool = damaged;
	await expect(createPool({...world, store, host: other}, forced)).rejects.toMatchObject({
		code: 'wrong-machine',
		message: expect.stringContaining('belongs to another machine (machine-1)') as string,
	});
	expect(world.memory.state.pool).toEqual(damaged);
	const unknown = {...world.memory.state.pool, machine: 'not JSON'};
	world.memory.state.pool = unknown;
	await expect(createPool({...world, store}, forced)).rejects.toMatchObject({
		code: 'pool-garbage',
		hint: expect.stringContaining('Nothing was changed, because it is unknown which machine owns the pool. ') as string,
	});
	expect(world.memory.state.pool).toEqual(unknown);
	world.memory.state.pool = damaged;
	expect(await createPool({...world, store}, forced)).toMatchObject({pool: {machine: {id: 'machine-1'}}});
});

test.each([0, -1, 1.5, NaN, 1025])('createPool rejects a pool of %d GPUs', async (gpuCount) => {
	const world = await createTestWorld();
	await expect(createPool(world, {gpuCount, provider: 'fake', force: true})).rejects.toMatchObject({exitCode: 2});
});

test('createPool retries after conflicting changes, but not forever', async () => {
	const world = await createTestWorld();
	const answers: CommitOutcome[] = ['conflict', 'conflict'];
	const store = {
		...world.store,
		commit: async (plan: Parameters<typeof world.store.commit>[0]) => answers.shift() ?? world.store.commit(plan),
	};
	await createPool({...world, store}, {gpuCount: 5, provider: 'fake', force: true});
	expect((await readStatus(world)).pool.gpuCount).toBe(5);
	const never = {...world.store, commit: async () => 'conflict' as const};
	await expect(
		createPool({...world, store: never}, {gpuCount: 6, provider: 'fake', force: true}),
	).rejects.toMatchObject({
		code: 'busy',
	});
});

test('createPool with fewer GPUs ends a lease that was granted during the command', async () => {
	let isLate = false;
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			async commit(plan) {
				if (plan.writes.some(({kind}) => kind === 'pool') && !isLate) {
					isLate = true;
					await reserve({...world, store}, {...request, count: 1, ids: [3]});
				}

				return store.commit(plan);
			},
		}),
	});
	expect(await createPool(world, {gpuCount: 2, provider: 'fake', force: true})).toMatchObject({droppedLeases: 1});
	expect(await historyOf(world.store)).toMatchObject([{gpuId: 3, endReason: 'pool-reset'}]);
	expect(world.memory.state.gpus.size).toBe(0);
});

test('if a grant and a move of the pool happen at the same moment, the second commit sees the first', async () => {
	const move = async (world: Pick<TestWorld, 'store' | 'host' | 'clock'>) => closePool(world, 'a file');
	for (const first of ['grant', 'move'] as const) {
		let isOther = false;
		const world = await createTestWorld({
			wrap: (store) => ({
				...store,
				async commit(plan) {
					if (isOther) {
						isOther = false;
						await (first === 'grant' ? reserve({...world, store}, request) : move({...world, store}));
					}

					return store.commit(plan);
				},
			}),
		});
		isOther = true;
		if (first === 'grant') {
			expect(await move(world)).toMatchObject({droppedLeases: 2});
		} else {
			await expect(reserve(world, request)).rejects.toMatchObject({code: 'wrong-machine'});
		}

		const {gpus} = await world.store.read();
		expect(gpus.map(({kind}) => kind)).toEqual(['free', 'free', 'free', 'free']);
	}
});
