/** Waiting processes of which some are killed. The other processes are served, and nothing is left behind. */
import {expect} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek, recordsOf, start} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

slowTest.each([
	['redis', async () => freshRedisBox(redis.port, 2)],
	['embedded', async () => freshEmbeddedBox(2)],
])('with the %s store, if three of ten waiting run commands are killed, the others are served', async (__, create) => {
	const box = await create();
	await box.run('reserve --gpus 2');
	const processes = Array.from({length: 10}, (_, index) =>
		start(box, ['run', '--gpus', String(1 + (index % 2)), '--', 'sleep', String((index % 5) * 0.05)]),
	);
	await eventually(async () => (await peek(box)).queue.length === 10);
	for (const index of [0, 5, 8]) {
		processes[index]!.kill('SIGKILL');
	}

	await box.run('release');
	const ran = await Promise.all(processes.map(async ({ended}) => ended));
	expect(ran.map(({exitCode, signal}) => exitCode ?? signal)).toEqual([
		'SIGKILL',
		0,
		0,
		0,
		0,
		'SIGKILL',
		0,
		0,
		'SIGKILL',
		0,
	]);
	expect(await holders(box)).toBe('0:- 1:-');
	expect((await peek(box)).queue).toEqual([]);
	const ends = (await recordsOf(box)).map(({endReason}) => endReason);
	expect(ends.filter((reason) => reason === 'exited')).toHaveLength(11);
});
