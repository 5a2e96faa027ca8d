/** The allocation of GPUs: the tests of the Go program's script, on the reference store. */
import {release, reserve, readStatus} from '../../../../source/core/operations/reservations.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {refusalMessage} from '../../../../source/format/queue/refusal.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';
import type {Case, Group} from './group.js';
import {randomPoolCases} from './random-pools.js';

const hour = 3600;

type Wish = {
	readonly user?: string;
	readonly count?: number;
	readonly ids?: readonly number[];
	readonly force?: boolean;
};

/** Returns the granted GPUs, or the refusal. */
async function ask(
	world: TestWorld,
	{user = 'alice', count = 1, ids, force}: Wish,
): Promise<readonly number[] | string> {
	try {
		const answer = await reserve(world, {
			requester: person(user),
			count: ids?.length ?? count,
			ids,
			force,
			durationSeconds: hour,
		});
		return answer.kind === 'granted' ? answer.gpus : refusalMessage(answer, {canForce: true, account: user}).message;
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return error.message;
		}

		throw error;
	}
}

const contains = (words: readonly number[] | string, part: string): boolean =>
	typeof words === 'string' && words.includes(part);

/** Simulates use of these GPUs without a reservation. */
const seeUsed = (world: TestWorld, gpuCount: number, ...used: readonly number[]): void => {
	world.see(() =>
		observationOf(
			Array.from({length: gpuCount}, (_, index) =>
				used.includes(index)
					? {...idleReading(index), memoryUsedMiB: 8000, processes: [{pid: 7, user: 'dave'}]}
					: idleReading(index),
			),
		),
	);
};

const heldBy = async (world: TestWorld, index: number): Promise<string | undefined> =>
	(await readStatus(world)).rows[index]!.owner;

async function reserveCases(): Promise<readonly Case[]> {
	const simple = await createTestWorld();
	const two = await ask(simple, {count: 2});
	const guarded = await createTestWorld();
	seeUsed(guarded, 4, 1);
	const aroundOne = await ask(guarded, {count: 2});
	const one = await ask(guarded, {count: 2});
	seeUsed(guarded, 4, 1, 3);
	const none = await ask(guarded, {});
	const small = await createTestWorld({gpuCount: 2});
	const named = await createTestWorld();
	const byIds = await ask(named, {ids: [1, 3]});
	const taken = await ask(named, {user: 'bob', ids: [1, 2]});
	const second = await heldBy(named, 2);
	seeUsed(named, 4, 0);
	const inUse = await ask(named, {user: 'carol', ids: [0, 2]});
	const forced = await ask(named, {user: 'carol', ids: [0], force: true});
	const beyond = await ask(named, {user: 'dave', ids: [2, 5]});
	const rest = await ask(named, {user: 'erin', ids: [2]});
	const mixed = await createTestWorld({gpuCount: 8});
	const three = await ask(mixed, {user: 'user1', count: 3});
	const others = await ask(mixed, {user: 'user2', ids: [5, 6, 7]});
	return [
		['two of four', 2, two.length],
		['they are held', 'alice', await heldBy(simple, Number(two[0]))],
		['around one that is used', [0, 2], aroundOne],
		[
			'too few, one of them used',
			"Not enough GPUs available. Requested: 2, Available: 1 (1 GPUs in use without reservation - run 'canhazgpu status' for details)",
			one,
		],
		[
			'too few, two of them used',
			"Not enough GPUs available. Requested: 1, Available: 0 (2 GPUs in use without reservation - run 'canhazgpu status' for details)",
			none,
		],
		['three of a pool of two: is refused', true, typeof (await ask(small, {count: 3})) === 'string'],
		['by ids', [1, 3], byIds],
		['one of them is reserved: is refused', true, typeof taken === 'string'],
		['one of them is reserved: words', true, contains(taken, 'already reserved')],
		['the other stays free', undefined, second],
		['one of them is used', true, contains(inUse, 'in use without reservation')],
		['one that is used, by force', [0], forced],
		['an id that is not there: is refused', true, typeof beyond === 'string'],
		['an id that is not there: words', true, contains(beyond, 'out of range')],
		['what is left', [2], rest],
		['three by count', 3, three.length],
		['others by ids beside them', [5, 6, 7], others],
	];
}

