/** What a day of 64 GPUs costs a store, and the monitor that looks back at it. */
import {statSync} from 'node:fs';
import {Redis} from 'ioredis';
import {expect, test} from 'vitest';
import type {Store} from '../../source/core/model/ports.js';
import {readPast} from '../../source/core/operations/history/past.js';
import {encodeMinute, hourOf, loadIn, loadName, minuteOf, withScan} from '../../source/core/rules/pool/load-minutes.js';
import {redisHarness, sqliteHarness} from '../store/harness.js';
import {idleReading, startTime} from '../_helpers/world.js';

const gpus = Array.from({length: 64}, (_, index) => ({...idleReading(index), uuid: `GPU-5c7fbd2a-0000-${index}`}));

const mebibyte = 2 ** 20;

async function writeDay(store: Store): Promise<void> {
	for (let time = startTime - 86_400; time < startTime; time += 60) {
		const busy = gpus.map((gpu) => ({...gpu, utilizationPercent: (time / 60 + gpu.index) % 101}));
		await store.loads.append(hourOf(minuteOf(time)), encodeMinute(withScan(undefined, {gpus: busy}, time).underWay!));
	}
}

/** Best of five, in milliseconds, with what a graph of one GPU needs. */
async function readDay(store: Store): Promise<number> {
	let best = Infinity;
	for (let round = 0; round < 5; round++) {
		const begin = performance.now();
		const {minutes} = await readPast({store}, {now: startTime, seconds: 86_400});
		const loads = minutes.map((line) => loadIn(line, loadName(gpus[63]!)));
		best = Math.min(best, performance.now() - begin);
		expect(loads.filter((load) => load?.utilization !== undefined)).toHaveLength(1440);
	}

	return best;
}

test('Redis', async () => {
	const harness = await redisHarness();
	const store = await harness.open();
	const address = /localhost:(?<port>\d+)|127\.0\.0\.1:(?<other>\d+)/v.exec(store.location)?.groups ?? {};
	const client = new Redis({port: Number(address['port'] ?? address['other'])});
	const used = async (): Promise<number> =>
		Number(/used_memory:(?<bytes>\d+)/v.exec(await client.info('memory'))?.groups?.['bytes']);
	const before = await used();
	await writeDay(store);
	const bytes = (await used()) - before;
	const readMs = await readDay(store);
	console.log(`Redis: ${(bytes / mebibyte).toFixed(2)} MiB, read in ${readMs.toFixed(1)} ms`);
	expect(bytes).toBeLessThan(5 * mebibyte);
	client.disconnect();
	await harness.close();
});

test('SQLite', async () => {
	const harness = await sqliteHarness();
	const store = await harness.open();
	const used = (): number =>
		['', '-wal'].reduce(
			(sum, suffix) => sum + (statSync(`${store.location}${suffix}`, {throwIfNoEntry: false})?.size ?? 0),
			0,
		);
	const before = used();
	await writeDay(store);
	const bytes = used() - before;
	const readMs = await readDay(store);
	console.log(`SQLite: ${(bytes / mebibyte).toFixed(2)} MiB, read in ${readMs.toFixed(1)} ms`);
	expect(bytes).toBeLessThan(5 * mebibyte);
	await harness.close();
});
