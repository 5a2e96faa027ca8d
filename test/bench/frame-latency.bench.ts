/**
From the commit of a reserve in one process to the changed frame of a monitor in another; from a key to its frame; and what a monitor
costs while nothing happens.
*/
import {readdirSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Store} from '../../source/core/model/ports.js';
import {release, reserve} from '../../source/core/operations/reservations.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {openSqliteStore} from '../../source/store/sqlite/index.js';
import {createEmbeddedBox, createRedisBox, type Box} from '../_helpers/program/cli.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {person} from '../_helpers/world.js';
import {median, percentile, report, tell} from './_helpers/measure.js';
import {cpuSeconds, openMonitor, residentMiB, shownAt} from './_helpers/monitor.js';
import {createBenchWorld} from './_helpers/world.js';

const rounds = 80;
const keyPresses = 200;
const idleSeconds = 20;
const gpuCount = 8;

/** Not in step with anything that the monitor does by itself. */
const pause = async (): Promise<void> => sleep(150 + 250 * Math.random());

/** Milliseconds from the answer to the commit until the frame was out. */
async function commitsToFrames(box: Box, store: Store): Promise<readonly number[]> {
	let committedAt = 0;
	const world = createBenchWorld(
		{
			...store,
			async commit(plan) {
				const outcome = await store.commit(plan);
				committedAt = performance.now();
				return outcome;
			},
		},
		gpuCount,
	);
	const requester = person('alice');
	const monitor = openMonitor(box);
	await monitor.waitFor('Free 8');
	const latencies: number[] = [];
	for (let round = 0; round < rounds; round++) {
		await pause();
		const shown = shownAt(monitor, 'Free 7');
		const answer = await reserve(world, {requester, count: 1, durationSeconds: 3600});
		if (answer.kind !== 'granted') {
			throw new Error('There was no GPU to reserve');
		}

		latencies.push((await shown) - committedAt);
		await pause();
		await release(world, requester, {by: 'label', label: requester.label});
		await monitor.waitFor('Free 8');
	}

	await monitor.close();
	await store.close();
	return latencies;
}

/** Milliseconds from a key to the frame that answers it. */
async function keysToFrames(box: Box, count: number): Promise<readonly number[]> {
	const monitor = openMonitor(box);
	await monitor.waitFor(`Free ${count}`);
	const latencies: number[] = [];
	let selected = 0;
	let step = 1;
	for (let press = 0; press < keyPresses; press++) {
		step = selected === count - 1 ? -1 : selected === 0 ? 1 : step;
		selected += step;
		await sleep(40 + 40 * Math.random());
		const pressedAt = performance.now();
		monitor.write(step === 1 ? 'j' : 'k');
		latencies.push((await shownAt(monitor, `> ${selected} `)) - pressedAt);
	}

	await monitor.close();
	return latencies;
}

async function start(box: Box): Promise<{readonly firstMs: number; readonly wholeMs: number}> {
	const monitor = openMonitor(box);
	const first = (await shownAt(monitor, 'canhazgpu top')) - monitor.startedAt;
	const whole = (await shownAt(monitor, 'Free 8')) - monitor.startedAt;
	monitor.write('q');
	await monitor.exit;
	return {firstMs: first, wholeMs: whole};
}

async function idle(box: Box): Promise<void> {
	const monitor = openMonitor(box);
	await monitor.waitFor('Free 8');
	await sleep(2000);
	tell('RSS after start', residentMiB(monitor), 'MiB');
	const cpuBefore = cpuSeconds(monitor);
	const mark = monitor.mark();
	await sleep(idleSeconds * 1000);
	tell('CPU while idle (goal 3)', ((cpuSeconds(monitor) - cpuBefore) / idleSeconds) * 100, '% of one core');
	tell(
		'written while idle (goal 2048)',
		new TextEncoder().encode(monitor.rawSince(mark)).length / idleSeconds,
		'bytes a second',
	);
	tell(`RSS ${idleSeconds} s later`, residentMiB(monitor), 'MiB');
	await monitor.close();
}

function tellLatencies(name: string, latencies: readonly number[], limit: number): void {
	report(`${name}, median`, median(latencies), {limit, unit: 'ms'});
	tell(`${name}, p99`, percentile(latencies, 0.99), 'ms');
}

const redis = await startRedis();
const redisBox = await createRedisBox(redis.port, gpuCount);
const embeddedBox = await createEmbeddedBox(gpuCount);
const largeBox = await createEmbeddedBox(64);

const redisStore = await openRedisStore({host: redis.host, port: redis.port, db: 0, keepReconnecting: false});
tellLatencies('commit to frame on Redis', await commitsToFrames(redisBox, redisStore), 100);
// Shared or private: that depends on who runs this.
const file = readdirSync(embeddedBox.home, {recursive: true, encoding: 'utf8'}).find(
	(name) => path.basename(name) === 'pool.sqlite',
)!;
const embeddedStore = await openSqliteStore({path: path.join(embeddedBox.home, file), create: false});
tellLatencies('commit to frame without Redis', await commitsToFrames(embeddedBox, embeddedStore), 400);
tell('key to frame, 8 GPUs, p95 (goal 33)', percentile(await keysToFrames(embeddedBox, gpuCount), 0.95), 'ms');
tell('key to frame, 64 GPUs, p95 (goal 33)', percentile(await keysToFrames(largeBox, 64), 0.95), 'ms');
const starts = [];
for (let round = 0; round < 7; round++) {
	starts.push(await start(redisBox));
}

tell('start to first frame, median', median(starts.map(({firstMs}) => firstMs)), 'ms');
tell('start to whole table, median', median(starts.map(({wholeMs}) => wholeMs)), 'ms');
await idle(redisBox);

for (const box of [redisBox, embeddedBox, largeBox]) {
	box.remove();
}

await redis.stop();
