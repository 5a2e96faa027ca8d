/**
The cost of a queue while nothing happens: real `run` processes that wait for GPUs which are reserved for hours. Measured as their processor time by
the kernel, as a share of one processor, so that other load on the machine matters little.
*/
import {spawn, type ChildProcess} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {Store} from '../../source/core/model/ports.js';
import {createClock} from '../../source/host/clock.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {openSqliteStore} from '../../source/store/sqlite/index.js';
import {createEmbeddedBox, createRedisBox, program, type Box} from '../_helpers/program/cli.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {report, printFigure} from './_helpers/measure.js';

const waiterCount = Number(process.env['WAITERS'] ?? 200);
const watchedSeconds = 60;
const ticksPerSecond = 100;
const clock = createClock();

/** User and system time of a process in seconds, from fields 14 and 15 of /proc/PID/stat. */
function processorSeconds(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function share(
	box: Box,
	store: Store,
	more: readonly number[] = [],
): Promise<{percent: number; statusMs: number}> {
	await box.run('reserve --gpus 2 --duration 8h');
	const children: ChildProcess[] = [];
	for (let index = 0; index < waiterCount; index++) {
		children.push(
			spawn(process.execPath, [program, 'run', '--', 'true'], {
				cwd: box.home,
				env: {...box.environment},
				stdio: 'ignore',
			}),
		);
		// Staggered, because the start is not what is measured.
		await clock.sleep(200);
	}

	while ((await store.read()).queue.length < waiterCount) {
		const gone = children.filter(({exitCode}) => exitCode !== null).length;
		if (gone > 0) {
			throw new Error(`${gone} of ${waiterCount} could not join the line`);
		}

		await clock.sleep(500);
	}

	await clock.sleep(10_000);
	const pids = [...children.map(({pid}) => pid!), ...more];
	const total = () => pids.reduce((sum, pid) => sum + processorSeconds(pid), 0);
	const before = total();
	const began = performance.now();
	await clock.sleep(watchedSeconds * 1000);
	const percent = ((total() - before) / (performance.now() - began)) * 100_000;
	const asked = performance.now();
	await box.run('status');
	const statusMs = performance.now() - asked;
	for (const child of children) {
		child.kill('SIGKILL');
	}

	return {percent, statusMs};
}

const embeddedBox = await createEmbeddedBox(2);
const embeddedStore = await openSqliteStore({path: path.join(embeddedBox.poolDirectory, 'pool.sqlite'), create: false});
const embedded = await share(embeddedBox, embeddedStore);
report(`${waiterCount} idle waiters, embedded, share of one processor`, embedded.percent, {limit: 20, unit: '%'});
printFigure(`status beside ${waiterCount} idle waiters, embedded`, embedded.statusMs, 'ms');
await embeddedStore.close();
embeddedBox.remove();

const redis = await startRedis();
const redisBox = await createRedisBox(redis.port, 2);
const redisStore = await openRedisStore({host: redis.host, port: redis.port, db: 0, keepReconnecting: false});
const onRedis = await share(redisBox, redisStore, [redis.pid()]);
report(`${waiterCount} idle waiters, Redis with its server, share of one processor`, onRedis.percent, {
	limit: 20,
	unit: '%',
});
printFigure(`status beside ${waiterCount} idle waiters, Redis`, onRedis.statusMs, 'ms');
await redisStore.close();
redisBox.remove();
await redis.stop();
