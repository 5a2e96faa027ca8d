/**
Time from the commit of a reservation in one process to the changed frame of a monitor in another, time from a key to its frame, and the cost of an
idle monitor.
*/
import {readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Store} from '../../source/core/model/ports.js';
import {release, reserve} from '../../source/core/operations/reservations.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {openSqliteStore} from '../../source/store/sqlite/index.js';
import {createEmbeddedBox, createRedisBox, type Box} from '../_helpers/program/cli.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {person} from '../_helpers/world.js';
import {median, percentile, printFigure, reportTime} from './_helpers/measure.js';
import {cpuSeconds, openMonitor, residentMiB, shownAt} from './_helpers/monitor.js';
import {createBenchWorld} from './_helpers/world.js';

const rounds = 80;
const keyPresses = 200;
const idleSeconds = 20;
const gpuCount = 8;

/** A random pause, so that the rounds are not synchronized with the monitor's timers. */
const pause = async (): Promise<void> => sleep(150 + 250 * Math.random());

/** Milliseconds from the end of the commit to the output of the frame. */
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

/** A box with this many processes spread over its GPUs, none of which is reserved. */
async function crowdedBox(gpus: number, processes: number): Promise<Box> {
	const box = await createEmbeddedBox(gpus);
	const people = ['alice', 'bob', 'carol', 'dave'];
	const lines = Array.from(
		{length: processes},
		(_, index) =>
			`  - {gpu: ${index % gpus}, user: ${people[Math.floor((index % gpus) / 8) % people.length]}, command: python train.py --rank ${index}, memory: ${1500 + index}, utilization: ${index % 12}}`,
	);
	const scenario = path.join(box.home, 'crowd.yaml');
	writeFileSync(scenario, `processes:\n${lines.join('\n')}\n`, {mode: 0o600});
	return {...box, environment: {...box.environment, CANHAZGPU_SIMULATED_SCENARIO: scenario}};
}

/** Keys that move the selection. `selected` matches the screen when that row is selected. */
type Keys = {
	readonly shown: string;
	readonly before?: string;
	readonly rows: number;
	readonly selected: (row: number) => RegExp | string;
};

const gpuKeys = (count: number): Keys => ({shown: `Free ${count}`, rows: count, selected: (row) => `> ${row} `});

/** Milliseconds from a key to its frame. */
async function keysToFrames(
	box: Box,
	{shown, before = '', rows: count, selected: selectedRow}: Keys,
): Promise<readonly number[]> {
	const monitor = openMonitor(box);
	await monitor.waitFor(shown);
	if (before !== '') {
		monitor.write(before);
		await monitor.waitFor(selectedRow(0));
	}

	const latencies: number[] = [];
	let selected = 0;
	let step = 1;
	for (let press = 0; press < keyPresses; press++) {
		step = selected === count - 1 ? -1 : selected === 0 ? 1 : step;
		selected += step;
		await sleep(40 + 40 * Math.random());
		const pressedAt = performance.now();
		monitor.write(step === 1 ? 'j' : 'k');
		latencies.push((await shownAt(monitor, selectedRow(selected))) - pressedAt);
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
	printFigure('RSS after start', residentMiB(monitor), 'MiB');
	const cpuBefore = cpuSeconds(monitor);
	const mark = monitor.mark();
	await sleep(idleSeconds * 1000);
	printFigure('CPU while idle (goal 3)', ((cpuSeconds(monitor) - cpuBefore) / idleSeconds) * 100, '% of one core');
	printFigure(
		'written while idle (goal 2048)',
		new TextEncoder().encode(monitor.rawSince(mark)).length / idleSeconds,
		'bytes a second',
	);
	printFigure(`RSS ${idleSeconds} s later`, residentMiB(monitor), 'MiB');
	await monitor.close();
}

function printLatencies(name: string, latencies: readonly number[], limit: number): void {
	reportTime(`${name}, median`, median(latencies), limit);
	printFigure(`${name}, p99`, percentile(latencies, 0.99), 'ms');
}

const redis = await startRedis();
const redisBox = await createRedisBox(redis.port, gpuCount);
const embeddedBox = await createEmbeddedBox(gpuCount);
const largeBox = await createEmbeddedBox(64);
const crowdedLargeBox = await crowdedBox(64, 500);

const redisStore = await openRedisStore({host: redis.host, port: redis.port, db: 0, keepReconnecting: false});
printLatencies('commit to frame on Redis', await commitsToFrames(redisBox, redisStore), 3);
// The pool is shared or private, depending on the account that runs this.
const file = readdirSync(embeddedBox.home, {recursive: true, encoding: 'utf8'}).find(
	(name) => path.basename(name) === 'pool.sqlite',
)!;
const embeddedStore = await openSqliteStore({path: path.join(embeddedBox.home, file), create: false});
printLatencies('commit to frame without Redis', await commitsToFrames(embeddedBox, embeddedStore), 12);
printFigure(
	'key to frame, 8 GPUs, p95 (goal 33)',
	percentile(await keysToFrames(embeddedBox, gpuKeys(gpuCount)), 0.95),
	'ms',
);
printFigure('key to frame, 64 GPUs, p95 (goal 33)', percentile(await keysToFrames(largeBox, gpuKeys(64)), 0.95), 'ms');
const crowded = await keysToFrames(crowdedLargeBox, {shown: 'Unreserved 64', rows: 64, selected: (row) => `> ${row} `});
reportTime('key to frame, 64 GPUs and 500 processes, p95', percentile(crowded, 0.95), 1);
// Sorted by memory, so the last process is first.
const crowd = await keysToFrames(crowdedLargeBox, {
	shown: 'Unreserved 64',
	before: '6',
	rows: 500,
	selected: (row) => new RegExp(String.raw`> .*--rank ${499 - row}\b`, 'v'),
});
reportTime('key to frame in the table of 500 processes, p95', percentile(crowd, 0.95), 1);
const starts = [];
for (let round = 0; round < 7; round++) {
	starts.push(await start(redisBox));
}

printFigure('start to first frame, median', median(starts.map(({firstMs}) => firstMs)), 'ms');
printFigure('start to whole table, median', median(starts.map(({wholeMs}) => wholeMs)), 'ms');
await idle(redisBox);

for (const box of [redisBox, embeddedBox, largeBox, crowdedLargeBox]) {
	box.remove();
}

await redis.stop();
