/** Time from a release, once the store has answered, until the waiter's command runs, with real processes and GPUs that answer at once. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import path from 'node:path';
import process from 'node:process';
import {acquireNow} from '../../source/core/operations/acquire-now.js';
import type {Store, World} from '../../source/core/model/ports.js';
import {release} from '../../source/core/operations/reservations.js';
import {createClock} from '../../source/host/clock.js';
import {createHost} from '../../source/host/host.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {openSqliteStore} from '../../source/store/sqlite/index.js';
import {createEmbeddedBox, createRedisBox, program, type Box} from '../_helpers/program/cli.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {idleReading, observationOf, person} from '../_helpers/world.js';
import {median, percentile, printFigure, reportTime} from './_helpers/measure.js';

const rounds = 30;
const clock = createClock();
const host = createHost();
const boss = person(host.account.name, undefined, host.account.uid);

/** Returns the milliseconds from the release to the start of the command, for each round. */
async function wakes(box: Box, store: Store): Promise<readonly number[]> {
	const world: World = {
		store,
		clock,
		host,
		memoryThresholdMiB: 1024,
		gpus: {
			name: 'fake',
			simulated: true,
			count: async () => 1,
			observe: async () => observationOf([idleReading(0)], {takenAtMs: clock.monotonicMs()}),
		},
	};
	const figures: number[] = [];
	for (let round = -2; round < rounds; round++) {
		const leaseId = clock.uuid();
		const request = {requester: boss, count: 1, tenure: {type: 'manual', durationSeconds: 3600}} as const;
		const held = await acquireNow(world, request, leaseId);
		if (held.kind !== 'granted') {
			throw new Error('The GPU is not free at the beginning of a round');
		}

		const waiter = spawn(process.execPath, [program, 'run', '--', 'echo', 'running'], {
			cwd: box.home,
			env: {...box.environment},
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const ended = once(waiter, 'exit');
		// The waiter prints this when it is in the queue.
		await once(waiter.stderr, 'data');
		// A random pause, so that the rounds are not synchronized with the store's timers.
		await clock.sleep(Math.random() * 300);
		// Only the command writes to stdout.
		const runs = once(waiter.stdout, 'data');
		await release(world, boss, {by: 'lease', leaseId});
		const released = performance.now();
		await runs;
		const figure = performance.now() - released;
		await ended;
		if (round >= 0) {
			figures.push(figure);
		}
	}

	return figures;
}

const redis = await startRedis();
const redisBox = await createRedisBox(redis.port, 1);
const redisStore = await openRedisStore({host: redis.host, port: redis.port, db: 0, keepReconnecting: false});
const onRedis = await wakes(redisBox, redisStore);
reportTime('release to the waiter running, Redis, median', median(onRedis), 4.5);
printFigure('release to the waiter running, Redis, p90', percentile(onRedis, 0.9), 'ms');
await redisStore.close();
redisBox.remove();
await redis.stop();

const embeddedBox = await createEmbeddedBox(1);
const embeddedStore = await openSqliteStore({path: path.join(embeddedBox.poolDirectory, 'pool.sqlite'), create: false});
const onEmbedded = await wakes(embeddedBox, embeddedStore);
printFigure('release to the waiter running, embedded, median', median(onEmbedded), 'ms');
printFigure('release to the waiter running, embedded, p90', percentile(onEmbedded, 0.9), 'ms');
await embeddedStore.close();
embeddedBox.remove();
