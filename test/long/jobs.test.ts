/** Many detached jobs: none is lost without a reason, and none runs twice, whatever is killed. */
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import type {Job} from '../../source/core/model/jobs.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {eventually} from '../_helpers/eventually.js';
import {startSshServers} from '../_helpers/machine/ssh-server.js';
import {createEmbeddedBox, createRedisBox, starter, starterText, type Box} from '../_helpers/program/cli.js';
import {isAlive} from '../_helpers/program/processes.js';
import {startRedis} from '../_helpers/store/redis-server.js';

type JobJson = Readonly<Record<string, unknown>> & {readonly id: string; readonly state: string};

const jobsOf = async (box: Box): Promise<readonly JobJson[]> =>
	JSON.parse((await box.run('jobs --all --json')).stdout) as readonly JobJson[];

const areOver = (jobs: readonly JobJson[]): boolean =>
	jobs.every(({state}) => !['pending', 'queued', 'running'].includes(state));

const linesOf = (box: Box, file: string): readonly string[] => {
	const name = path.join(box.home, file);
	return existsSync(name) ? readFileSync(name, 'utf8').trim().split('\n') : [];
};

const record = 'echo $CANHAZGPU_JOB_ID >> ran; sleep 1; echo $CANHAZGPU_JOB_ID >> done';

test(
	'no job runs twice when shells, wrappers and the Redis server of 50 jobs are killed',
	{timeout: 600_000},
	async () => {
		const server = await startRedis({isDurable: true});
		const box = await createRedisBox(server.port, 8);
		const store = await openRedisStore({host: '127.0.0.1', port: server.port, db: 0, keepReconnecting: true});
		onTestFinished(async () => {
			await store.close();
			await server.stop();
			box.remove();
		});
		const count = 50;
		const killed = new Set<number>();
		for (let number = 1; number <= count; number++) {
			const words = [...starterText, 'run', '--detach', '--', 'sh', '-c', record];
			// Each shell has its own session. Its process group is killed as soon as the job id is known.
			const shell = spawn('sh', ['-c', '"$@" && sleep 600', 'sh', starter, ...words], {
				cwd: box.home,
				env: box.environment,
				detached: true,
				stdio: ['ignore', 'pipe', 'inherit'],
			});
			await once(shell.stdout, 'data');
			process.kill(-shell.pid!, 'SIGKILL');
			if (number % 10 === 5) {
				await server.kill();
				await sleep(500);
				await server.restart();
			}

			if (number % 6 !== 0) {
				continue;
			}

			const {records} = await store.readJobs();
			const held = records
				.flatMap((each) => (each.kind === 'job' && each.job.isHeld ? [each.job] : []))
				.filter((job: Job) => job.endTime === undefined && !killed.has(job.number) && isAlive(job.holder!.pid));
			const victim = held.at(number % Math.max(1, held.length));
			if (victim === undefined) {
				continue;
			}

			killed.add(victim.number);
			process.kill(victim.holder!.pid, 'SIGKILL');
		}

		await eventually(async () => areOver(await jobsOf(box)), 240_000);
		const jobs = await jobsOf(box);
		expect(jobs.map(({id}) => Number(id))).toEqual(Array.from({length: count}, (_, index) => index + 1));
		const ran = linesOf(box, 'ran');
		expect(new Set(ran).size).toBe(ran.length);
		expect(killed.size).toBeGreaterThan(4);
		for (const {id, state} of jobs) {
			expect([id, state === 'completed' || (state === 'lost' && killed.has(Number(id)))]).toEqual([id, true]);
			// Each completed job has run.
			expect([id, state !== 'completed' || ran.includes(id)]).toEqual([id, true]);
		}

		console.log(`${killed.size} wrappers killed, ${jobs.filter(({state}) => state === 'lost').length} jobs lost`);
	},
);

test(
	'a job array of 200 on 8 GPUs runs every index exactly once, at most 16 at a time',
	{timeout: 900_000},
	async () => {
		const box = await createEmbeddedBox(8);
		onTestFinished(() => {
			box.remove();
		});
		const began = performance.now();
		const command = 'echo $CANHAZGPU_ARRAY_INDEX >> indices; sleep 0.2';
		const child = spawn(
			starter,
			[...starterText, 'run', '--detach', '--array', '0-199%16', '--', 'sh', '-c', command],
			{
				cwd: box.home,
				env: box.environment,
				stdio: 'ignore',
			},
		);
		const [code] = (await once(child, 'exit')) as [number];
		expect(code).toBe(0);
		const submittedMs = performance.now() - began;
		let most = 0;
		await eventually(async () => {
			const jobs = await jobsOf(box);
			most = Math.max(most, jobs.filter(({state}) => ['queued', 'running'].includes(state)).length);
			await sleep(500);
			return areOver(jobs);
		}, 600_000);
		console.log(`submitted in ${Math.round(submittedMs)} ms, ended after ${Math.round(performance.now() - began)} ms`);
		expect(most).toBeLessThanOrEqual(16);
		expect(
			linesOf(box, 'indices')
				.map(Number)
				.toSorted((a, b) => a - b),
		).toEqual(Array.from({length: 200}, (_, index) => index));
		expect((await jobsOf(box)).every(({state}) => state === 'completed')).toBe(true);
	},
);

test('a detached job survives the end of the ssh session and of sshd', async () => {
	const box = await createEmbeddedBox(2);
	const servers = await startSshServers(path.join(box.home, 'ssh'), {box1: box});
	onTestFinished(async () => {
		await servers.stopAll();
		box.remove();
	});
	const client = path.join(servers.directory, 'ssh');
	// With a terminal, the kernel sends SIGHUP to its processes at the logout.
	const submitted = execFileSync(
		client,
		['-tt', 'box1', `cd '${box.home}' && canhazgpu run --detach -- sh -c 'sleep 3; echo survived'`],
		{
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'ignore'],
		},
	);
	expect(submitted).toMatch(/^1\r?\n/v);
	await servers.stop('box1');
	expect((await box.run('wait 1')).exitCode).toBe(0);
	expect((await box.run('logs 1')).stdout).toContain('survived');
});

test('a detached job continues while the disk of its log is full, and logs again when there is room', async () => {
	const box = await createEmbeddedBox(2);
	const disk = path.join(box.home, 'disk');
	mkdirSync(disk);
	execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', disk]);
	onTestFinished(() => {
		execFileSync('umount', ['--lazy', disk]);
		box.remove();
	});
	const environment = {XDG_STATE_HOME: disk};
	// Writes 4 MiB, then waits until there is room.
	const command = 'head -c 4194304 /dev/zero && echo all >&2; until [ -e go ]; do sleep 0.1; done; echo end';
	expect((await box.run(['run', '--detach', '--', 'sh', '-c', command], environment)).exitCode).toBe(0);
	const log = path.join(disk, 'canhazgpu/jobs/1.log');
	await eventually(() => readFileSync(log).length > 900_000);
	await sleep(1000);
	expect(await jobsOf(box)).toMatchObject([{state: 'running'}]);
	const descriptor = openSync(log, 'r+');
	closeSync(descriptor);
	execFileSync('mount', ['-o', 'remount,size=16m', disk]);
	const go = openSync(path.join(box.home, 'go'), 'w');
	writeSync(go, 'go');
	closeSync(go);
	expect((await box.run('wait 1', environment)).exitCode).toBe(0);
	await eventually(() => readFileSync(log, 'latin1').endsWith('end\n'));
	rmSync(log);
});
