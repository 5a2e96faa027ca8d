/** `admin --drain` and `admin --undrain` on the command line. */
import {Redis} from 'ioredis';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {slowTest} from '../../_helpers/slow.js';

let redis: RedisServer;
let box: Box;
beforeAll(async () => {
	redis = await startRedis();
	box = await createRedisBox(redis.port, 4);
});
afterAll(async () => {
	box.remove();
	await redis.stop();
});

slowTest('a drained GPU is granted only after admin --undrain', async () => {
	await box.run('reserve --gpu-ids 2 --duration 1h');
	expect(await box.run(['admin', '--drain', '2-3', '--reason', 'fan\u{1B}[31m is dead'])).toEqual({
		exitCode: 0,
		stdout: 'Took 2 GPU(s) out of service: [2 3]: fan is dead\n',
		stderr: 'Still in use until released: GPU(s) [2]\n',
	});
	const {stdout} = await box.run('status');
	const lines = stdout.split('\n');
	expect(lines[4]).toMatch(/2 +│ ● IN_USE .*expires in \d+h \d+m \d+s, drained: fan is dead/v);
	expect(lines[5]).toMatch(/3 +│ ✗ ERROR .*drained: fan is dead/v);
	expect(stdout).not.toContain('\u{1B}[31m is');
	const rows = JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<Record<string, unknown>>;
	expect(rows[3]).toMatchObject({
		status: 'ERROR',
		error: expect.stringContaining('drained: fan') as string,
		drained: {reason: 'fan\u{1B}[31m is dead', since: expect.stringMatching(/^20.*Z$/v) as string},
	});
	expect(rows[0]).not.toHaveProperty('drained');
	expect(await box.run('reserve --gpu-ids 3 --nonblock --force')).toEqual({
		exitCode: 3,
		stdout: '',
		stderr:
			"Error: Not enough GPUs available. Requested: 1, Available: 0 (1 GPU out of service - run 'canhazgpu status' for details)\nGPU 3 is out of service: fan is dead.\n",
	});
	expect((await box.run('events')).stdout).toContain('took GPUs 2,3 out of service: fan is dead');
	expect(await box.run('admin --undrain 3,1')).toEqual({
		exitCode: 0,
		stdout: 'Put 1 GPU(s) back into service: [3]\n',
		stderr: 'Already in service: GPU(s) [1]\n',
	});
	expect(await box.run('admin --undrain 1')).toMatchObject({stdout: 'Already in service: GPU(s) [1]\n'});
	expect(await box.run('reserve --gpu-ids 3 --nonblock --duration 1h')).toMatchObject({exitCode: 0});
});

test.each<[typed: string, exitCode: number, error: string]>([
	['admin --drain', 2, '--drain needs a value'],
	[
		'admin --drain x',
		2,
		'--drain: "x" is not a GPU id\nWrite ids with commas between them, or a range: --drain 1,3 or 0-3',
	],
	['admin --drain 4', 2, 'GPU 4 is out of range'],
	['admin --drain 1,1', 2, 'GPU 1 is named twice'],
	['admin --drain 1 --undrain 2', 2, 'Give --drain or --undrain, not both'],
	['admin --drain 1 --gpus 4', 2, '--gpus creates a pool, but --drain and --undrain change the existing pool'],
	['admin --undrain 1 --force', 2, '--force creates a pool'],
	['admin --reason fan', 2, '--reason needs --drain'],
	['admin --undrain 1 --reason fan', 2, '--reason needs --drain'],
	[`admin --drain 1 --reason ${'x'.repeat(201)}`, 2, '--reason must be 1 to 200 characters long'],
])('%s is refused with exit code %d: %s', async (typed, exitCode, error) => {
	const answer = await box.run(typed);
	expect(answer).toMatchObject({exitCode, stdout: ''});
	expect(answer.stderr).toContain(`Error: ${error}`);
});

slowTest('admin --undrain and status report a drain record of the wrong type in Redis', async () => {
	const client = new Redis(redis.port);
	await client.del('canhazgpu:drain');
	await client.lpush('canhazgpu:drain', 'x');
	expect(await box.run('admin --undrain 0')).toEqual({
		exitCode: 4,
		stdout: '',
		stderr: `Error: The record of drained GPUs cannot be read: it is a list, not a string\nMove it out of the way: redis-cli -p ${redis.port} RENAME canhazgpu:drain canhazgpu:drain.damaged\n`,
	});
	expect((await box.run('status')).stdout).toContain('drained: the record of drained GPUs cannot be read');
	client.disconnect();
	await redis.kill();
	expect(await box.run('admin --drain 0')).toMatchObject({exitCode: 4, stdout: ''});
});
