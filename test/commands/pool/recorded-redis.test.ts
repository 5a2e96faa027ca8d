/** The program sends credentials only to the Redis that the configuration names, not to another recorded Redis. */
import {chmodSync, mkdirSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {startFakeRedis} from '../../_helpers/store/fake-redis.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {slowTest} from '../../_helpers/slow.js';

const password = 'S3cretPoolPassword';
const redis = redisOfFile({settings: ['--requirepass', password]});

function newBox(): Box {
	const box = createBox({CANHAZGPU_REDIS_PASSWORD: password});
	onTestFinished(box.remove);
	return box;
}

function record(box: Box, place: Record<string, unknown>): string {
	mkdirSync(box.poolDirectory, {recursive: true});
	const file = path.join(box.poolDirectory, 'pool.json');
	writeFileSync(file, JSON.stringify({store: 'redis', host: '127.0.0.1', db: 0, ...place}));
	chmodSync(file, 0o644);
	return file;
}

test('status and completion send no password to a recorded Redis that the configuration does not name', async () => {
	const box = newBox();
	const thief = await startFakeRedis(() => '-NOAUTH Authentication required.\r\n');
	record(box, {port: thief.port});
	const username = {CANHAZGPU_REDIS_USERNAME: 'canhazgpu'};
	const ran = await box.run('status', username);
	expect(ran).toMatchObject({exitCode: 4, stdout: ''});
	expect(ran.stderr).toBe(
		`Error: Redis at 127.0.0.1:${thief.port} requires a password\nThe configured password was not sent, because it is for redis localhost:6379/0, but this machine's pool is in another Redis. If that Redis is right, add it to the settings: redis: {host: "127.0.0.1", port: ${thief.port}, db: 0}\n`,
	);
	await box.run(['--complete', 'bash', 'release', '-G', ''], username);
	const heard = JSON.stringify(thief.asked);
	expect(heard).toContain('canhazgpu:gpu_count');
	expect(heard).not.toMatch(/S3cret|AUTH|HELLO/v);
});

test('status and admin name the file that records an unreachable Redis, and what to do if the pool has moved', async () => {
	const box = newBox();
	const file = record(box, {port: 1});
	const problem = `Error: Cannot reach Redis at 127.0.0.1:1: connection refused\nIs redis-server running there? ${file} names that Redis. If the pool has moved, remove that file as root, and repeat canhazgpu admin with the new address.`;
	expect(await box.run('status')).toEqual({exitCode: 4, stdout: '', stderr: `${problem}\n`});
	const {stderr} = await box.run('admin --gpus 2 --provider fake');
	expect(stderr).toContain(problem);
	const named = await box.run('status', {CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: '1'});
	expect(named.stderr).not.toContain(file);
});

slowTest(
	'after the config file gets the settings from the hint, status sends the password to the recorded Redis',
	async () => {
		const box = newBox();
		const named = {CANHAZGPU_REDIS_HOST: 'localhost', CANHAZGPU_REDIS_PORT: String(redis.port)};
		expect(await box.run('admin --gpus 2 --provider fake --force', named)).toMatchObject({exitCode: 0, stderr: ''});
		const {stderr} = await box.run('status');
		const settings = /add it to the settings: (?<settings>.*)\n/v.exec(stderr)!.groups!['settings']!;
		writeFileSync(path.join(box.home, '.canhazgpu.yaml'), settings);
		const {exitCode, stdout} = await box.run('status --json');
		expect({exitCode, rows: JSON.parse(stdout) as unknown}).toEqual({
			exitCode: 0,
			rows: [expect.anything(), expect.anything()],
		});
	},
);

test('admin for Redis makes the pool directory writable only by its owner', async () => {
	const box = newBox();
	record(box, {port: 1});
	chmodSync(box.poolDirectory, 0o777);
	const place = {CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port)};
	expect(await box.run('admin --gpus 2 --provider fake --force', place)).toMatchObject({exitCode: 0});
	// eslint-disable-next-line no-bitwise
	expect(statSync(box.poolDirectory).mode & 0o7777).toBe(0o755);
});

slowTest('admin --force sends the password of the URL also to the former pool on the same server', async () => {
	const box = createBox();
	onTestFinished(box.remove);
	const at = (db: number) => ({CANHAZGPU_REDIS_URL: `redis://:${password}@127.0.0.1:${redis.port}/${db}`});
	await box.run('admin --gpus 2 --provider fake --force', at(3));
	await box.run('reserve', at(3));
	expect(await box.run('admin --gpus 2 --provider fake --force', at(4))).toEqual({
		exitCode: 0,
		stdout: `Created a pool of 2 GPU(s) (fake) in redis 127.0.0.1:${redis.port}/4\nEnded 1 reservation(s) of the replaced pool\n`,
		stderr: `Detached jobs and the history stay in redis 127.0.0.1:${redis.port}/3.\n`,
	});
});
