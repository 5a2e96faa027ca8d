/** The cost of a reserve and a release through the core on a local Redis, in PINGs of the same client library. */
import {Redis} from 'ioredis';
import {createPool} from '../../source/core/operations/pool/create-pool.js';
import {release, reserve} from '../../source/core/operations/reservations.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {person} from '../_helpers/world.js';
import {median, report, printFigure, timed} from './_helpers/measure.js';
import {createBenchWorld} from './_helpers/world.js';

const warmRounds = 300;
const rounds = 2000;
const gpuCount = 8;

const redis = await startRedis();
const client = new Redis(redis.port);
const store = await openRedisStore({host: redis.host, port: redis.port, db: 0, keepReconnecting: false});
// GPUs that answer at once, because the tool's time is not what is measured.
const world = createBenchWorld(store, gpuCount);
await createPool(world, {gpuCount, provider: 'fake', force: false});
const requester = person('alice');

const pair = async (): Promise<void> => {
	const answer = await reserve(world, {requester, count: 1, durationSeconds: 3600});
	const {released} = await release(world, requester, {by: 'label', label: 'alice'});
	if (answer.kind !== 'granted' || released.length !== 1) {
		throw new Error('The pair did not do what it should');
	}
};

const pings: number[] = [];
const pairs: number[] = [];
for (let round = -warmRounds; round < rounds; round++) {
	const ping = await timed(async () => client.ping());
	const both = await timed(pair);
	if (!(round >= 0)) {
		continue;
	}

	pings.push(ping);
	pairs.push(both);
}

printFigure('median PING', median(pings), 'ms');
printFigure('median reserve + release', median(pairs), 'ms');
// Measured: 12 on a quiet machine, 17 on one half as fast. A pair is 8 round trips and their planning.
report('reserve + release on Redis', median(pairs) / median(pings), {limit: 22, unit: 'PINGs'});
await store.close();
client.disconnect();
await redis.stop();
