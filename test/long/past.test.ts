/** The size and read time of 64 GPUs' recorded minutes after a day and after a week. */
import {statSync} from 'node:fs';
import {Redis} from 'ioredis';
import {expect, test} from 'vitest';
import {loadHours, type Store} from '../../source/core/model/ports.js';
import {readPast} from '../../source/core/operations/history/past.js';
import {encodeMinute, hourOf, loadIn, loadName, minuteOf, withScan} from '../../source/core/rules/pool/load-minutes.js';
import {redisHarness, sqliteHarness} from '../store/harness.js';
import {idleReading, startTime} from '../_helpers/world.js';

const gpus = Array.from({length: 64}, (_, index) => ({...idleReading(index), uuid: `GPU-5c7fbd2a-0000-${index}`}));

const mebibyte = 2 ** 20;

const day = 86_400;

/** The number of days that are kept. */
const keptDays = Math.floor(loadHours / 24);

async function writeDays(store: Store, from: number, to: number): Promise<void> {
	for (let time = startTime + from * day; time < startTime + to * day; time += 60) {
		const busy = gpus.map((gpu) => ({...gpu, utilizationPercent: (time / 60 + gpu.index) % 101}));
		await store.loads.append(hourOf(minuteOf(time)), encodeMinute(withScan(undefined, {gpus: busy}, time).underWay!));
	}
}

/** Returns the milliseconds of the fastest of five reads, including the graph of one GPU. */
async function readDay(store: Store, lastDay: number): Promise<number> {
	let best = Infinity;
	for (let round = 0; round < 5; round++) {
		const begin = performance.now();
		const {minutes} = await readPast({store}, {now: startTime + lastDay * day, seconds: day});
		const loads = minutes.map((line) => loadIn(line, loadName(gpus[63]!)));
		best = Math.min(best, performance.now() - begin);
		expect(loads.filter((load) => load?.utilization !== undefined)).toHaveLength(1440);
	}

	return best;
}

const most = {dayMiB: 5, noiseMs: 10} as const;

/** In SQLite, each minute is a commit of its own, which waits for the disk. */
const limitMs = 500_000;

async function measure(name: string, store: Store, used: () => Promise<number> | number): Promise<void> {
	const empty = await used();
	await writeDays(store, -1, 0);
	const afterDay = (await used()) - empty;
	const ofDayMs = await readDay(store, 0);
	await writeDays(store, 0, keptDays - 1);
	const afterWeek = (await used()) - empty;
	const ofWeekMs = await readDay(store, keptDays - 1);
	const words = (bytes: number, ms: number): string =>
		`${(bytes / mebibyte).toFixed(2)} MiB, a day read in ${ms.toFixed(1)} ms`;
	console.log(`${name}: a day ${words(afterDay, ofDayMs)}; ${keptDays} days ${words(afterWeek, ofWeekMs)}`);
	expect(afterDay).toBeLessThan(most.dayMiB * mebibyte);
	expect(afterWeek).toBeLessThan(keptDays * most.dayMiB * mebibyte);
	// Reading one day does not cost more if there are other days.
	expect(ofWeekMs).toBeLessThan(2 * ofDayMs + most.noiseMs);
}

test('the load history of 64 GPUs stays within its limits of size and read time in Redis', async () => {
	const harness = await redisHarness();
	const store = await harness.open();
	const address = /localhost:(?<port>\d+)|127\.0\.0\.1:(?<other>\d+)/v.exec(store.location)?.groups ?? {};
	const client = new Redis({port: Number(address['port'] ?? address['other'])});
	await measure('Redis', store, async () =>
		Number(/used_memory:(?<bytes>\d+)/v.exec(await client.info('memory'))?.groups?.['bytes']),
	);
	client.disconnect();
	await harness.close();
});

test(
	'the load history of 64 GPUs stays within its limits of size and read time in SQLite',
	{timeout: limitMs},
	async () => {
		const harness = await sqliteHarness();
		const store = await harness.open();
		await measure('SQLite', store, () =>
			['', '-wal'].reduce(
				(sum, suffix) => sum + (statSync(`${store.location}${suffix}`, {throwIfNoEntry: false})?.size ?? 0),
				0,
			),
		);
		await harness.close();
	},
);
