/** Records of both programs: Redis keys, and each field as written and read. */
import {reserve, release} from '../../../../source/core/operations/reservations.js';
import {decodeGpu, encodeLease} from '../../../../source/store/records/lease.js';
import {decodePool} from '../../../../source/store/records/pool.js';
import {decodeQueueEntry, encodeQueueEntry} from '../../../../source/store/records/queue-entry.js';
import {decodeUsage, encodeUsage} from '../../../../source/store/records/usage.js';
import {keys} from '../../../../source/store/redis/keys.js';
import {createTestWorld, person, startTime} from '../../../_helpers/world.js';
import {fieldCases, type Case, type Group} from './group.js';

type Fields = Readonly<Record<string, unknown>>;

const parse = (raw: string | undefined): Fields => JSON.parse(raw ?? '{}') as Fields;

/** Formats a time like Go on a machine that is not in UTC. */
const goTime = (seconds: number): string =>
	new Date((seconds + 7200) * 1000).toISOString().replace('Z', '123456+02:00');

/** The pattern by which the Lua script reads the time of a free GPU. */
const luaTime = /^\d+-\d+-\d+T\d+:\d+:\d+/v;

async function writtenCases(): Promise<readonly Case[]> {
	const world = await createTestWorld();
	const alice = person('alice', 'team');
	await reserve(world, {requester: alice, count: 1, ids: [1], durationSeconds: 3600, note: 'why'});
	const manual = parse(world.memory.state.gpus.get(1));
	world.pass(60);
	await release(world, alice, {by: 'gpus', ids: [1]});
	const released = parse(world.memory.state.gpus.get(1));
	const run = parse(
		encodeLease({
			user: 'bob',
			actualUser: 'bob',
			type: 'run',
			startTime: startTime + 0.9,
			lastHeartbeat: startTime + 0.9,
		}),
	);
	const entry = parse(
		encodeQueueEntry({
			id: 'an-id',
			user: 'alice',
			actualUser: 'alice',
			requestedCount: 2,
			requestedIds: [],
			allocatedGpus: [],
			reservationType: 'manual',
			expirySeconds: 5400,
			note: 'why',
			enqueueTime: startTime,
			lastHeartbeat: startTime,
			waitTimeout: startTime + 600,
		}),
	);
	const usage = parse(
		encodeUsage({
			user: 'alice',
			gpuId: 1,
			startTime,
			endTime: startTime + 60,
			durationSeconds: 60,
			reservationType: 'manual',
		}),
	);
	const time = (text: unknown): boolean => typeof text === 'string' && luaTime.test(text);
	return [
		...fieldCases(
			'a reservation',
			{
				user: 'team',
				actual_user: 'alice',
				start_time: startTime,
				type: 'manual',
				expiry_time: startTime + 3600,
				note: 'why',
				partial_queue_id: undefined,
				last_released: undefined,
			},
			manual,
		),
		...fieldCases(
			'a job',
			{
				user: 'bob',
				actual_user: 'bob',
				start_time: startTime,
				last_heartbeat: startTime,
				type: 'run',
				expiry_time: undefined,
				note: undefined,
			},
			run,
		),
		['a free GPU has no user', undefined, released['user']],
		['a free GPU: last_released, as its script reads it', true, time(released['last_released'])],
		['a GPU that was never used has no record', undefined, world.memory.state.gpus.get(0)],
		...fieldCases(
			'an entry of the queue',
			{
				id: 'an-id',
				user: 'alice',
				actual_user: 'alice',
				requested_count: 2,
				allocated_gpus: [],
				reservation_type: 'manual',
				expiry_duration: 5_400_000_000_000,
				note: 'why',
			},
			entry,
		),
		...(['enqueue_time', 'last_heartbeat', 'wait_timeout'] as const).map((name): Case => [
			`an entry of the queue: ${name} as RFC 3339`,
			true,
			time(entry[name]),
		]),
		...fieldCases(
			'a record of usage',
			{user: 'alice', gpu_id: 1, duration_seconds: 60, reservation_type: 'manual'},
			usage,
		),
		['a record of usage: start_time as RFC 3339', true, time(usage['start_time'])],
		['a record of usage: end_time as RFC 3339', true, time(usage['end_time'])],
	];
}

/** Returns the lease in a GPU record, or the whole record if it contains no lease. */
const read = (fields: Fields | string): Fields => {
	const record = decodeGpu(0, typeof fields === 'string' ? fields : JSON.stringify(fields));
	return record.kind === 'leased' ? {kind: record.kind, ...record.lease} : {...record};
};

