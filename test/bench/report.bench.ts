/** `report` over a million usage records: its time, its memory, and how long it blocks Redis at a time. */
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {text} from 'node:stream/consumers';
import {Redis} from 'ioredis';
import {encodeUsage} from '../../source/store/records/index.js';
import {createEmbeddedBox, createRedisBox, program, type Box} from '../_helpers/program/cli.js';
import {findRedis} from '../_helpers/packages/find-redis.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {report, printFigure} from './_helpers/measure.js';

const recordCount = 1_000_000;
const batchSize = 10_000;
const now = Math.floor(Date.now() / 1000);
const days = 89;

type Stored = {readonly endSecond: number; readonly user: string; readonly raw: string};

/** Usage of a shared busy box: a record every few seconds, some within the same second. */
function stored(index: number): Stored {
	const endTime = now - days * 86_400 + Math.floor((index / recordCount) * days * 86_400) + (index % 4) / 8;
	const durationSeconds = 60 + ((index * 7919) % 40_000) + 0.25;
	const user = `user-${index % 53}`;
	const raw = encodeUsage({
		user,
		actualUser: user,
		gpuId: index % 8,
		startTime: endTime - durationSeconds,
		endTime,
		durationSeconds,
		reservationType: index % 3 === 0 ? 'manual' : 'run',
		leaseId: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
		note: index % 5 === 0 ? 'eval 70B, sweep 4' : undefined,
		model: index % 2 === 0 ? `lab/model-${index % 11}` : undefined,
		endReason: 'exited',
	});
	return {endSecond: Math.floor(endTime), user, raw};
}

async function fill(write: (batch: readonly Stored[]) => Promise<void>): Promise<void> {
	for (let first = 0; first < recordCount; first += batchSize) {
		await write(Array.from({length: batchSize}, (_, offset) => stored(first + offset)));
	}
}

/** Peak memory of a process so far, in MiB. Undefined once it is gone. */
function peakMemory(pid: number): number | undefined {
	try {
		const {kib} = /VmHWM:\s+(?<kib>\d+)/v.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.groups ?? {};
		return kib === undefined ? undefined : Number(kib) / 1024;
	} catch {
		return undefined;
	}
}

/**
Measures the reports in multiples of a plain read of the same records.

@param plainSeconds - Reads the records once, and returns the seconds.
@returns Seconds of the fastest plain read.
*/
async function measure(name: string, box: Box, plainSeconds: () => number): Promise<number> {
	let shortest = Infinity;
	for (const by of ['user', 'day', 'model']) {
		const began = performance.now();
		const child = spawn(process.execPath, [program, 'report', '--days', '90', '--by', by, '--json'], {
			cwd: box.home,
			env: box.environment,
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		let peak = 0;
		const watch = setInterval(() => {
			peak = Math.max(peak, peakMemory(child.pid!) ?? 0);
		}, 10);
		const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
		clearInterval(watch);
		const {total_reservations: counted} = JSON.parse(said) as {readonly total_reservations: number};
		if (counted !== recordCount) {
			throw new Error(`${name}: ${counted} of ${recordCount} records were counted`);
		}

		const seconds = (performance.now() - began) / 1000;
		const plain = plainSeconds();
		shortest = Math.min(shortest, plain);
		printFigure(`${name}, by ${by}: a million records`, seconds, 's');
		printFigure(`${name}: a plain read of them`, plain, 's');
		// Measured: 3.7 on Redis.
		report(`${name}, by ${by}: a million records`, seconds / plain, {limit: 4, unit: 'plain reads'});
		report(`${name}, by ${by}: memory`, peak, {limit: 200, unit: 'MiB'});
	}

	return shortest;
}

const redis = await startRedis();
const redisBox = await createRedisBox(redis.port, 8);
const client = new Redis(redis.port);
await fill(async (batch) => {
	await client.zadd('canhazgpu:usage_history_sorted', ...batch.flatMap(({endSecond, raw}) => [endSecond, raw]));
});
await client.config('SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '100000');
await client.slowlog('RESET');
const plainRead = await measure('Redis', redisBox, () => {
	const began = performance.now();
	const {command, environment} = findRedis()!;
	const {status} = spawnSync(
		path.join(path.dirname(command), 'redis-cli'),
		['-p', String(redis.port), 'ZRANGE', 'canhazgpu:usage_history_sorted', '0', '-1'],
		{stdio: 'ignore', env: environment},
	);
	if (status !== 0) {
		throw new Error('redis-cli could not read the records');
	}

	return (performance.now() - began) / 1000;
});
const slow = (await client.slowlog('GET', 100_000)) as ReadonlyArray<
	readonly [number, number, number, readonly string[]]
>;
// Excludes the plain reads of this benchmark.
const [longest = 0] = slow
	.filter((command) => command[3].slice(2).join(' ') !== '0 -1')
	.map((command) => command[2])
	.toSorted((a, b) => b - a);
printFigure('Redis: the longest that one command held it up', longest / 1000, 'ms');
// The slow log is in microseconds.
report('Redis: the longest that one command held it up', longest / 1e6 / plainRead, {limit: 0.01, unit: 'plain reads'});
printFigure('commands of three reports', slow.length, '');
client.disconnect();
await redis.stop();
redisBox.remove();

const embeddedBox = await createEmbeddedBox(8);
const database = new DatabaseSync(path.join(embeddedBox.poolDirectory, 'pool.sqlite'));
const insert = database.prepare('INSERT OR IGNORE INTO history (end_second, raw, user) VALUES (?, ?, ?)');
await fill(async (batch) => {
	database.exec('BEGIN');
	for (const {endSecond, raw, user} of batch) {
		insert.run(endSecond, raw, user);
	}

	database.exec('COMMIT');
});
database.close();
await measure('embedded', embeddedBox, () => {
	const began = performance.now();
	const records = new DatabaseSync(path.join(embeddedBox.poolDirectory, 'pool.sqlite'), {readOnly: true});
	const rows = records.prepare('SELECT end_second, raw, user FROM history ORDER BY end_second').iterate();
	const count = rows.reduce((sum) => sum + 1, 0);
	if (count !== recordCount) {
		throw new Error(`${count} of ${recordCount} records were read`);
	}

	records.close();
	return (performance.now() - began) / 1000;
});
embeddedBox.remove();
