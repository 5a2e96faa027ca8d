/** The limits for all agents, and those of their accounts, between real servers. */
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {alice, isRoot, mallory} from '../_helpers/machine/accounts.js';
import {isLeased} from '../_helpers/leased.js';
import type {Box} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {firstCase, isLong, slowTest} from '../_helpers/slow.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {connect, connectAs, expectError, type Agent, type Answer} from './_client.js';

let redis: RedisServer;

beforeAll(async () => {
	redis = await startRedis();
});

afterAll(async () => {
	await redis.stop();
});

/** Starts a request that waits for GPUs, and returns when it has collected some of them. */
async function startWaiting(
	box: Box,
	agent: Agent,
	{ids, collected}: {readonly ids: readonly number[]; readonly collected: readonly number[]},
): Promise<{readonly answer: Promise<Answer>}> {
	const answer = agent.call('gpu_reserve', {gpu_ids: ids, wait_seconds: 600});
	await eventually(async () => {
		const {gpus, queue} = await peek(box);
		return queue.length > 0 && collected.every((index) => isLeased(gpus[index]!));
	});
	return {answer};
}

describe.each(
	firstCase([
		['redis', async () => freshRedisBox(redis.port, 6)],
		['embedded', async () => freshEmbeddedBox(6)],
	] as const),
)('agents.max-gpus on %s', (_, createBox) => {
	slowTest(
		'lets one waiting agent after the other get its GPUs if the limit is lowered below the GPUs held for both',
		async () => {
			const box = await createBox();
			await box.run('admin --set agents.max-gpus=6');
			await box.run('reserve --gpu-ids 2,5 --duration 1h');
			const [one, other] = [await connect(box, {name: 'one'}), await connect(box, {name: 'other'})];
			const first = await startWaiting(box, one, {ids: [0, 1, 2], collected: [0, 1]});
			const second = await startWaiting(box, other, {ids: [3, 4, 5], collected: [3, 4]});

			await box.run('admin --set agents.max-gpus=3');
			const {words} = await one.call('gpu_why');
			expect(words).toContain(
				'waits: agents hold 0 of at most 3 GPUs together, and their earlier requests want 3 (agents.max-gpus); people go first',
			);
			expect(words).toMatch(/ #1 .* is ahead in the queue for GPUs 0-2/v);
			await box.run('release --gpu-ids 2');
			expect((await first.answer).json).toMatchObject({gpu_ids: [0, 1, 2]});
			// The grant has released what the second request had collected, because agents would otherwise hold five GPUs.
			expect(await holders(box)).toBe('0:RUN 1:RUN 2:RUN 3:- 4:- 5:MANUAL');
			expect((await box.run('events')).stdout).toMatch(/GPUs 3,4/v);

			await box.run('release --gpu-ids 5');
			await one.call('gpu_release');
			expect((await second.answer).json).toMatchObject({gpu_ids: [3, 4, 5]});
		},
	);

	test('ends a waiting request with an error and frees its GPUs if the limit is lowered below the request', async () => {
		const box = await createBox();
		await box.run('reserve --gpu-ids 2 --duration 1h');
		const agent = await connect(box);
		const {answer} = await startWaiting(box, agent, {ids: [0, 1, 2], collected: [0, 1]});
		await box.run('admin --set agents.max-gpus=2');
		expectError(await answer, /^All agents together may hold at most 2 GPUs, not 3\. /v);
		expect(await holders(box)).toBe('0:- 1:- 2:MANUAL 3:- 4:- 5:-');
		expect((await peek(box)).queue).toEqual([]);
	});

	slowTest('keeps a later agent from overtaking a waiting agent, but does not delay people', async () => {
		const box = await createBox();
		await box.run('admin --set agents.max-gpus=2');
		await box.run('reserve --gpu-ids 1 --duration 1h');
		const [one, other] = [await connect(box, {name: 'one'}), await connect(box, {name: 'other'})];
		const first = await startWaiting(box, one, {ids: [0, 1], collected: [0]});
		expectError(
			await other.call('gpu_reserve'),
			/^Not enough GPUs available\. Requested: 1 \(agents hold 0 of at most 2 GPUs together, and their earlier requests want 2\)\. The limit is agents\.max-gpus=2\. /v,
		);
		const second = other.call('gpu_reserve', {wait_seconds: 600, duration: '1h'});
		await eventually(async () => (await peek(box)).queue.length === 2);
		expect((await box.run('reserve --gpus 4 --nonblock')).exitCode).toBe(0);
		await box.run('release --gpu-ids 1');
		expect((await first.answer).json).toMatchObject({gpu_ids: [0, 1]});
		await one.call('gpu_release');
		expect((await second).json).toMatchObject({gpu_ids: [expect.any(Number)]});
	});
});

test.runIf(isLong && isRoot)(
	'limits.max-gpus applies to each account separately, and agents.max-gpus to the agents of all accounts together',
	async () => {
		const box = await freshRedisBox(redis.port, 4);
		await box.run('admin --set limits.max-gpus=1 --set agents.max-gpus=3');
		const [ofAlice, again, ofMallory, ofRoot] = [
			await connectAs(alice, box),
			await connectAs(alice, box),
			await connectAs(mallory, box),
			await connect(box),
		];
		const {lease_id: id} = (await ofAlice.call('gpu_reserve')).json as {readonly lease_id: string};
		expectError(
			await again.call('gpu_reserve'),
			/\(61001 holds 1 of at most 1 GPU\)\. The limit is limits\.max-gpus=1\. /v,
		);
		expectError(await again.call('gpu_reserve', {count: 2}), /^Cannot reserve 2 GPUs: 61001 can hold at most 1\. /v);
		expect((await ofMallory.call('gpu_reserve')).json).toMatchObject({actual_user: '61002', gpu_ids: [1]});
		// Root has no limit of its own, but its agent is one of all agents.
		expect(await ofRoot.call('gpu_reserve')).toMatchObject({isError: false});
		expectError(await ofRoot.call('gpu_reserve'), /\(agents hold 3 of at most 3 GPUs together\)/v);

		for (const other of [ofMallory, ofRoot]) {
			for (const tool of ['gpu_release', 'gpu_renew']) {
				expectError(
					await other.call(tool, {lease_id: id}),
					/^That reservation belongs to 61001\. Nothing was changed\. /v,
				);
			}
		}

		expect(await holders(box)).toBe('0:RUN 1:RUN 2:RUN 3:-');
		// Another connection of the same account may release it.
		expect((await again.call('gpu_release', {lease_id: id})).words).toBe('Released 1 GPU(s): [0].');
		expect(await again.call('gpu_reserve')).toMatchObject({isError: false});
	},
);

test.runIf(isLong && isRoot)(
	'without a duration, gpu_reserve and gpu_renew take no longer than the policy allows',
	async () => {
		const box = await freshRedisBox(redis.port, 4);
		const agent = await connectAs(alice, box);
		for (const [setting, given] of [
			['agents.max-duration=20m', '0h 20m 0s'],
			['limits.max-duration=10m', '0h 10m 0s'],
		] as const) {
			await box.run(['admin', '--set', setting]);
			expect((await agent.call('gpu_reserve')).words).toContain(` for ${given} `);
			await agent.call('gpu_release');
		}

		await agent.call('gpu_reserve', {duration: '1m'});
		expect((await agent.call('gpu_renew')).words).toContain(' until 0h 10m 0s from now');

		expectError(await agent.call('gpu_reserve', {duration: '15m'}), /^A reservation can last at most 10m\. /v);
		expectError(
			await agent.call('gpu_reserve', {duration: '25m'}),
			/^Agents may hold GPUs for at most 20m at a time\. /v,
		);
	},
);
