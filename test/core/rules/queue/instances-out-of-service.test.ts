/** MIG instances in use without a reservation. As with whole GPUs, entries that wait for them block nobody. */
import {expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import type {GpuReading} from '../../../../source/core/model/types.js';
import {holdingsIn} from '../../../../source/core/rules/leases/holdings.js';
import {usedPatienceSeconds} from '../../../../source/core/rules/queue/out-of-service.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import type {Wanted} from '../../../../source/core/rules/request/request.js';
import {estimateText, stuckText} from '../../../../source/format/queue/why.js';
import {queueJson} from '../../../../source/format/tables/queue-table.js';
import {splitReading} from '../../../_helpers/mig-box.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';
import {entriesOf, requestOf, settle} from '../../operations/waiting/_settle.js';

const instances = (...numbers: readonly number[]): Wanted => ({
	count: numbers.length,
	need: {mig: {instances: numbers.map((number) => ({gpu: 0, number}))}},
});

/** A scan with these instances in unreserved use. */
const withUsed = (reading: GpuReading, ...used: readonly number[]): GpuReading => ({
	...reading,
	processes: used.map((number) => ({pid: 70 + number, user: 'eve', gpuInstanceId: number + 1, computeInstanceId: 0})),
	migInstances: reading.migInstances!.map((instance) =>
		used.includes(instance.number!) ? {...instance, memoryUsedMiB: 8000} : instance,
	),
});

const split = splitReading(0, ['1g.10gb', '1g.10gb', '1g.10gb']);

async function createBox() {
	const world = await createTestWorld({gpuCount: 2});
	const see = (reading: GpuReading, other = idleReading(1)) => {
		world.see(() => observationOf([reading, other]));
	};

	see(split);
	return {world, see};
}

async function join(world: TestWorld, id: string, wanted: Wanted): Promise<void> {
	const observation = await world.gpus.observe();
	await joinQueue(world, {id, request: requestOf(id, wanted), waitSeconds: undefined, observation});
}

/** Lists each leased instance with its lease, such as `0:1 lease-a`. */
const heldIn = async (world: TestWorld): Promise<readonly string[]> =>
	holdingsIn((await readCurrent(world)).gpus).map(
		({index, lease}) => `${index}:${lease.mig?.number ?? '-'} ${lease.partialQueueId ?? lease.leaseId}`,
	);

test('an entry that waits for a MIG instance in unreserved use does not block other instances', async () => {
	const {world, see} = await createBox();
	see(withUsed(split, 1));
	await join(world, 'first', instances(0, 1));
	await join(world, 'second', instances(0));
	await settle(world);
	expect(await heldIn(world)).toEqual(['0:0 lease-second']);
	await release(world, person('second'), {by: 'gpus', ids: [0]});
	expect(await acquireNow(world, requestOf('carol', instances(0)), 'newcomer')).toMatchObject({kind: 'granted'});
	const [row] = queueRows(await readCurrent(world));
	expect(row).toMatchObject({id: 'first', outOfService: [0]});
	expect(stuckText(row!)).toBe(
		'waits for MIG instance 0:1, which is out of service: used by eve without a reservation; others can use its GPUs in the meantime',
	);
	expect(estimateText(row!)).toBe('when MIG instance 0:1 is back in service');
	expect(queueJson([row!]).entries[0]).toMatchObject({
		out_of_service: [0],
		waits_for: [{gpu_id: 0, instance: 1, kind: 'used', reason: 'used by eve without a reservation'}],
	});
	see(split);
	await join(world, 'third', instances(1));
	await settle(world);
	// The first entry has claimed the instance again.
	expect((await heldIn(world)).toSorted()).toEqual(['0:0 newcomer', '0:1 first']);
	await release(world, person('carol'), {by: 'gpus', ids: [0]});
	await settle(world);
	expect((await heldIn(world)).toSorted()).toEqual(['0:0 lease-first', '0:1 lease-first']);
});

test('later entries can take a held MIG instance if another required instance is in unreserved use for five minutes', async () => {
	const {world, see} = await createBox();
	await acquireNow(world, requestOf('alice', instances(1, 2)), 'alices');
	await join(world, 'first', instances(0, 1));
	await settle(world);
	expect(await heldIn(world)).toContain('0:0 first');
	see(withUsed(split, 1));
	await release(world, person('alice'), {by: 'gpus', ids: [0]});
	await settle(world);
	expect(await heldIn(world)).toEqual(['0:0 first']);
	await join(world, 'second', instances(0));
	await settle(world);
	expect(queueRows(await readCurrent(world))[0]).toMatchObject({keepsHoldings: true, held: [0]});
	expect(await heldIn(world)).toEqual(['0:0 first']);
	world.pass(usedPatienceSeconds + 1);
	await settle(world);
	expect(await heldIn(world)).toEqual(['0:0 lease-second']);
	expect(entriesOf(await readCurrent(world)).map(({id}) => id)).toEqual(['first']);
});

test('a leased MIG instance never counts as out of service, whatever runs on it', async () => {
	const {world, see} = await createBox();
	await acquireNow(world, requestOf('alice', instances(1)), 'alices');
	see(withUsed(split, 1));
	await join(world, 'first', instances(0, 1));
	await join(world, 'second', instances(0));
	await settle(world);
	expect((await heldIn(world)).toSorted()).toEqual(['0:0 first', '0:1 alices']);
});

test.each([
	['whose MIG mode waits for a reset', (): GpuReading => ({...idleReading(1), isMigPending: true})],
	[
		'whose MIG mode cannot be read',
		(): GpuReading => ({...idleReading(1), unknown: {isMigEnabled: '[Unknown Error]'}}),
	],
] as const)('a GPU %s blocks only entries that cannot be served without that GPU', async (_, reading) => {
	const {world, see} = await createBox();
	see(idleReading(0));
	await acquireNow(world, requestOf('alice', {count: 1, ids: [1]}), 'alices');
	await join(world, 'first', {count: 2});
	await settle(world);
	expect((await heldIn(world)).toSorted()).toEqual(['0:- first', '1:- alices']);
	see(idleReading(0), reading());
	await release(world, person('alice'), {by: 'gpus', ids: [1]});
	await settle(world);
	world.pass(usedPatienceSeconds + 1);
	expect(await acquireNow(world, requestOf('carol', {count: 1}), 'newcomer')).toMatchObject({
		kind: 'granted',
		gpus: [0],
	});
	see(idleReading(0));
	await settle(world);
	expect((await heldIn(world)).toSorted()).toEqual(['0:- newcomer', '1:- first']);
});

test('an entry for MIG instances of a GPU that cannot be read is unknown, not impossible', async () => {
	const {world, see} = await createBox();
	see({...split, failure: 'the GPU tool does not answer'});
	await join(world, 'first', {count: 1, need: {mig: {profile: '1g.10gb'}}});
	const [row] = queueRows(await readCurrent(world));
	expect(row).toMatchObject({isPossible: true, isUnknown: true});
	expect(estimateText(row!)).toBe('unknown: too little of this pool is known to qualify');
});
