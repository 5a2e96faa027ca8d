/** A waiting process whose output is not read, or whose event loop hangs, does not block other requests. */
import path from 'node:path';
import process from 'node:process';
import {describe, expect, test} from 'vitest';
import {starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, freshRedisBox, peek, start, type Started} from '../../_helpers/program/processes.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';

const redis = redisOfFile();

/** Starts the program with a full pipe as stderr. */
const fullPipe = 'mkfifo "$1" && exec 3<>"$1" && shift && { head -c 65536 /dev/zero >&3; exec "$@" 2>&3; }';

function startUnread(box: Box, words: readonly string[]): Started {
	const pipe = path.join(box.home, 'stderr.fifo');
	return start(box, [fullPipe, 'sh', pipe, starter, ...starterText, ...words], {}, ['sh', '-c']);
}

/** Blocks the event loop of a process on SIGUSR2, so that the process looks alive. */
const hangingLoop = `data:text/javascript,${encodeURIComponent(
	"process.on('SIGUSR2', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))",
)}`;

describe.each(
	firstCase([
		['embedded', async () => freshEmbeddedBox(2)],
		['redis', async () => freshRedisBox(redis.port, 2)],
	]),
)('with the %s store', (_, create) => {
	test('reserve is served although nobody reads its stderr', async () => {
		const box = await create();
		await box.run('reserve --gpus 2');
		const waiter = startUnread(box, ['reserve', '--gpus', '2', '--short']);
		await eventually(async () => (await peek(box)).queue.length === 1);
		await box.run('release');
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
	});

	test('run is served and starts its job although nobody reads its stderr', async () => {
		const box = await create();
		await box.run('reserve --gpus 2');
		const waiter = startUnread(box, ['run', '--gpu-ids', '1', '--', 'sh', '-c', 'echo "on $CUDA_VISIBLE_DEVICES"']);
		await eventually(async () => (await peek(box)).queue.length === 1);
		await box.run('release');
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: 'on 1\n'});
	});

	slowTest('a hanging reserve blocks nobody after two missed heartbeats, and queue --why says so', async () => {
		const box = await create();
		await box.run('reserve --gpu-ids 0');
		const hanging = start(box, 'reserve --gpus 2 --short', {NODE_OPTIONS: `--import=${hangingLoop}`});
		await hanging.says(/got 1\/2 \[1\]/v);
		process.kill(hanging.pid, 'SIGUSR2');
		const behind = start(box, ['run', '--gpu-ids', '1', '--', 'echo', 'passed']);
		await behind.says(/Waiting for GPU 1/v);
		expect(await behind.ended).toMatchObject({exitCode: 0, stdout: 'passed\n'});
		expect((await peek(box)).queue).toHaveLength(1);
		const {stdout} = await box.run('queue --why');
		expect(stdout).toMatch(/does not answer: its process has shown no sign of life for 1m/v);
	});
});
