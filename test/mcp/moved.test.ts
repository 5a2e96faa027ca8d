/** Agents whose pool moves to another store. */
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {createBox} from '../_helpers/program/cli.js';
import {isAlive} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {slowTest} from '../_helpers/slow.js';
import {redisOfFile} from '../_helpers/store/redis-of-file.js';
import {connect} from './_client.js';

const redis = redisOfFile();

test('an agent learns that a move of the pool ended its reservation, and its next calls use the new pool', async () => {
	const box = createBox();
	onTestFinished(box.remove);
	expect(await box.run('admin --gpus 1 --provider fake --store embedded')).toMatchObject({exitCode: 0});
	const agent = await connect(box);
	expect(await agent.call('gpu_reserve')).toMatchObject({isError: false});
	const words = `admin --gpus 2 --provider fake --force --store redis --redis-port ${redis.port} --redis-db 6`;
	expect(await box.run(words)).toMatchObject({exitCode: 0});
	await eventually(() => agent.notices().length > 0);
	expect(agent.notices()[0]).toMatch(/^Reservation \S+ is lost: The pool that was in \S+ is in redis \S+\/6 now\.$/v);
	expect((await agent.call('gpu_status')).words).toMatch(/ 2 of 2 GPUs are free: /v);
	expect((await agent.call('gpu_reserve', {gpu_ids: [1]})).words).toContain('You have reserved GPU 1 ');
	await agent.close();
	await eventually(() => !isAlive(agent.pid));
	expect((await box.run('status --json')).stdout).not.toContain('IN_USE');
	expect(agent.stderr()).toBe('');
});

slowTest('mcp ends at once and without a message if its pool has moved', async () => {
	const box = createBox();
	onTestFinished(box.remove);
	await box.run('admin --gpus 1 --provider fake --store embedded');
	const agent = await connect(box);
	await agent.call('gpu_reserve');
	await box.run(`admin --gpus 1 --provider fake --force --store redis --redis-port ${redis.port} --redis-db 7`);
	const began = performance.now();
	process.kill(agent.pid, 'SIGTERM');
	await eventually(() => !isAlive(agent.pid));
	expect(performance.now() - began).toBeLessThan(6000);
	expect(agent.stderr()).toBe('');
});