function readCases(): readonly Case[] {
	const byPython = read({
		user: 'alice',
		start_time: startTime + 0.5,
		last_heartbeat: startTime + 0.5,
		type: 'run',
		expiry_time: null,
	});
	const rewritten = read({
		user: 'alice',
		actual_user: 'alice',
		start_time: goTime(startTime),
		last_heartbeat: goTime(startTime + 60),
		type: 'manual',
		expiry_time: goTime(startTime + 3600),
		last_released: null,
		note: 'why',
		partial_queue_id: 'an-id',
	});
	const record = decodeQueueEntry(
		'an-id',
		JSON.stringify({
			id: 'an-id',
			user: 'alice',
			actual_user: 'alice',
			requested_count: 4,
			allocated_gpus: null,
			reservation_type: 'run',
			enqueue_time: goTime(startTime),
			last_heartbeat: goTime(startTime + 30),
		}),
	);
	const entry: Fields = record.kind === 'entry' ? record.entry : {};
	const usage = decodeUsage(
		JSON.stringify({
			user: 'alice',
			gpu_id: 3,
			start_time: goTime(startTime),
			end_time: goTime(startTime + 60),
			duration_seconds: 60.25,
			reservation_type: 'run',
		}),
	);
	const whole = (seconds: unknown): number => Math.floor(Number(seconds));
	return [
		['a record of the Python program: user', 'alice', byPython['user']],
		['a record of the Python program: start_time', startTime, whole(byPython['startTime'])],
		['a record of the Python program: last_heartbeat', startTime, whole(byPython['lastHeartbeat'])],
		['a record of the Python program: no expiry', undefined, byPython['expiryTime']],
		...fieldCases(
			'a record that it wrote again',
			{kind: 'leased', user: 'alice', actualUser: 'alice', type: 'manual', note: 'why', partialQueueId: 'an-id'},
			rewritten,
		),
		['a record that it wrote again: start_time', startTime, whole(rewritten['startTime'])],
		['a record that it wrote again: last_heartbeat', startTime + 60, whole(rewritten['lastHeartbeat'])],
		['a record that it wrote again: expiry_time', startTime + 3600, whole(rewritten['expiryTime'])],
		['an empty record is free', 'free', read('{}')['kind']],
		['a record without a user is free', 'free', read({last_released: goTime(startTime)})['kind']],
		['its last_released', startTime, whole(read({last_released: goTime(startTime)})['lastReleased'])],
		['its last_released as seconds', startTime, whole(read({last_released: startTime})['lastReleased'])],
		['an empty user is free', 'free', read({user: '', last_released: goTime(startTime)})['kind']],
		['no JSON is an error', 'garbage', read('not json')['kind']],
		...fieldCases(
			'its entry in the queue',
			{
				user: 'alice',
				actualUser: 'alice',
				requestedCount: 4,
				allocatedGpus: [],
				reservationType: 'run',
				waitTimeout: undefined,
				expirySeconds: undefined,
			},
			entry,
		),
		['its entry in the queue: enqueue_time', startTime, whole(entry['enqueueTime'])],
		['its entry in the queue: last_heartbeat', startTime + 30, whole(entry['lastHeartbeat'])],
		...fieldCases(
			'its record of usage',
			{user: 'alice', gpuId: 3, durationSeconds: 60.25, reservationType: 'run'},
			usage ?? {},
		),
		['its record of usage: end_time', startTime + 60, whole(usage?.endTime)],
		[
			'a pool without a provider is of NVIDIA',
			'nvidia',
			decodePool({gpuCount: '4', provider: undefined, machine: undefined})?.provider,
		],
		['a pool that names AMD', 'amd', decodePool({gpuCount: '4', provider: 'amd', machine: undefined})?.provider],
		['no count, no pool', undefined, decodePool({gpuCount: undefined, provider: 'amd', machine: undefined})],
	];
}

export const recordGroups: readonly Group[] = [
	{
		name: 'keys of Redis',
		origin: 'its tests',
		cases: () => [
			['the number of GPUs', 'canhazgpu:gpu_count', keys.gpuCount],
			['the provider', 'canhazgpu:provider', keys.provider],
			['the lock', 'canhazgpu:allocation_lock', keys.allocationLock],
			['the queue', 'canhazgpu:queue', keys.queue],
			['the history', 'canhazgpu:usage_history_sorted', keys.history],
		],
	},
	{name: 'fields that are written', origin: 'its source', cases: writtenCases},
	{name: 'fields that are read', origin: 'its source', cases: readCases},
];
