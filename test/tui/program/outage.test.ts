/** Outages of Redis while a monitor is running. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {slowTest} from '../../_helpers/slow.js';
import {isShown, keys, rowOf, startTop} from './_program.js';

let redis: RedisServer;
let box: Box;

beforeAll(async () => {
	redis = await startRedis({isDurable: true});
	box = await createRedisBox(redis.port, 4);
});

afterAll(async () => {
	await redis.stop();
	box.remove();
});

test('top reports the loss of Redis, refuses changes and keeps its queue position', async () => {
	expect(await box.run('reserve --gpus 4 --note kept')).toMatchObject({exitCode: 0});
	const top = startTop(box);
	await top.waitFor(isShown(4));
	top.write('w');
	await top.waitFor('Wait for GPUs');
	top.write(keys.enter);
	await top.waitFor(' WAIT Waiting for 1 GPU: position 1 of 1');
	const before = await top.waitFor('Free 0  Mine 4');

	await redis.kill();
	const lost = await top.waitFor(/\[STALE \d+s\]/v);
	expect([0, 1, 2, 3].map((gpu) => rowOf(lost, gpu).slice(0, 26))).toEqual(
		[0, 1, 2, 3].map((gpu) => rowOf(before, gpu).slice(0, 26)),
	);
	await top.waitFor(/values from [\d:]+ [\s\S]* WARN Cannot reach Redis at .*: .* - changes are disabled/v);
	top.write('r');
	await top.waitFor(/WARN Changes are disabled: Cannot reach Redis at /v);
	top.write('jx');
	await top.waitFor('> 1 ');
	await top.waitFor(/WARN Changes are disabled: Cannot reach Redis at /v);
	// The age of the values continues.
	await top.waitFor(/\[STALE [2-9]s\]/v);

	await redis.restart();
	const back = await top.waitFor('[LIVE]');
	expect([0, 1, 2, 3].map((gpu) => rowOf(back, gpu).slice(5, 26))).toEqual(
		[0, 1, 2, 3].map((gpu) => rowOf(before, gpu).slice(5, 26)),
	);

	// Later changes are seen as before.
	expect(await box.run('release --gpu-ids 3')).toMatchObject({exitCode: 0});
	await top.waitFor(' OK reserved GPU 3 for 8h 0m 0s');
	expect(await box.run('release --gpu-ids 0,2,3')).toMatchObject({exitCode: 0});
	await top.waitFor('Free 3  Mine 1');
	top.write('x');
	await top.waitFor('Release GPU 1 now? y/N');
	top.write('y');
	await top.waitFor('Free 4  Mine 0');
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});

slowTest('top shows a change that was made just when Redis became reachable again', async () => {
	const top = startTop(box);
	await top.waitFor(isShown(4));
	await redis.kill();
	await top.waitFor('[STALE');
	await redis.restart();
	expect(await box.run('reserve --gpu-ids 0')).toMatchObject({exitCode: 0});
	const seen = await top.waitFor('Free 3  Mine 1');
	expect(rowOf(seen, 0)).toContain(' Mine ');
	expect(seen[0]).toContain('[LIVE]');
	expect(await box.run('release')).toMatchObject({exitCode: 0});
	await top.waitFor('Free 4  Mine 0');
});

slowTest('top reports an emptied Redis, and shows the new pool in it', async () => {
	const top = startTop(box);
	await top.waitFor(isShown(4));
	await redis.restart({settings: ['--appendonly', 'no']});
	await top.waitFor(/no GPU pool|There is no|STALE|0 GPUs/v);
	expect(await box.run('admin --gpus 2 --provider fake --force')).toMatchObject({exitCode: 0});
	await top.waitFor(isShown(2));
});
