import {describe, expect} from 'vitest';
import {createEmbeddedBox, createRedisBox, type Box, type Ran} from '../_helpers/program/cli.js';
import {start} from '../_helpers/program/processes.js';
import {redisOfFile} from '../_helpers/store/redis-of-file.js';
import {slowTest} from '../_helpers/slow.js';

const redis = redisOfFile();

/** Repeats a command after the error that a busy machine can cause. */
async function reserve(box: Box): Promise<Ran> {
	const ran = await start(box, 'reserve --nonblock --short').ended;
	return /^Error: (?:The GPU pool is too busy|Cannot reach Redis)/v.test(ran.stderr) ? reserve(box) : ran;
}

describe.each([
	{store: 'redis', processes: 100, gpuCount: 64, create: async (count: number) => createRedisBox(redis.port, count)},
	{store: 'embedded', processes: 50, gpuCount: 32, create: createEmbeddedBox},
])('with the $store store', ({processes, gpuCount, create}) => {
	slowTest(`${processes} concurrent reserve commands get each of ${gpuCount} GPUs exactly once`, async () => {
		const box = await create(gpuCount);
		// Fills the compile cache once for all processes.
		expect(await box.run('reserve')).toMatchObject({exitCode: 0});
		expect(await box.run('release')).toMatchObject({exitCode: 0});
		const ran = await Promise.all(Array.from({length: processes}, async () => reserve(box)));
		const granted = ran.filter(({exitCode}) => exitCode === 0).map(({stdout}) => Number(stdout));
		expect(granted.toSorted((a, b) => a - b)).toEqual(Array.from({length: gpuCount}, (_, index) => index));
		const refused = ran.filter(({exitCode}) => exitCode !== 0);
		expect(refused.map(({exitCode}) => exitCode)).toEqual(Array.from({length: processes - gpuCount}, () => 3));
		expect(
			refused.every(({stdout, stderr}) => stdout === '' && stderr.startsWith('Error: Not enough GPUs available.')),
		).toBe(true);
		box.remove();
	});
});
