/** Every grant applies the policy. A grant that was planned under an earlier policy is planned again. */
import {expect, test} from 'vitest';
import {adopt} from '../../../source/core/operations/adopt.js';
import {createPool} from '../../../source/core/operations/pool/create-pool.js';
import {changePolicy, replacePolicy} from '../../../source/core/operations/pool/policy.js';
import {release, reserve} from '../../../source/core/operations/reservations.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import type {Plan} from '../../../source/core/model/plan.js';
import type {Store} from '../../../source/core/model/ports.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../_helpers/world.js';

const root = person('root', 'root', 0);
const alice = person('alice');

const ask = async (world: TestWorld) => reserve(world, {requester: alice, count: 1, durationSeconds: 3600});

/** Creates a pool in which alice used GPU 0 last and GPU 1 has been free for longer. */
async function usedWorld(wrap?: (store: Store) => Store): Promise<TestWorld> {
	const world = await createTestWorld({gpuCount: 2, wrap});
	for (const id of [1, 0]) {
		await reserve(world, {requester: alice, count: 1, ids: [id], durationSeconds: 60});
		world.pass(1);
		await release(world, alice, {by: 'gpus', ids: [id]});
	}

	return world;
}

/** Returns a store wrapper that changes the strategy before the first granting commit that `isMeant` accepts. */
function changedBefore(isMeant: (plan: Plan) => boolean, made: TestWorld[]) {
	const plans: Plan[] = [];
	const wrap = (store: Store): Store => ({
		...store,
		async commit(plan) {
			if (plan.grants && isMeant(plan) && made.length > 0) {
				plans.push(plan);
				if (plans.length === 1) {
					await changePolicy(made[0]!, root, [{key: 'strategy', value: 'lru'}]);
				}
			}

			return store.commit(plan);
		},
	});
	return {plans, wrap};
}

test("the policy's strategy applies to new and to waiting requests", async () => {
	const world = await usedWorld();
	expect(await ask(world)).toMatchObject({gpus: [0]});
	await release(world, alice, {by: 'gpus', ids: [0]});
	await changePolicy(world, root, [{key: 'strategy', value: 'lru'}]);
	expect(await ask(world)).toMatchObject({gpus: [1]});
	expect(await ask(world)).toMatchObject({gpus: [0]});
	const waiting = acquire(
		world,
		{requester: alice, count: 1, tenure: {type: 'manual', durationSeconds: 60}},
		{waitSeconds: 60, signal: new AbortController().signal, onProgress: () => undefined},
	);
	await release(world, alice, {by: 'gpus', ids: [0]});
	world.pass(1);
	await release(world, alice, {by: 'gpus', ids: [1]});
	expect(await waiting).toMatchObject({kind: 'granted', gpus: [0]});
});

test('reserve applies the new policy if the policy changes between the read and the commit', async () => {
	const made: TestWorld[] = [];
	const {plans, wrap} = changedBefore(() => true, made);
	made.push(await usedWorld(wrap));
	expect(await ask(made[0]!)).toMatchObject({kind: 'granted', gpus: [1]});
	expect(plans.length).toBe(2);
});

test('waiting requests and adopt apply the new policy if the policy changes before the commit', async () => {
	const made: TestWorld[] = [];
	const {plans, wrap} = changedBefore(({audit}) => audit.some(({entryId}) => entryId !== undefined), made);
	const world = await usedWorld(wrap);
	await reserve(world, {requester: alice, count: 2, durationSeconds: 3600});
	made.push(world);
	const waiting = acquire(
		world,
		{requester: alice, count: 1, tenure: {type: 'manual', durationSeconds: 60}},
		{waitSeconds: 60, signal: new AbortController().signal, onProgress: () => undefined},
	);
	await release(world, alice, {by: 'gpus', ids: [0, 1]});
	expect(await waiting).toMatchObject({kind: 'granted'});
	expect(plans.length).toBeGreaterThanOrEqual(2);

	const others: TestWorld[] = [];
	const adopting = changedBefore(() => true, others);
	const box = await createTestWorld({gpuCount: 1, wrap: adopting.wrap});
	box.see(() => observationOf([{...idleReading(0), processes: [{pid: 7, user: 'alice', startTicks: 1}]}]));
	others.push(box);
	expect(await adopt(box, {requester: alice, pid: 7})).toMatchObject({gpus: [0]});
	expect(adopting.plans.length).toBe(2);
});

