import {expect, test} from 'vitest';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {release, reserve} from '../../../source/core/operations/reservations.js';
import {undoableOf, undoRelease, type Released} from '../../../source/core/operations/undo.js';
import {planJoin, entryFor} from '../../../source/core/rules/queue/queue.js';
import {holdingsOn} from '../../../source/core/rules/leases/holdings.js';
import {undoneText} from '../../../source/format/queue/outcome.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import {testHost} from '../../_helpers/machine/host.js';
import {createTestWorld, person, startTime, type TestWorld} from '../../_helpers/world.js';
import {isLeased} from '../../_helpers/leased.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);

async function givenBack(world: TestWorld, ids: readonly number[] = [1, 2]): Promise<Released> {
	const granted = await reserve(world, {
		requester: person('alice', 'team a'),
		count: ids.length,
		ids,
		durationSeconds: 3600,
		note: 'eval',
	});
	expect(granted.kind).toBe('granted');
	world.pass(600);
	const {released} = await release(world, alice, {by: 'gpus', ids});
	const [undoable, ...others] = undoableOf(released);
	expect(others).toEqual([]);
	return undoable!;
}

const leasesOf = async (world: TestWorld) => {
	const {gpus} = await readCurrent(world);
	return gpus.map((record) => (record.kind === 'leased' ? record.lease : undefined));
};

test('undoRelease reserves the same GPUs again with the remaining time, note and label', async () => {
	const world = await createTestWorld();
	const released = await givenBack(world);
	world.pass(5);
	const undone = await undoRelease(world, alice, [released]);
	expect(undone).toMatchObject({
		undone: [{gpus: [1, 2], expiryTime: released.lease.expiryTime}],
		refused: [],
		over: [],
	});
	const leases = await leasesOf(world);
	expect(leases.map((lease) => lease?.user)).toEqual([undefined, 'team a', 'team a', undefined]);
	expect(leases[1]).toMatchObject({
		actualUser: 'alice',
		type: 'manual',
		note: 'eval',
		expiryTime: released.lease.expiryTime,
		startTime: world.now(),
	});
	// The lease gets a new id, because the usage record of the old lease exists already.
	expect(leases[1]!.leaseId).toBe(leases[2]!.leaseId);
	expect(leases[1]!.leaseId).not.toBe(released.lease.leaseId);
	const records = await Array.fromAsync(world.store.history(0, Infinity));
	expect(records.map(({gpuId, leaseId}) => [gpuId, leaseId])).toEqual([
		[1, released.lease.leaseId],
		[2, released.lease.leaseId],
	]);
});

test('undoRelease refuses if somebody else has taken one of the GPUs', async () => {
	const world = await createTestWorld();
	const released = await givenBack(world);
	await reserve(world, {requester: bob, count: 1, ids: [2], durationSeconds: 60});
	expect(await undoRelease(world, alice, [released])).toMatchObject({
		undone: [],
		refused: [{blocked: [{index: 2, block: {kind: 'leased', lease: {user: 'bob'}}}]}],
	});
	expect((await leasesOf(world)).map((lease) => lease?.user)).toEqual([undefined, undefined, 'bob', undefined]);
});

test('undoRelease does not overtake a queue entry', async () => {
	const world = await createTestWorld();
	const released = await givenBack(world);
	const tenure = {type: 'manual', durationSeconds: 60} as const;
	const options = {id: 'entry', requester: bob, wanted: {count: 1, ids: [1]}, tenure, waitSeconds: undefined};
	await world.store.commit(planJoin(entryFor(options, world.host, world.now()), 'box'));
	expect(await undoRelease(world, alice, [released])).toMatchObject({
		undone: [],
		refused: [{blocked: [{index: 1, block: {kind: 'queued'}}]}],
	});
});

test("an undo that exceeds the account's limit names the limit once for all reservations", async () => {
	const world = await createTestWorld();
	await changePolicy(world, person('root', 'root', 0), [{key: 'limits.max-gpus', value: '2'}]);
	const released = [await givenBack(world, [1]), await givenBack(world, [2])];
	await reserve(world, {requester: alice, count: 2, ids: [0, 3], durationSeconds: 3600});
	expect(undoneText(await undoRelease(world, alice, released))).toEqual({
		text: 'Not undone: alice holds 2 of at most 2 GPUs (limits.max-gpus=2)',
		done: 'none',
		gpus: [],
	});
});

test('an undo that exceeds the limit for agents names the limit', async () => {
	const world = await createTestWorld();
	await changePolicy(world, person('root', 'root', 0), [{key: 'agents.max-gpus', value: '1'}]);
	const request = {requester: alice, count: 1, durationSeconds: 600, via: 'mcp claude-code'};
	await reserve(world, request);
	const {released} = await release(world, alice, {by: 'label', label: 'alice'});
	await reserve(world, request);
	expect(undoneText(await undoRelease(world, alice, undoableOf(released))).text).toBe(
		'Not undone: agents hold 1 of at most 1 GPU together (agents.max-gpus=1)',
	);
});

