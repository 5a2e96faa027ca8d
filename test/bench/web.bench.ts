/**
What `canhazgpu web` bears: 200 browsers that listen and 50 requests a second, on a box of 8 GPUs whose pool changes all the time.
`WEB_BENCH_SECONDS` is how long, a minute unless said.
*/
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {createRedisBox} from '../_helpers/cli.js';
import {startRedis} from '../_helpers/redis-server.js';
import {ask, listenTo, startWeb} from '../web/_server.js';
import {percentile, report, tell} from './_measure.js';

const seconds = Number(process.env['WEB_BENCH_SECONDS'] ?? 60);
const streamCount = 200;
const requestsPerSecond = 50;

/** Resident memory in MiB. */
const residentMiB = (pid: number): number =>
	Number(/^VmRSS:\s*(?<kib>\d+)/mv.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!.groups!['kib']) / 1024;

/** Seconds of processor time so far. */
function processorSeconds(pid: number): number {
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ', 2)[1]!.split(' ');
	return (Number(fields[11]) + Number(fields[12])) / 100;
}

const redis = await startRedis();
const box = await createRedisBox(redis.port, 8);
const web = await startWeb(box);
const streams = Array.from({length: streamCount}, () => listenTo(web.port));
while (streams.some(({messages}) => messages.length === 0)) {
	await sleep(50);
}

const took: number[] = [];
const failed: number[] = [];
const pending = new Set<Promise<void>>();
let mostMiB = 0;
const processorBefore = processorSeconds(web.pid);

async function askOnce(): Promise<void> {
	const started = performance.now();
	const {status} = await ask(web.port, '/api/status');
	took.push(performance.now() - started);
	if (status !== 200) {
		failed.push(status);
	}
}

/** Somebody gets and gives back GPUs all the while. */
const busy = (async () => {
	const until = performance.now() + seconds * 1000;
	while (performance.now() < until) {
		await box.run('reserve --gpus 2');
		await sleep(1000);
		await box.run('release');
		await sleep(1000);
	}
})();

const started = performance.now();
for (let number = 0; number < seconds * requestsPerSecond; number++) {
	await sleep(Math.max(0, started + (number * 1000) / requestsPerSecond - performance.now()));
	const asked = askOnce();
	pending.add(asked);
	void asked.finally(() => {
		pending.delete(asked);
	});
	if (number % requestsPerSecond === 0) {
		mostMiB = Math.max(mostMiB, residentMiB(web.pid));
	}
}

await Promise.all(pending);
await busy;
const processor = processorSeconds(web.pid) - processorBefore;
// Those that all of them could hear.
const lastFirst = Math.max(...streams.map(({messages}) => messages[0]!.id));
const lastCommon = Math.min(...streams.map(({messages}) => messages.at(-1)!.id));
const changes = streams.map(
	({messages}) => messages.filter(({event, id}) => event === 'change' && id > lastFirst && id <= lastCommon).length,
);
tell('requests', took.length, '');
tell('events to each browser, fewest', Math.min(...changes), '');
tell('median request', percentile(took, 0.5), 'ms');
tell('99th percentile', percentile(took, 0.99), 'ms');
tell('processor', (processor / seconds) * 100, '% of one core');
report('slowest request', Math.max(...took), {limit: 1000, unit: 'ms'});
report('requests that failed', failed.length, {limit: 0, unit: ''});
report('resident memory', mostMiB, {limit: 200, unit: 'MiB'});
report('browsers that missed an event', Math.max(...changes) - Math.min(...changes), {limit: 0, unit: 'events'});
for (const stream of streams) {
	stream.close();
}

await web.end('SIGTERM');
box.remove();
await redis.stop();
