/**
The load that `canhazgpu web` can handle: 200 browsers with event streams and 50 requests per second, on a box of 8 GPUs that changes all the time.
`WEB_BENCH_SECONDS` is the duration. Default: 60.
*/
import process from 'node:process';
import {createBox} from '../_helpers/program/cli.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {bearLoad} from '../web/_load.js';
import {percentile, report, printFigure, reportTime} from './_helpers/measure.js';

const seconds = Number(process.env['WEB_BENCH_SECONDS'] ?? 60);
const redis = await startRedis();
const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port)});
const borne = await bearLoad(box, {seconds, streamCount: 200, requestsPerSecond: 50, gpuCount: 8});
printFigure('requests', borne.took.length, '');
printFigure('events to each browser, fewest', Math.min(...borne.events), '');
printFigure('median request', percentile(borne.took, 0.5), 'ms');
printFigure('99th percentile', percentile(borne.took, 0.99), 'ms');
printFigure('processor', (borne.processorSeconds / seconds) * 100, '% of one core');
printFigure('changes of the pool', borne.changes, '');
printFigure('readings of the tool that goes on', borne.readings, '');
reportTime('slowest request', Math.max(...borne.took), 30);
report('requests that failed', borne.failed.length, {limit: 0, unit: ''});
report('scans at the same time', borne.scansAtOnce, {limit: 1, unit: ''});
report('tools that go on, at the same time', borne.streamsAtOnce, {limit: 1, unit: ''});
// A scan every two seconds, and one after each change.
report('scans', borne.scans, {limit: seconds / 2 + borne.changes + 2, unit: ''});
report('resident memory', borne.mostMiB, {limit: 150, unit: 'MiB'});
report('browsers that missed an event', Math.max(...borne.events) - Math.min(...borne.events), {
	limit: 0,
	unit: 'events',
});
box.remove();
await redis.stop();
