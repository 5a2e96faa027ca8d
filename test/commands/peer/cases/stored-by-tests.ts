/** Tests of the Go program with a real store: the queue, the history and the owners of GPUs. */
import {Redis} from 'ioredis';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {findJobLease, sendHeartbeat} from '../../../../source/core/operations/job-lease.js';
import {readStatus} from '../../../../source/core/operations/reservations.js';
import {emptyPlan, type Write} from '../../../../source/core/model/plan.js';
import type {Store} from '../../../../source/core/model/ports.js';
import type {QueueEntry, UsageRecord} from '../../../../source/core/model/types.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {queueJson} from '../../../../source/format/tables/queue-table.js';
import {openRedisStore} from '../../../../source/store/redis/index.js';
import {keys} from '../../../../source/store/redis/keys.js';
import {startRedis} from '../../../_helpers/store/redis-server.js';
import {createTestWorld, person, startTime, type TestWorld} from '../../../_helpers/world.js';
import {refused, type Case, type Group} from './group.js';

const hour = 3600;

const entryOf = (id: string, changes: Partial<QueueEntry> = {}): QueueEntry => ({
	id,
	user: 'alice',
	requestedCount: 1,
	requestedIds: [],
	allocatedGpus: [],
	reservationType: 'run',
	enqueueTime: startTime,
	lastHeartbeat: startTime,
	...changes,
});

async function write({memory}: Pick<TestWorld, 'memory'>, ...writes: readonly Write[]): Promise<void> {
	await memory.commit({...emptyPlan, writes});
}

/** Returns the queue in order. */
const waiting = async ({store}: Pick<TestWorld, 'store'>): Promise<readonly string[]> =>
	queueJson(queueRows(await store.read())).entries.map(({id}) => id);

async function queueCases(): Promise<readonly Case[]> {
	const world = await createTestWorld();
	for (const id of ['entry-1', 'entry-2', 'entry-3']) {
		await write(world, {kind: 'join', entry: entryOf(id)});
	}

	const order = await waiting(world);
	await write(world, {kind: 'leave', id: 'entry-1'});
	const afterLeaving = await waiting(world);

	const parts = await createTestWorld();
	await write(parts, {kind: 'join', entry: entryOf('partial', {requestedCount: 4})});
	await write(parts, {kind: 'entry', entry: entryOf('partial', {requestedCount: 4, allocatedGpus: [0, 1]})});
	const partial = await parts.store.readEntry('partial');

	const totals = await createTestWorld();
	await write(
		totals,
		{kind: 'join', entry: entryOf('first', {requestedCount: 3, allocatedGpus: [0, 1]})},
		...[0, 1].map((index): Write => ({
			kind: 'lease',
			index,
			lease: {user: 'alice', type: 'run', startTime, partialQueueId: 'first'},
		})),
	);
	await write(totals, {kind: 'join', entry: entryOf('second', {user: 'bob', requestedCount: 2})});
	const {total_waiting, total_gpus_requested, total_gpus_allocated} = queueJson(queueRows(await totals.store.read()));

	const ids = await createTestWorld({gpuCount: 6});
	await write(ids, {kind: 'join', entry: entryOf('ids', {requestedCount: 0, requestedIds: [1, 3, 5]})});
	const byIds = queueJson(queueRows(await ids.store.read()));

	// After two minutes without a heartbeat, an invisible entry is watched and then dropped.
	const stale = await createTestWorld();
	await write(stale, {kind: 'join', entry: entryOf('stale', {lastHeartbeat: startTime - 5 * 60})});
	await readStatus(stale);
	stale.pass(45);
	await write(stale, {kind: 'join', entry: entryOf('fresh', {lastHeartbeat: stale.now()})});
	await readStatus(stale);

	return [
		['in the order of coming', ['entry-1', 'entry-2', 'entry-3'], order],
		['who is first when the first has left', 'entry-2', afterLeaving[0]],
		['an entry that left is gone', false, afterLeaving.includes('entry-1')],
		['the GPUs held for an entry', [0, 1], partial?.kind === 'entry' ? partial.entry.allocatedGpus : refused],
		['waiting, requested, allocated', [2, 5, 2], [total_waiting, total_gpus_requested, total_gpus_allocated]],
		['three by ids count as three', 3, byIds.total_gpus_requested],
		['a stale entry is dropped, a fresh one stays', ['fresh'], await waiting(stale)],
	];
}

const usageOf = (user: string, endTime: number, gpuId = 0): UsageRecord => ({
	user,
	gpuId,
	startTime: endTime - hour,
	endTime,
	durationSeconds: hour,
	reservationType: 'run',
});

/** The first record format of the Go program: one key per record. */
const oldRecord = ({user, gpuId, startTime: start, endTime}: UsageRecord): readonly [key: string, value: string] => [
	`canhazgpu:usage_history:${endTime}:${user}:${gpuId}`,
	JSON.stringify({
		user,
		gpu_id: gpuId,
		start_time: new Date(start * 1000).toISOString(),
		end_time: new Date(endTime * 1000).toISOString(),
		duration_seconds: hour,
		reservation_type: 'manual',
	}),
];

type OnRedis = {readonly client: Redis; readonly store: Store};

/** Runs cases on an empty Redis. */
async function onRedis(use: (given: OnRedis) => Promise<readonly Case[]>): Promise<readonly Case[]> {
	const redis = await startRedis();
	const client = new Redis(redis.port);
	const store = await openRedisStore({host: redis.host, port: redis.port, db: 0, keepReconnecting: false});
	try {
		return await use({client, store});
	} finally {
		await store.close();
		client.disconnect();
		await redis.stop();
	}
}

