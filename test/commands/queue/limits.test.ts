/** Many concurrent requests of accounts that have limits, on a real store. */
import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {release} from '../../../source/core/operations/reservations.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import {mostHeld} from '../../_helpers/store/most-held.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase, isLong, slowTest} from '../../_helpers/slow.js';
import {person, randomFrom} from '../../_helpers/world.js';
import {crowdOnFile, crowdOnRedis, forEver, holdAll} from './_waiters.js';

const redis = redisOfFile();

const root = {...person('root'), uid: 0};

describe.each(
	firstCase([
		['redis', async () => crowdOnRedis(redis)],
		['embedded', async () => crowdOnFile()],
	] as const),
)('on %s', (_, create) => {
	slowTest('concurrent requests of many accounts never exceed their limits, and all are served', async () => {
		const crowd = await create();
		const first = await crowd.enter();
		await changePolicy(first.world, root, [
			{key: 'limits.max-gpus', value: '1'},
			{key: 'limits.user.ada0.max-gpus', value: '3'},
		]);
		const random = randomFrom(3);
		const accounts = Array.from({length: isLong ? 50 : 12}, (__, index) => `ada${index}`);
		const ask = async (account: string, count: number, holdMs: number): Promise<void> => {
			const {world} = await crowd.enter();
			const requester = person(account);
			const got = await acquire(world, {requester, count, tenure: {type: 'run'}}, forEver());
			expect(got.kind).toBe('granted');
			await sleep(holdMs);
			await release(world, requester, {by: 'lease', leaseId: got.kind === 'granted' ? got.leaseId : ''});
		};

		await Promise.all(
			accounts.flatMap((account) =>
				[1, 2, 3].map(async (count) => ask(account, account === 'ada0' ? count : 1, 20 * random())),
			),
		);
		const most = mostHeld(await first.world.store.audit());
		expect(most.get('ada0')).toBe(3);
		expect(accounts.slice(1).map((account) => most.get(account))).toEqual(accounts.slice(1).map(() => 1));
	});

	test('max-waiting limits how many concurrent requests of an account join the queue', async () => {
		const crowd = await create();
		await holdAll(crowd);
		const {world} = await crowd.enter();
		await changePolicy(world, root, [{key: 'limits.max-waiting', value: '3'}]);
		const controller = new AbortController();
		const refused: unknown[] = [];
		const asked = Array.from({length: 12}, async () => {
			const {world: own} = await crowd.enter();
			const tenure = {type: 'run'} as const;
			await acquire(own, {requester: person('ada'), count: 1, tenure}, forEver(undefined, controller.signal)).catch(
				(error: unknown) => {
					refused.push(error);
					if (refused.length === 9) {
						controller.abort();
					}
				},
			);
		});
		await Promise.all(asked);
		expect(refused).toEqual(
			Array.from(
				{length: 9},
				() =>
					expect.objectContaining({
						code: 'unavailable',
						message: 'ada already has 3 of at most 3 requests in the queue',
					}) as unknown,
			),
		);
		const joined = (await world.store.audit()).filter(({kind}) => kind === 'joined');
		expect(joined).toHaveLength(3);
	});
});
