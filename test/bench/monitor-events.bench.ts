/**
Memory that the built monitor keeps after the events of ten hours: a reservation or release every ten seconds, replayed quickly. See monitor-hours for
scans and frames.
*/
import {setTimeout as sleep} from 'node:timers/promises';
import {release, reserve} from '../../source/core/operations/reservations.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {createRedisBox} from '../_helpers/program/cli.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {person} from '../_helpers/world.js';
import {report, printFigure} from './_helpers/measure.js';
import {openMonitor, residentMiB} from './_helpers/monitor.js';
import {createBenchWorld} from './_helpers/world.js';

const gpuCount = 8;
const hours = 10;
const rounds = (hours * 3600) / 20;
/** Slower than the monitor reads, so that each event is drawn. */
const betweenMs = 25;

const redis = await startRedis();
const box = await createRedisBox(redis.port, gpuCount);
const store = await openRedisStore({host: redis.host, port: redis.port, db: 0, keepReconnecting: false});
const world = createBenchWorld(store, gpuCount);
const monitor = openMonitor(box);
await monitor.waitFor('Free 8');
printFigure('RSS after start', residentMiB(monitor), 'MiB');

let afterFirstHours = 0;
for (let round = 0; round < rounds; round++) {
	const requester = person(`user${round % 7}`);
	await reserve(world, {requester, count: 1 + (round % 3), durationSeconds: 3600, note: `run ${round}`});
	await sleep(betweenMs);
	await release(world, requester, {by: 'label', label: requester.label});
	await sleep(betweenMs);
	if (round !== Math.floor(rounds / 5)) {
		continue;
	}

	afterFirstHours = residentMiB(monitor);
	printFigure('RSS after the first two hours', afterFirstHours, 'MiB');
}

await monitor.waitFor('Free 8');
const last = residentMiB(monitor);
report('RSS after ten hours of events', last, {limit: 150, unit: 'MiB'});
report('of which grown in the last eight', last - afterFirstHours, {limit: 15, unit: 'MiB'});
monitor.write('q');
await monitor.exit;
await store.close();
box.remove();
await redis.stop();