async function orderCases(): Promise<readonly Case[]> {
	const world = await createTestWorld();
	// The Go program's own concept test: released 3 h, 1 h and 2 h ago, and one never used.
	for (const [index, pause] of [
		[0, hour],
		[2, hour],
		[1, hour],
	] as const) {
		await ask(world, {user: 'bob', ids: [index]});
		await release(world, person('bob'), {by: 'gpus', ids: [index]});
		world.pass(pause);
	}

	const order: Array<readonly number[] | string> = [];
	for (let count = 0; count < 4; count++) {
		order.push(await ask(world, {user: 'carol'}));
	}

	const own = await createTestWorld();
	await ask(own, {user: 'alice', ids: [2]});
	own.pass(10);
	await release(own, person('alice'), {by: 'gpus', ids: [2]});
	return [
		['never used first, then free for longest', [[3], [0], [2], [1]], order],
		['what this user had last', [2], await ask(own, {user: 'alice'})],
		['another user has what was never used', true, ![2].includes(Number((await ask(own, {user: 'bob'}))[0]))],
	];
}

async function releaseCases(): Promise<readonly Case[]> {
	const world = await createTestWorld();
	await ask(world, {ids: [0]});
	await ask(world, {ids: [1, 2]});
	const alice = person('alice');
	const bob = person('bob');
	const released = async (...given: Parameters<typeof release>): Promise<unknown> => {
		try {
			return (await release(...given)).released.map(({index}) => index);
		} catch {
			return 'refused';
		}
	};

	return [
		['of others', [], await released(world, bob, {by: 'gpus', ids: [0]})],
		['one of three', [1], await released(world, alice, {by: 'gpus', ids: [1]})],
		['one that is free already', [], await released(world, alice, {by: 'gpus', ids: [1]})],
		['all that is left', [0, 2], await released(world, alice, {by: 'label', label: 'alice'})],
		['nothing is left', [], await released(world, alice, {by: 'label', label: 'alice'})],
		['an id that is not there', [], await released(world, alice, {by: 'gpus', ids: [99]})],
	];
}

/** A missed heartbeat counts only after a reader has watched for a little more than one interval. */
const watchSeconds = 70;

/** Whether a GPU is granted to others after a heartbeat this old, from a process that is not visible. */
export async function isFreedAfter(seconds: number): Promise<boolean> {
	const world = await createTestWorld({gpuCount: 1});
	const start = world.now();
	world.memory.state.gpus.set(0, JSON.stringify({user: 'peer', type: 'run', start_time: start, last_heartbeat: start}));
	world.pass(seconds - watchSeconds);
	await readStatus(world);
	world.pass(watchSeconds);
	return typeof (await ask(world, {})) !== 'string';
}

export const allocationGroups: readonly Group[] = [
	{
		name: 'AtomicReserveGPUs, by count, by ids, and both',
		origin: 'its tests',
		row: 'AtomicReserve*, MixedMode',
		cases: reserveCases,
	},
	{
		name: 'most recently used by this user, least recently used by all',
		origin: 'its tests',
		row: 'MRU concept',
		cases: orderCases,
	},
	{
		name: 'ReleaseGPUs, ReleaseSpecificGPUs',
		origin: 'its tests',
		row: 'ReleaseSpecificGPUs',
		cases: releaseCases,
		differences: {'an id that is not there': 'exit code 2: it is a slip of the finger'},
	},
	{
		name: 'allocation order, random pools',
		origin: 'further inputs',
		row: 'allocation order, random pools',
		cases: randomPoolCases,
		differences: {
			'pool 10, 4 of 16 GPUs':
				'of GPUs that were never used the lowest comes first; there it is as the sort leaves them',
		},
	},
	{
		name: 'a job without a heartbeat',
		origin: 'its source',
		row: 'AtomicReserve*, MixedMode',
		cases: async () => [
			['299 s old', false, await isFreedAfter(299)],
			['301 s old', true, await isFreedAfter(301)],
			['1000 s old', true, await isFreedAfter(1000)],
		],
		differences: {'301 s old': '15 minutes count, as its documentation says: a busy machine is not a dead one'},
	},
];
