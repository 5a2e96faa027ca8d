/** Detached jobs while Redis is unreachable for some seconds. Redis keeps its data. */
import path from 'node:path';
import process from 'node:process';
import {readFileSync} from 'node:fs';
import {expect, onTestFinished, test} from 'vitest';
import {soundJobs} from '../../../source/core/rules/jobs/look.js';
import {slowTest} from '../../_helpers/slow.js';
import {eventually} from '../../_helpers/eventually.js';
import type {Box} from '../../_helpers/program/cli.js';
import {freshRedisBox, holders, isAlive, openStoreOf, start} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {openRequestProxy, type RequestProxy} from '../../_helpers/store/request-proxy.js';

const redis = redisOfFile();

type Scene = {
	readonly box: Box;
	readonly proxy: RequestProxy;
	/** Variables that make a command and the wrappers of its jobs connect through the proxy. */
	readonly byProxy: Readonly<Record<string, string>>;
};

async function setScene(): Promise<Scene> {
	const box = await freshRedisBox(redis.port, 1);
	const proxy = await openRequestProxy(redis.port);
	onTestFinished(async () => proxy.close());
	return {box, proxy, byProxy: {CANHAZGPU_REDIS_PORT: String(proxy.port)}};
}

const jobsOf = async ({box}: Scene): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
	JSON.parse((await box.run('jobs --all --json')).stdout) as ReadonlyArray<Readonly<Record<string, unknown>>>;

slowTest('a job runs once if the answer that stores its start is lost', async () => {
	const scene = await setScene();
	const {box, proxy, byProxy} = scene;
	proxy.failAt('"state":"running"', {forMs: 9000, isAnswered: false});
	expect(await box.run('run --detach -- echo ran', byProxy)).toMatchObject({exitCode: 0});
	expect(await box.run('wait 1')).toMatchObject({exitCode: 0});
	expect(await jobsOf(scene)).toMatchObject([{id: '1', state: 'completed', starts: 1}]);
	expect((await box.run('logs 1')).stdout).toBe('ran\n');
	expect(await holders(box)).toBe('0:-');
});

slowTest('a job starts after an outage that begins before it has asked for GPUs', async () => {
	const scene = await setScene();
	const {box, proxy, byProxy} = scene;
	proxy.failAt('"state":"queued"', {forMs: 12_000, isAnswered: true});
	expect(await box.run('run --detach -- echo ran', byProxy)).toMatchObject({exitCode: 0});
	expect(await box.run('wait 1')).toMatchObject({exitCode: 0});
	expect(await jobsOf(scene)).toMatchObject([{id: '1', state: 'completed', starts: 1}]);
	expect((await box.run('logs 1')).stdout).toMatch(
		/^canhazgpu: the command cannot start until the store answers: .*\nran\n$/v,
	);
	expect(await holders(box)).toBe('0:-');
});

slowTest('run --detach prints the id if the store fails when the job gets its wrapper', async () => {
	const {box, proxy, byProxy} = await setScene();
	proxy.failAt('"held":true', {forMs: 6000, isAnswered: true});
	expect(await box.run('run --detach -q -- true', byProxy)).toEqual({exitCode: 0, stdout: '1\n', stderr: ''});
	expect(await box.run('wait 1')).toMatchObject({exitCode: 0});
});

test('a job starts after an outage in which its background process first connects', async () => {
	const scene = await setScene();
	const {box, proxy, byProxy} = scene;
	proxy.failAt('"state":"pending"', {forMs: 6000, isAnswered: true});
	expect(await box.run('run --detach -q -- true', byProxy)).toEqual({exitCode: 0, stdout: '1\n', stderr: ''});
	expect(await box.run('wait 1')).toMatchObject({exitCode: 0});
	expect(await jobsOf(scene)).toMatchObject([{id: '1', state: 'completed', starts: 1}]);
});

slowTest(
	'a job whose background process repeats the request after an outage keeps its place in the queue',
	async () => {
		const {box, proxy, byProxy} = await setScene();
		expect(await box.run('reserve --short')).toMatchObject({exitCode: 0});
		proxy.failAt('"enqueue_time"', {forMs: 15_000, isAnswered: false});
		expect(await box.run('run --detach -q --wait 5m -- echo ran', byProxy)).toMatchObject({exitCode: 0});
		const log = async () => (await box.run('logs 1')).stdout;
		await eventually(async () => (await log()).includes('cannot start until the store answers'));
		const store = await openStoreOf(box);
		const entries = async () => (await store.read()).queue.map(({id}) => id);
		const [joined] = await entries();
		await eventually(async () => /position \d+ of/v.test(await log()));
		expect(await entries()).toEqual([joined]);
		expect(await box.run('release --gpu-ids 0')).toMatchObject({exitCode: 0});
		expect(await box.run('wait 1')).toMatchObject({exitCode: 0});
		expect(await holders(box)).toBe('0:-');
	},
);