test('an undo without the MIG instances of the reservation names them as the reason', () => {
	const need = {mig: {instances: [{gpu: 2, number: 1}]}};
	const refused = [{kind: 'refused', wanted: {count: 1, need}, available: 0, blocked: [], now: 0}] as const;
	expect(undoneText({undone: [], refused, over: []}).text).toBe(
		'Not undone: not all MIG instances of the reservation exist any longer',
	);
});

test('undoRelease refuses jobs, expired reservations and reservations of other accounts', async () => {
	const world = await createTestWorld();
	const released = await givenBack(world);
	await expect(undoRelease(world, bob, [released])).rejects.toMatchObject({code: 'not-owner'});
	const ofJob: Released = {...released, lease: {...released.lease, type: 'run', expiryTime: undefined}};
	await expect(undoRelease(world, alice, [ofJob])).rejects.toMatchObject({code: 'unavailable'});
	world.pass(3600);
	await expect(undoRelease(world, alice, [released])).rejects.toThrow('would have ended by now');
	expect(await leasesOf(world)).toEqual([undefined, undefined, undefined, undefined]);
});

/** Three reservations that are released together: GPU 0 for an hour, GPUs 1 and 2 for two hours, and GPU 3 of a job. */
async function givenBackTogether(world: TestWorld): Promise<readonly Released[]> {
	await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 3600});
	await reserve(world, {requester: alice, count: 2, ids: [1, 2], durationSeconds: 7200});
	await acquireNow(world, {requester: alice, count: 1, ids: [3], tenure: {type: 'run'}}, 'job');
	world.pass(600);
	const {gpus} = await readCurrent(world);
	const {released} = await release(world, alice, {by: 'leases', leases: gpus.filter(isLeased)});
	expect(released).toHaveLength(4);
	return undoableOf(released);
}

test('undoRelease restores several separate reservations in one commit, but no jobs', async () => {
	const world = await createTestWorld();
	const released = await givenBackTogether(world);
	expect(released.map(({gpus}) => gpus)).toEqual([[0], [1, 2]]);
	const {undone} = await undoRelease(world, alice, released);
	expect(undone.map(({gpus, expiryTime}) => [gpus, expiryTime])).toEqual([
		[[0], startTime + 3600],
		[[1, 2], startTime + 7200],
	]);
	const leases = await leasesOf(world);
	expect(leases.map((lease) => lease?.leaseId)).toEqual([
		undone[0]!.leaseId,
		undone[1]!.leaseId,
		undone[1]!.leaseId,
		undefined,
	]);
	expect(undone[0]!.leaseId).not.toBe(undone[1]!.leaseId);
	expect((await world.store.audit()).slice(-2)).toMatchObject([
		{kind: 'granted', gpus: [0], reason: 'undone'},
		{kind: 'granted', gpus: [1, 2], reason: 'undone'},
	]);
});

test('undoRelease restores the reservations whose GPUs are still free, and refuses the others', async () => {
	const world = await createTestWorld();
	const released = await givenBackTogether(world);
	await reserve(world, {requester: bob, count: 1, ids: [2], durationSeconds: 60});
	expect(await undoRelease(world, alice, released)).toMatchObject({
		undone: [{gpus: [0]}],
		refused: [{wanted: {ids: [1, 2]}, blocked: [{index: 2}]}],
	});
	expect((await leasesOf(world)).map((lease) => lease?.user)).toEqual(['alice', undefined, 'bob', undefined]);
});

test('undoRelease skips reservations that would have expired by now', async () => {
	const world = await createTestWorld();
	const released = await givenBackTogether(world);
	world.pass(3600);
	expect(await undoRelease(world, alice, released)).toMatchObject({undone: [{gpus: [1, 2]}], refused: [], over: [0]});
});

test('undoRelease keeps the groups of a reservation beyond the limit of a group', async () => {
	const base = await createTestWorld();
	const world = {
		...base,
		host: testHost({...base.host, groupsAmong: (names) => names.filter((name) => name === 'students')}),
	};
	await changePolicy(world, person('root', 'root', 0), [
		{key: 'limits.group.students.max-gpus', value: '2'},
		{key: 'limits.slack', value: 'on'},
	]);
	await reserve(world, {requester: alice, count: 2, ids: [0, 1], durationSeconds: 3600});
	await reserve(world, {requester: alice, count: 2, ids: [2, 3], durationSeconds: 3600});
	const marks = async () => (await leasesOf(world)).map((lease) => lease?.slack);
	const before = [undefined, undefined, {groups: ['students']}, {groups: ['students']}];
	expect(await marks()).toEqual(before);
	const {released} = await release(world, alice, {by: 'gpus', ids: [2, 3]});
	expect(await undoRelease(world, alice, undoableOf(released))).toMatchObject({undone: [{gpus: [2, 3]}]});
	expect(await marks()).toEqual(before);
});

test('undo restores a reservation without an earlier warning that it exceeds a limit', async () => {
	const world = await createTestWorld({gpuCount: 1});
	await reserve(world, {requester: alice, count: 1, durationSeconds: 3600});
	const [record] = (await readCurrent(world)).gpus;
	const [holding] = holdingsOn(record);
	const slack = {groups: [], warned: 1, deadline: 2};
	const [released] = undoableOf([{...holding!, lease: {...holding!.lease, slack}}]);
	expect(released!.lease.slack).toBeUndefined();
});