test('concurrent policy changes are both applied', async () => {
	const made: TestWorld[] = [];
	let isFirst = true;
	const world = await createTestWorld({
		wrap: (store): Store => ({
			...store,
			async commit(plan) {
				if (isFirst && plan.event?.kind === 'policy') {
					isFirst = false;
					await made[0]!.memory.commit({
						...plan,
						change: undefined,
						writes: [{kind: 'policy', policy: new Map([['of a later version', {value: 'x', since: 1}]])}],
						audit: [],
					});
				}

				return store.commit(plan);
			},
		}),
	});
	made.push(world);
	expect(await changePolicy(world, root, [{key: 'strategy', value: 'lru'}])).toEqual([
		{key: 'strategy', value: 'lru', before: undefined},
	]);
	expect((await world.store.read()).policy.keys().toArray()).toEqual(['of a later version', 'strategy']);
	expect((await world.store.audit()).filter(({kind}) => kind === 'policy')).toHaveLength(1);
});

test('an unreadable policy prevents grants of shares and of GPUs with leftover processes', async () => {
	const world = await usedWorld();
	await changePolicy(world, root, [{key: 'share', value: 'on'}]);
	const share = async () =>
		reserve(world, {requester: alice, count: 1, ids: [1], need: {shareMiB: 1024}, durationSeconds: 60});
	world.memory.state.policy = 'not json';
	await expect(share()).rejects.toMatchObject({
		code: 'pool-garbage',
		message: 'It is unknown whether GPUs can be shared in this pool: it is not JSON',
		hint: expect.stringContaining('canhazgpu admin --unset all --set KEY=VALUE') as string,
	});
	world.see(() =>
		observationOf([0, 1].map((gpu) => ({...idleReading(gpu), processes: gpu === 0 ? [{pid: 7, user: 'bob'}] : []}))),
	);
	world.pass(3);
	expect(await ask(world)).toMatchObject({kind: 'granted', gpus: [1]});
	expect(await ask(world)).toMatchObject({kind: 'refused', blocked: [{index: 0}, {index: 1}]});
	world.see(() => observationOf([0, 1].map((gpu) => idleReading(gpu))));
	await expect(changePolicy(world, root, [{key: 'strategy', value: 'lru'}])).rejects.toMatchObject({
		code: 'pool-garbage',
		hint: 'Nothing was changed. An administrator can replace it in one step: canhazgpu admin --unset all --set KEY=VALUE. See what was set: canhazgpu events',
	});
	expect(world.memory.state.policy).toBe('not json');
	expect(await replacePolicy(world, root)).toEqual([{key: 'all', value: undefined, before: undefined}]);
	expect(await replacePolicy(world, root)).toEqual([]);
	expect(await replacePolicy(world, root, [{key: 'strategy', value: 'lru'}])).toHaveLength(1);
	const recorded = (await world.store.audit()).filter(({kind}) => kind === 'policy');
	expect(recorded.map(({key, value}) => [key, value])).toEqual([
		['share', 'on'],
		['all', undefined],
		['strategy', 'lru'],
	]);
});

test('recreating the pool keeps its policy and drains', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await changePolicy(world, root, [{key: 'strategy', value: 'lru'}]);
	await createPool(world, {gpuCount: 1, provider: 'fake', force: true});
	expect((await world.store.read()).policy.get('strategy')).toMatchObject({value: 'lru', by: 'root'});
});