slowTest(
	'run --detach that is interrupted prints the id and cancels the jobs of the array that have not started',
	async () => {
		const scene = await setScene();
		const {box} = scene;
		const submission = start(box, 'run --detach --array 0-29 -- sleep 600');
		const store = await openStoreOf(box);
		await eventually(async () => soundJobs(await store.readJobs()).some(({isHeld}) => isHeld));
		submission.kill('SIGINT');
		const {exitCode, stdout, stderr} = await submission.ended;
		expect([exitCode, stdout]).toEqual([130, '1\n']);
		const {count} = /^Interrupted: (?<count>\d+) of 30 jobs were cancelled before they started/mv.exec(stderr)!.groups!;
		const jobs = await jobsOf(scene);
		const cancelled = jobs.filter(({state}) => state === 'cancelled');
		expect(cancelled).toHaveLength(Number(count));
		expect(cancelled[0]).toMatchObject({reason: 'its submission was interrupted'});
		expect(await box.run('cancel 1')).toMatchObject({exitCode: 0});
	},
);

slowTest.each([
	['run --detach', 'run --detach -q -- sleep 600', '1\n'],
	['retry', 'retry 1', ''],
])('%s that is interrupted while it stores the job cancels the job', async (command, words, printed) => {
	const {box, proxy, byProxy} = await setScene();
	if (command === 'retry') {
		expect(await box.run('run --detach -q -- false')).toMatchObject({exitCode: 0});
		expect(await box.run('wait 1')).toMatchObject({exitCode: 1});
	}

	proxy.failAt('"state":"pending"', {forMs: 2000, isAnswered: false});
	const submission = start(box, words, byProxy);
	const store = await openStoreOf(box);
	const states = async () => soundJobs(await store.readJobs()).map(({state}) => state);
	await eventually(async () => (await states()).includes('pending'));
	submission.kill('SIGINT');
	expect(await submission.ended).toMatchObject({
		exitCode: 130,
		stdout: printed,
		stderr: 'Interrupted: the job was cancelled before it started\n',
	});
	expect(await states()).toEqual(['cancelled']);
});

slowTest('the wrapper of a short job exits after an outage that begins with the job', async () => {
	const scene = await setScene();
	const {box, proxy, byProxy} = scene;
	proxy.failAt('"state":"running"', {forMs: 5000, isAnswered: true});
	expect(await box.run(['run', '--detach', '--', 'sh', '-c', 'echo $PPID > wrapper'], byProxy)).toMatchObject({
		exitCode: 0,
	});
	expect(await box.run('wait 1')).toMatchObject({exitCode: 0});
	expect(await jobsOf(scene)).toMatchObject([{id: '1', state: 'completed', starts: 1}]);
	const wrapper = Number(readFileSync(path.join(box.home, 'wrapper'), 'utf8'));
	await eventually(() => !isAlive(wrapper), 20_000);
});

test('a job with --retry releases the GPUs of a failed attempt after an outage, and then runs again', async () => {
	const {box, proxy, byProxy} = await setScene();
	// The release of the GPUs is tried for 10 seconds.
	proxy.failAt('"exited"', {forMs: 14_000, isAnswered: false});
	const command = ['sh', '-c', 'test -e "$HOME/again" || { touch "$HOME/again"; exit 3; }'];
	expect(await box.run(['run', '--detach', '-q', '--retry', '1', '--', ...command], byProxy)).toMatchObject({
		exitCode: 0,
	});
	expect(await box.run('wait 1')).toMatchObject({exitCode: 0});
	expect(await holders(box)).toBe('0:-');
});

test('the background process of a waiting job ends soon after SIGTERM if the store does not answer', async () => {
	const scene = await setScene();
	const {box, proxy, byProxy} = scene;
	expect(await box.run('reserve --short')).toMatchObject({exitCode: 0});
	expect(await box.run('run --detach -q --begin 1h -- true', byProxy)).toMatchObject({exitCode: 0});
	const store = await openStoreOf(box);
	const firstJob = async () => soundJobs(await store.readJobs())[0]!;
	await eventually(async () => (await firstJob()).isHeld);
	const {pid} = (await firstJob()).holder!;
	await proxy.shut();
	process.kill(pid, 'SIGTERM');
	await eventually(() => !isAlive(pid), 25_000);
	expect(await jobsOf(scene)).toMatchObject([{id: '1', state: 'lost', reason: 'its processes were killed'}]);
});