/** Returns the users that `report` finds in a period. */
async function usersOf({store}: OnRedis, from: number, to: number): Promise<readonly string[]> {
	await store.takeOverHistory?.();
	const records = await Array.fromAsync(store.history(from, to));
	return records
		.flat()
		.filter(({endTime}) => endTime >= from && endTime <= to)
		.map(({user}) => user);
}

const historyCases = async (): Promise<readonly Case[]> =>
	onRedis(async (given) => {
		const {client, store} = given;
		const now = Math.floor(Date.now() / 1000);
		const record = async (...usage: readonly UsageRecord[]) => store.commit({...emptyPlan, usage});
		const clear = async () => client.flushall();
		const none = await usersOf(given, now - 2 * hour, now);

		await record(usageOf('alice', now - hour));
		const found = await client.zrangebyscore(keys.history, now - hour - 1, now - hour + 1);
		const oldForm = await client.keys('canhazgpu:usage_history:*');

		await clear();
		const day = now - 24 * hour;
		await record(...Array.from({length: 5}, (_, index) => usageOf(`user${index}`, day + (index + 1) * hour)));
		const firstThree = await usersOf(given, day - hour, day + 3 * hour);

		await clear();
		const early = now - 48 * hour;
		await record(
			usageOf('old', early + hour),
			usageOf('one', early + 25 * hour),
			usageOf('two', early + 26 * hour),
			usageOf('recent', early + 48 * hour),
		);
		const middle = await usersOf(given, early + 23 * hour, early + 27 * hour);

		await clear();
		await record(usageOf('newuser0', day + hour), usageOf('newuser1', day + 2 * hour));
		const newOnes = await usersOf(given, day - hour, day + 5 * hour);

		await clear();
		const old = [1, 2, 3].map((index) => oldRecord(usageOf(`olduser${index}`, day + index * hour, index)));
		await client.mset(...old.flat());
		const moved = await usersOf(given, day - hour, day + 4 * hour);
		const kept = await client.keys('canhazgpu:usage_history:*');
		const again = await usersOf(given, day - hour, day + 4 * hour);
		const olders = ['olduser1', 'olduser2', 'olduser3'];

		await clear();
		const many = 1000;
		const first = now - many * hour;
		await record(...Array.from({length: many}, (_, index) => usageOf(`user${index % 10}`, first + (index + 1) * hour)));
		const half = await usersOf(given, first + (many / 4) * hour + 1, first + ((3 * many) / 4) * hour);
		return [
			['none', [], none],
			['one record has its end as its score, and no key of the old form', [1, 0], [found.length, oldForm.length]],
			['those that end in a time', ['user0', 'user1', 'user2'], firstThree],
			['those in the middle', ['one', 'two'], middle],
			['those of the new form', ['newuser0', 'newuser1'], newOnes],
			['old records come over, and their keys stay', [olders, 3, olders], [moved, kept.length, again]],
			['the middle half of a thousand', many / 2, half.length],
		];
	});

/** Both formats together, which the Go program does not test. */
const mixedHistoryCases = async (): Promise<readonly Case[]> =>
	onRedis(async (given) => {
		const now = Math.floor(Date.now() / 1000);
		await given.store.commit({...emptyPlan, usage: [usageOf('new', now - hour)]});
		await given.client.mset(...oldRecord(usageOf('old', now - 2 * hour)));
		return [['old records beside new ones', ['new'], await usersOf(given, now - 24 * hour, now)]];
	});

const providerCases = async (): Promise<readonly Case[]> =>
	onRedis(async ({client, store}) => {
		const providerOf = async () => (await store.read()).pool?.provider ?? refused;
		const none = await providerOf();
		await client.set(keys.gpuCount, 4);
		const early = await providerOf();
		const written = await client.get(keys.provider);
		await client.del(keys.provider);
		const again = [await providerOf(), await client.get(keys.provider)];
		await client.set(keys.provider, 'amd');
		return [
			['no pool', refused, none],
			['a count and no provider', 'nvidia', early],
			['the key that is written then', 'nvidia', written],
			['the key is removed, and written again', ['nvidia', 'nvidia'], again],
			['a provider that is named', ['amd', 'amd'], [await providerOf(), await client.get(keys.provider)]],
		];
	});

async function heartbeatCases(): Promise<readonly Case[]> {
	const world = await createTestWorld();
	await acquireNow(world, {requester: person('alice'), count: 1, ids: [0], tenure: {type: 'run'}}, 'lease-a');
	const hold = await findJobLease(world, 'lease-a');
	world.pass(60);
	const {kind} = await sendHeartbeat(world, hold);
	const {last_heartbeat} = JSON.parse(world.memory.state.gpus.get(0)!) as {readonly last_heartbeat: number};
	world.memory.state.gpus.set(0, JSON.stringify({last_released: new Date(world.now() * 1000).toISOString()}));
	const cleared = await sendHeartbeat(world, hold);
	return [
		['a heartbeat is written', ['held', true], [kind, last_heartbeat > startTime]],
		['the record was cleared', 'lost', cleared.kind],
	];
}

export const storedGroups: readonly Group[] = [
	{name: 'Queue', origin: 'its tests', row: 'Queue', cases: queueCases},
	{name: 'Usage history', origin: 'its tests', row: 'Usage history', cases: historyCases},
	{
		name: 'Usage history, two forms at once',
		origin: 'its source',
		cases: mixedHistoryCases,
		differences: {'old records beside new ones': 'both count: no past is lost'},
	},
	{name: 'Provider back-compat', origin: 'its tests', row: 'Provider back-compat', cases: providerCases},
	{
		name: 'heartbeat loss',
		origin: 'its tests',
		row: 'heartbeat loss',
		cases: heartbeatCases,
		differences: {
			'the record was cleared': 'a job takes back a GPU that is free and that nobody released: it runs there',
		},
	},
];
