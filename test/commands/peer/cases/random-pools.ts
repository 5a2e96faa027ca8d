/** Which free GPUs are granted in random pools. The Go program sorts in Lua, so a real Redis sorts here. */
import {Redis} from 'ioredis';
import {reserve} from '../../../../source/core/operations/reservations.js';
import type {UsageRecord} from '../../../../source/core/model/types.js';
import {encodeFree, encodeLease} from '../../../../source/store/records/lease.js';
import {encodeUsage} from '../../../../source/store/records/usage.js';
import {startRedis} from '../../../_helpers/store/redis-server.js';
import {createTestWorld, person, randomFrom, startTime} from '../../../_helpers/world.js';
import type {Case} from './group.js';

const pools = 60;
const day = 86_400;
const people = ['alice', 'bob', 'carol'] as const;

type MadeUp = {
	readonly gpuCount: number;
	readonly wanted: number;
	readonly held: readonly number[];
	/** Past uses of each GPU, in order. */
	readonly uses: ReadonlyArray<ReadonlyArray<{readonly user: string; readonly end: number}>>;
};

function madeUp(seed: number): MadeUp {
	const random = randomFrom(seed + 1);
	const below = (limit: number): number => Math.floor(random() * limit);
	// The first random numbers of neighboring seeds are similar.
	Array.from({length: 10}, () => random());
	const gpuCount = 2 + below(15);
	const uses = Array.from({length: gpuCount}, () =>
		Array.from({length: below(8) === 0 ? 0 : 1 + below(3)}, () => ({
			user: people[below(people.length)]!,
			end: startTime - 60 - below(3 * day),
		})).toSorted((a, b) => a.end - b.end),
	);
	const held = Array.from({length: gpuCount}, (_, index) => index).filter((index) => index > 0 && below(4) === 0);
	return {gpuCount, wanted: 1 + below(gpuCount - held.length), held, uses};
}

/**
Sorts like the Go program, with Lua's `table.sort`: GPUs that the requester had last, then those free for longest.
*/
const sortInLua = `
local released, had, free = cjson.decode(ARGV[1]), cjson.decode(ARGV[2]), cjson.decode(ARGV[3])
table.sort(free, function(one, other)
	local mine, others = had[one + 1], had[other + 1]
	if mine > 0 and others > 0 then return mine > others end
	if mine > 0 or others > 0 then return mine > 0 end
	return released[one + 1] < released[other + 1]
end)
return free
`;

async function theirs(client: Redis, {gpuCount, held, wanted, uses}: MadeUp): Promise<readonly number[]> {
	const all = Array.from({length: gpuCount}, (_, index) => index);
	const released = uses.map((list) => list.at(-1)?.end ?? 0);
	const had = uses.map((list) => list.findLast(({user}) => user === 'alice')?.end ?? 0);
	const free = all.filter((index) => !held.includes(index));
	const sorted = (await client.eval(
		sortInLua,
		0,
		...[released, had, free].map((list) => JSON.stringify(list)),
	)) as number[];
	return sorted.slice(0, wanted).toSorted((a, b) => a - b);
}

async function ours({gpuCount, held, wanted, uses}: MadeUp): Promise<readonly number[] | string> {
	const world = await createTestWorld({gpuCount});
	for (const [index, list] of uses.entries()) {
		for (const {user, end} of list) {
			const usage: UsageRecord = {
				user,
				gpuId: index,
				startTime: end - 60,
				endTime: end,
				durationSeconds: 60,
				reservationType: 'run',
			};
			world.memory.state.history.push({endSecond: end, raw: encodeUsage(usage)});
		}

		const last = list.at(-1);
		const raw = held.includes(index)
			? encodeLease({user: 'dave', type: 'manual', startTime, expiryTime: startTime + day})
			: encodeFree(last?.end);
		if (raw !== undefined) {
			world.memory.state.gpus.set(index, raw);
		}
	}

	const answer = await reserve(world, {requester: person('alice'), count: wanted, durationSeconds: 60});
	return answer.kind === 'granted' ? answer.gpus : answer.kind;
}

export async function randomPoolCases(): Promise<readonly Case[]> {
	const redis = await startRedis();
	const client = new Redis(redis.port);
	try {
		const cases: Case[] = [];
		for (let seed = 0; seed < pools; seed++) {
			const pool = madeUp(seed);
			cases.push([
				`pool ${seed}, ${pool.wanted} of ${pool.gpuCount} GPUs`,
				await theirs(client, pool),
				await ours(pool),
			]);
		}

		return cases;
	} finally {
		client.disconnect();
		await redis.stop();
	}
}
