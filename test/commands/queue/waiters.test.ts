/** Many concurrent requests are served in order, and nothing is left behind. */
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {describe, expect} from 'vitest';
import {release} from '../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import type {Need} from '../../../source/core/model/types.js';
import type {Wanted} from '../../../source/core/rules/request/request.js';
import {eventually} from '../../_helpers/eventually.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {historyOf, randomFrom} from '../../_helpers/world.js';
import {slowTest} from '../../_helpers/slow.js';
import {crowdOnFile, crowdOnRedis, forEver, gpuCount, holdAll, request, requesterOf} from './_waiters.js';

const redis = redisOfFile();

/** Required GPU properties on a box with four A100 of 80 GB and four L40S of 48 GB. */
const needs: ReadonlyArray<Need | undefined> = [
	undefined,
	{sameModel: false},
	{models: ['a100']},
	{models: ['l40s']},
	{minMemoryMiB: 60_000},
	{minMemoryMiB: 40_000},
];

describe.each([
	['redis', async () => crowdOnRedis(redis)],
	['embedded', async () => crowdOnFile()],
] as const)('with the %s store', (kind, create) => {
	slowTest('50 random requests are served in order although some are killed or cancelled', async () => {
		const warnings: Error[] = [];
		const onWarning = (warning: Error): void => {
			warnings.push(warning);
		};

		process.on('warning', onWarning);
		const random = randomFrom(7);
		const upTo = (limit: number): number => Math.floor(random() * limit);
		const crowd = await create();
		const free = await holdAll(crowd);
		const granted = new Set<string>();
		const ends = new Map<string, number>();
		const count = (end: string): void => {
			ends.set(end, (ends.get(end) ?? 0) + 1);
		};

		let waiting = 0;
		const people = await Promise.all(Array.from({length: 50}, async () => crowd.enter()));
		const done = people.map(async (person, index) => {
			const ids = [...new Set(Array.from({length: 1 + upTo(3)}, () => upTo(gpuCount)))];
			const wanted: Wanted =
				upTo(3) === 0 ? {count: ids.length, ids} : {count: 1 + upTo(4), need: needs[upTo(needs.length)]};
			const [holdMs, fateAt] = [upTo(30), upTo(20)];
			const controller = new AbortController();
			let isCounted = false;
			const fate = index % 10 === 3 ? 'killed' : index % 10 === 6 ? 'withdrawn' : 'served';
			const meetsFate = async (): Promise<string> => {
				await eventually(() => granted.size >= fateAt);
				if (fate === 'killed') {
					person.kill();
					return 'killed';
				}

				controller.abort();
				return Promise.withResolvers<string>().promise;
			};

			const lives = async (): Promise<string> => {
				const answer = await acquire(
					person.world,
					request(person, wanted),
					forEver(() => {
						waiting += isCounted ? 0 : 1;
						isCounted = true;
					}, controller.signal),
				);
				if (answer.kind !== 'granted') {
					return answer.kind === 'gave-up' ? answer.reason : answer.kind;
				}

				granted.add(answer.leaseId);
				await sleep(holdMs);
				await release(person.world, requesterOf(person), {by: 'lease', leaseId: answer.leaseId});
				return 'served';
			};

			count(await Promise.race(fate === 'served' ? [lives()] : [lives(), meetsFate()]));
		});
		await eventually(() => waiting >= 40);
		await free([0, 1, 2]);
		await free([3, 4, 5, 6, 7]);
		await Promise.all(done);

		expect(crowd.overtakings).toEqual([]);
		expect(ends.get('served')! + (ends.get('killed') ?? 0) + (ends.get('aborted') ?? 0)).toBe(50);
		expect(ends.get('served')).toBeGreaterThanOrEqual(40);
		// The next read releases the GPUs that the killed waiters held.
		const {world} = await crowd.enter();
		const {gpus, queue} = await readCurrent(world);
		expect(queue).toEqual([]);
		expect(gpus.map((record) => record.kind)).toEqual(Array.from({length: gpuCount}, () => 'free'));
		const history = await historyOf(world.store);
		for (const leaseId of granted) {
			const records = history.filter((record) => record.leaseId === leaseId);
			const ended = records.filter(({endReason}) => endReason === 'released' || endReason === 'holder-died');
			expect(new Set(ended.map(({gpuId}) => gpuId)).size).toBe(ended.length);
			expect(ended.length).toBeGreaterThan(0);
		}

		if (kind === 'redis') {
			const client = new Redis(redis.port);
			expect(await client.keys('canhazgpu:queue*')).toEqual([]);
			const [, listening] = (await client.pubsub('NUMSUB', 'canhazgpu:events')) as [string, number];
			// Only killed waiters can still be subscribed.
			expect(listening).toBeLessThanOrEqual(ends.get('killed') ?? 0);
			client.disconnect();
		}

		process.off('warning', onWarning);
		expect(warnings).toEqual([]);
	});
});

// Wake-ups are distinguished from ticks by their time, which needs an idle machine.
slowTest(
	'a release wakes at most three of 200 waiting requests, and only one of the three scans the GPUs',
	async () => {
		// Ticks are as long as possible, so that a waiter that reads at once was woken by the release.
		const crowd = await crowdOnRedis(redis, () => 0.999);
		const free = await holdAll(crowd);
		const controller = new AbortController();
		let waiting = 0;
		const people = await Promise.all(Array.from({length: 200}, async () => crowd.enter()));
		const joinedAt = performance.now();
		const answers = people.map(async (person) => {
			let isCounted = false;
			return acquire(
				person.world,
				request(person, {count: 1}),
				forEver(() => {
					waiting += isCounted ? 0 : 1;
					isCounted = true;
				}, controller.signal),
			);
		});
		await eventually(() => waiting === 200);
		// Waits until the readings of the joins are too old to use.
		await eventually(() => performance.now() - joinedAt > 2500);
		const [scansBefore, commitsBefore] = [crowd.scans(), crowd.commits()];
		const releasedAt = performance.now();
		await free([3]);
		await Promise.race(answers);
		await sleep(250);
		/** Reads that were caused by the release and not by a tick. */
		const wokenReads = people.flatMap(({reads}) => {
			const before = reads.findLast((at) => at < releasedAt)!;
			const after = reads.filter((at) => at > releasedAt);
			return after.length > 0 && after[0]! - before < 4900 ? [after] : [];
		});
		expect(wokenReads.length).toBeLessThanOrEqual(3);
		expect(wokenReads.flat().length).toBeLessThanOrEqual(4);
		expect(crowd.scans() - scansBefore).toBe(1);
		// The release itself is a commit.
		expect(crowd.commits() - commitsBefore).toBeLessThanOrEqual(3);
		controller.abort();
		await Promise.all(answers);
		expect(crowd.overtakings).toEqual([]);
	},
);
