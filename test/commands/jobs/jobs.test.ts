/** Detached jobs: the built program, real processes, an embedded pool and a Redis pool. */
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {emptyPlan} from '../../../source/core/model/plan.js';
import type {SoundJobRecord} from '../../../source/core/model/jobs.js';
import {soundRecords} from '../../../source/core/rules/jobs/look.js';
import {createEmbeddedBox, createRedisBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {startChatServer} from '../../_helpers/machine/chat-server.js';
import {isAlive, openStoreOf, peek, start} from '../../_helpers/program/processes.js';
import {eventually} from '../../_helpers/eventually.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';
import {startRedis} from '../../_helpers/store/redis-server.js';

type JobJson = Readonly<Record<string, unknown>> & {readonly id: string; readonly state: string};

const jobsOf = async (box: Box): Promise<readonly JobJson[]> =>
	JSON.parse((await box.run('jobs --json')).stdout) as readonly JobJson[];

const jobOf = async (box: Box, id: string): Promise<JobJson | undefined> =>
	(await jobsOf(box)).find((job) => job.id === id);

const submit = async (box: Box, flags: string, ...command: readonly string[]): Promise<string> => {
	const {stdout, stderr, exitCode} = await box.run([
		'run',
		'--detach',
		...flags.split(' ').filter(Boolean),
		'--',
		...command,
	]);
	expect([exitCode, stderr]).toEqual([0, '']);
	return stdout.trim();
};

const logOf = (box: Box, id: string): string => path.join(box.home, '.local/state/canhazgpu/jobs', `${id}.log`);

/** Returns the pid that the job's command writes first. Kills the process when the test ends. */
async function pidOf(box: Box, file: string): Promise<number> {
	await eventually(
		() => existsSync(path.join(box.home, file)) && readFileSync(path.join(box.home, file), 'utf8').endsWith('\n'),
	);
	const pid = Number(readFileSync(path.join(box.home, file), 'utf8'));
	onTestFinished(() => {
		if (isAlive(pid)) {
			process.kill(pid, 'SIGKILL');
		}
	});
	return pid;
}

describe.each(
	firstCase([
		['embedded', async () => createEmbeddedBox(2)],
		[
			'redis',
			async () => {
				const server = await startRedis();
				const box = await createRedisBox(server.port, 2);
				return {
					...box,
					remove() {
						box.remove();
						void server.stop();
					},
				};
			},
		],
	] as const),
)('detached jobs with the %s store', (_, create) => {
	let box: Box;
	beforeAll(async () => {
		box = await create();
	});
	afterAll(() => {
		box.remove();
	});

	test('wait returns the exit code of a job, and logs prints its output', async () => {
		const id = await submit(
			box,
			'--gpus 2',
			'sh',
			'-c',
			'echo "$CUDA_VISIBLE_DEVICES as $CANHAZGPU_JOB_ID"; echo bad >&2; exit 5',
		);
		expect(id).toBe('1');
		const {exitCode, stderr} = await box.run('wait 1');
		expect([exitCode, stderr]).toEqual([5, 'canhazgpu: job 1 failed with exit code 5. Its output: canhazgpu logs 1\n']);
		expect((await box.run('logs 1')).stdout).toBe('0,1 as 1\nbad\n');
		// eslint-disable-next-line no-bitwise -- permissions are bits
		expect(statSync(logOf(box, '1')).mode & 0o777).toBe(0o600);
		expect(await jobOf(box, '1')).toMatchObject({state: 'failed', exit_code: 5, gpu_ids: [0, 1], directory: box.home});
		expect((await box.run('status')).stdout).not.toContain('IN_USE');
	});

	test('logs -f follows the output of a job until the job has ended', async () => {
		const id = await submit(box, '', 'sh', '-c', 'echo one; sleep 0.5; echo two');
		expect(await box.run(`logs -f ${id}`)).toMatchObject({exitCode: 0, stdout: 'one\ntwo\n'});
	});

	test('cancel ends a running job with its descendants, and a cancelled waiting job never starts', async () => {
		const running = await submit(
			box,
			'--gpus 2',
			'sh',
			'-c',
			String.raw`sh -c "echo \$\$ > child; exec sleep 600"; true`,
		);
		const child = await pidOf(box, 'child');
		const waiting = await submit(box, '', 'touch', 'started');
		await eventually(async () => (await jobOf(box, waiting))?.state === 'queued');
		const dependent = await submit(box, `--after ${waiting}`, 'touch', 'started');
		expect((await box.run(`cancel ${waiting}`)).stdout).toBe(`Cancelled job ${waiting}\n`);
		expect((await box.run(`cancel ${running}`)).stdout).toBe(`Cancelled job ${running}\n`);
		expect(isAlive(child)).toBe(false);
		expect(await jobOf(box, running)).toMatchObject({state: 'cancelled', exit_code: 143});
		expect(await jobOf(box, dependent)).toMatchObject({state: 'cancelled', reason: `job ${waiting} was cancelled`});
		expect((await box.run(`cancel ${running}`)).stdout).toBe(`Job ${running} has already ended\n`);
		expect((await box.run(`wait ${dependent}`)).exitCode).toBe(1);
		expect(await box.run(`logs ${dependent}`)).toEqual({
			exitCode: 0,
			stdout: '',
			stderr: `canhazgpu: job ${dependent} has not written any output\n`,
		});
		// The GPUs are free again, and the cancelled job did not take them.
		expect((await box.run('run --gpus 2 --nonblock -- true')).exitCode).toBe(0);
		expect(existsSync(path.join(box.home, 'started'))).toBe(false);
	});

	/** Starts to submit an array, and returns its last job as soon as it is stored. */
	async function submitArray(last: number, ...command: readonly string[]) {
		const before = new Set((await jobsOf(box)).map(({id}) => id));
		const submitting = start(box, ['run', '--detach', '--quiet', '--array', `0-${last}`, '--', ...command]);
		let id: string | undefined;
		await eventually(async () => {
			id = (await jobsOf(box)).map((job) => job.id).find((each) => each.endsWith(`_${last}`) && !before.has(each));
			return id !== undefined;
		});
		return {id: id!, number: id!.split('_', 1)[0]!, submitted: submitting.ended};
	}

	slowTest.each([0, 100, 200, 300, 400])(
		'jobs that are cancelled %d ms after they were stored never run and leave the queue',
		async (afterMs) => {
			await box.run('reserve --gpus 2 --duration 1h');
			const {number, submitted} = await submitArray(9, 'touch', 'started');
			await sleep(afterMs);
			expect(await box.run(`cancel ${number}`)).toMatchObject({exitCode: 0});
			await submitted;
			await eventually(async () => (await peek(box)).queue.length === 0);
			await box.run('release');
			expect((await box.run('run --gpus 2 -- true')).exitCode).toBe(0);
			expect(existsSync(path.join(box.home, 'started'))).toBe(false);
		},
	);

	slowTest('cancel does not report a job as cancelled whose command had already succeeded', async () => {
		const {urlOf} = await startChatServer();
		const words = ['run', '--detach', '--quiet', '--notify', '--', 'sh', '-c', 'sleep 1; echo $$ > done'];
		const {stdout: printed} = await box.run(words, {CANHAZGPU_NOTIFY_TO: `webhook:${urlOf('hangs')}`});
		const id = printed.trim();
		await pidOf(box, 'done');
		await eventually(async () => (await peek(box)).gpus.every(({kind}) => kind === 'free'));
		const {stdout} = await box.run(`cancel ${id}`);
		expect([stdout, (await jobOf(box, id))?.state]).toEqual([`Job ${id} has already ended\n`, 'completed']);
	});

	slowTest('run --detach --retry --notify reports only the last end of a job', async () => {
		const {urlOf, heard} = await startChatServer();
		const words = ['run', '--detach', '--quiet', '--notify', '--retry', '2', '--', 'sh', '-c', 'echo ran; exit 3'];
		const {stdout} = await box.run(words, {CANHAZGPU_NOTIFY_TO: `webhook:${urlOf('webhook')}`});
		const id = stdout.trim();
		expect((await box.run(`wait ${id}`)).exitCode).toBe(3);
		expect((await box.run(`logs ${id}`)).stdout.match(/^ran$/gmv)).toHaveLength(3);
		expect(heard('webhook').filter((body) => body.includes('failed'))).toHaveLength(1);
	});

	slowTest('logs -f waits for the output of a job whose background process has not started yet', async () => {
		const {id, number, submitted} = await submitArray(39, 'echo', 'index');
		expect(await box.run(`logs -f ${id}`)).toMatchObject({
			exitCode: 0,
			stdout: expect.stringMatching(/^index$/mv) as unknown,
		});
		await submitted;
		await box.run(`wait ${number}`);
	});

	test('run --detach refuses a config that is a pipe, because the background process would read it again', async () => {
		const words = [starter, ...starterText, '--config', '/dev/stdin', 'run', '--detach', '--', 'true'];
		const line = 'echo "run: {timeout: 1s}" | "$@"';
		expect(await start(box, ['-c', line, 'sh', ...words], {}, ['/bin/sh']).ended).toMatchObject({
			exitCode: 2,
			stdout: '',
			stderr: expect.stringMatching(/^Error: A detached job cannot use the config "\/dev\/stdin": /v) as unknown,
		});
		expect((await box.run('run --config /dev/null --detach --quiet -- true')).exitCode).toBe(0);
	});

	slowTest('run --begin runs nothing if Ctrl-C is pressed at the moment of its start', async () => {
		const waiting = start(box, 'run --begin 2s -- echo ran');
		await sleep(1500);
		waiting.kill('SIGSTOP');
		waiting.kill('SIGINT');
		await sleep(1500);
		waiting.kill('SIGCONT');
		expect(await waiting.ended).toMatchObject({exitCode: 130, stdout: ''});
	});

	test('a job survives the kill of its wrapper, and becomes LOST when its command is killed as well', async () => {
		const id = await submit(box, '', 'sh', '-c', 'echo $PPID > wrapper; echo $$ > command; exec sleep 600');
		const command = await pidOf(box, 'command');
		await eventually(async () => (await jobOf(box, id))?.state === 'running');
		process.kill(await pidOf(box, 'wrapper'), 'SIGKILL');
		expect(await jobOf(box, id)).toMatchObject({state: 'running'});
		process.kill(command, 'SIGKILL');
		await eventually(async () => (await jobOf(box, id))?.state === 'lost');
		expect(await jobOf(box, id)).toMatchObject({state: 'lost', reason: 'its processes were killed'});
		writeFileSync(path.join(box.home, 'command'), '');
		expect((await box.run(`retry ${id}`)).stdout).toBe(`Started job ${id} again\n`);
		await eventually(async () => (await jobOf(box, id))?.state === 'running');
		await pidOf(box, 'command');
		expect((await box.run(`cancel ${id}`)).exitCode).toBe(0);
	});

	slowTest('cancel ends all processes of a job whose wrapper was killed', async () => {
		const strays = '(setsid sleep 600 & echo $! > stray); sleep 600 & echo $! > child';
		const id = await submit(box, '', 'sh', '-c', `echo $PPID > killed; ${strays}; echo $$ > parent; wait`);
		const pids = [await pidOf(box, 'stray'), await pidOf(box, 'child'), await pidOf(box, 'parent')];
		await eventually(async () => (await jobOf(box, id))?.state === 'running');
		// The wrapper stores the process of the command after the state.
		await eventually(async () => {
			const store = await openStoreOf(box);
			const list = await store.readJobs([Number(id)]);
			return list.records.some((record) => record.kind === 'job' && record.job.job !== undefined);
		});
		process.kill(await pidOf(box, 'killed'), 'SIGKILL');
		expect(await box.run(`cancel ${id}`)).toEqual({exitCode: 0, stdout: `Cancelled job ${id}\n`, stderr: ''});
		expect(pids.map((pid) => isAlive(pid))).toEqual([false, false, false]);
		expect(await jobOf(box, id)).toMatchObject({state: 'cancelled'});
	});

	slowTest('a job that another job submits keeps running when that job is cancelled', async () => {
		const program = [starter, ...starterText].join(' ');
		const outer = await submit(
			box,
			'',
			'sh',
			'-c',
			`${program} run --detach -- sleep 600 > inner && echo $$ > submitter; sleep 600`,
		);
		await pidOf(box, 'submitter');
		const inner = readFileSync(path.join(box.home, 'inner'), 'utf8').trim();
		await eventually(async () => (await jobOf(box, inner))?.state === 'running');
		expect((await box.run(`cancel ${outer}`)).stdout).toBe(`Cancelled job ${outer}\n`);
		expect(await jobOf(box, inner)).toMatchObject({state: 'running'});
		expect((await box.run(`cancel ${inner}`)).stdout).toBe(`Cancelled job ${inner}\n`);
	});

	slowTest('run --wait-children does not wait for a job that its command submits', async () => {
		const program = [starter, ...starterText].join(' ');
		// The job needs a GPU of the command that submits it.
		const submitting = ['run', '--wait-children', '--gpus', '2', '--', 'sh', '-c', `${program} run --detach -- true`];
		const {exitCode, stdout} = await box.run(submitting);
		expect(exitCode).toBe(0);
		expect((await box.run(`wait ${stdout.trim()}`)).exitCode).toBe(0);
	});

	slowTest('an array runs each index once, even if another index fails', async () => {
		const command = 'echo $CANHAZGPU_ARRAY_INDEX >> indices; [ "$CANHAZGPU_ARRAY_INDEX" != 2 ]';
		const id = await submit(box, '--array 0-4%2 --retry 1', 'sh', '-c', command);
		const after = await submit(box, `--after any:${id}`, 'cat', 'indices');
		expect((await box.run(`wait ${id}`)).exitCode).toBe(1);
		expect((await box.run(`wait ${after}`)).exitCode).toBe(0);
		const {stdout} = await box.run(`logs ${after}`);
		expect(stdout.trim().split('\n').toSorted().join(' ')).toBe('0 1 2 2 3 4');
		const failed = (await jobsOf(box)).filter(({array_id: array, state}) => array === id && state !== 'completed');
		expect(failed).toMatchObject([{id: `${id}_2`, state: 'failed', starts: 2}]);
		expect((await box.run(`logs ${id}`)).stderr).toContain(
			`Error: ${id} is an array, and each of its jobs has its own output`,
		);
	});

	test('a job ends with its command, even if a daemon of the command still writes to the output', async () => {
		const id = await submit(box, '', 'sh', '-c', '(sleep 1; echo late; echo $$ > daemon) & echo early');
		expect((await box.run(`wait ${id}`)).exitCode).toBe(0);
		await eventually(() => readFileSync(logOf(box, id), 'utf8').includes('late'));
	});

	slowTest('the job commands refuse invalid input with one error and start nothing', async () => {
		const before = await jobsOf(box);
		for (const [line, exitCode, message] of [
			['run --detach --after 9999 -- true', 2, 'There is no job 9999 to wait for'],
			['run --detach --after 1 -- true', 2, 'The command would never start: job 1 failed'],
			['run --detach --after seven -- true', 2, '--after: "seven" is not valid'],
			['run --detach --after 1 --after any:2 -- true', 2, 'The command would never start: job 1 failed'],
			['run --detach --array 0-1000000 -- true', 2, '--array "0-1000000": an array has at most 1000 jobs'],
			['run --array 0-3 -- true', 2, '--array works only with --detach'],
			['run --detach --begin yesterday -- true', 2, '--begin: "yesterday" is not a time'],
			['run --detach --retry often -- true', 2, '--retry must be a number of at most 100, not "often"'],
			['run --detach --gpus 9 -- true', 2, 'Cannot reserve 9 GPUs: the pool has 2'],
			['run --detach -- no-such-command', 127, 'Command not found: "no-such-command"'],
			['run --detach --on any -- true', 2, '--detach needs a named host, so it cannot be combined with --on any'],
			['run --after 1 --on any -- true', 2, '--after needs a named host, so it cannot be combined with --on any'],
			['cancel 9999', 2, 'There is no job 9999'],
			['logs everything', 2, '"everything" is not the id of a job'],
			['wait', 2, 'wait needs the id of a job'],
			['retry 9999', 2, 'There is no job 9999'],
		] as const) {
			const ran = await box.run(line);
			expect([ran.exitCode, ran.stdout, ran.stderr.split('\n', 1)[0]]).toEqual([exitCode, '', `Error: ${message}`]);
			expect(ran.stderr.split('\n').length).toBeLessThanOrEqual(3);
		}

		expect(await jobsOf(box)).toEqual(before);
	});

	test.each(
		firstCase([
			['--detach --model zzz', 'No GPU'],
			['--detach --min-memory 900G', 'No GPU'],
			['--detach --share 8G', 'GPUs cannot be shared in this pool'],
			['--detach --mig 1g.10gb', 'No GPU'],
			['--detach --cuda 99.1', 'CUDA 99.1'],
			['--begin 1h --model zzz', 'No GPU'],
			['--begin 1h --cuda 99.1', 'CUDA 99.1'],
		]),
	)('run %s is refused at once and stores no job', async (flags, message) => {
		const before = await jobsOf(box);
		const {exitCode, stdout, stderr} = await box.run(`run ${flags} -- true`);
		expect([exitCode, stdout]).toEqual([2, '']);
		expect(stderr).toContain(`Error: ${message}`);
		expect(await jobsOf(box)).toEqual(before);
	});

	test('run --detach fails if the output of the job cannot be stored', async () => {
		const before = (await jobsOf(box)).length;
		writeFileSync(path.join(box.home, 'file'), '');
		const {exitCode, stderr} = await box.run('run --detach -- true', {XDG_STATE_HOME: path.join(box.home, 'file')});
		expect(exitCode).toBe(1);
		expect(stderr).toMatch(
			/^Error: The output of the job cannot be kept in .*: a part of the path is not a directory\n/v,
		);
		expect(await jobsOf(box)).toHaveLength(before);
	});

	test('a job with --retry does not run again after SIGQUIT to its background process', async () => {
		const id = await submit(box, '--retry 1', 'sh', '-c', 'echo $PPID > quit-wrapper; exec sleep 600');
		process.kill(await pidOf(box, 'quit-wrapper'), 'SIGQUIT');
		expect((await box.run(`wait ${id}`)).exitCode).toBe(131);
		expect(await jobOf(box, id)).toMatchObject({state: 'failed', exit_code: 131, starts: 1});
	});

	test('a job has the reason "out of GPU memory" if its output says so', async () => {
		const id = await submit(box, '', 'sh', '-c', 'echo "torch.OutOfMemoryError: CUDA out of memory." >&2; exit 1');
		await box.run(`wait ${id}`);
		expect(await jobOf(box, id)).toMatchObject({state: 'failed', exit_code: 1, reason: 'out of GPU memory'});
	});

	slowTest('a job has the reason of its last run, not of an earlier run in the same output', async () => {
		const oom = 'echo "CUDA out of memory"; exit 1';
		const id = await submit(box, '--retry 1', 'sh', '-c', `[ -e ran-out ] || { touch ran-out; ${oom}; }; cat missing`);
		await box.run(`wait ${id}`);
		const ran = await jobOf(box, id);
		expect(ran).toMatchObject({state: 'failed', starts: 2});
		expect(ran).not.toHaveProperty('reason');
		expect((await box.run(`retry ${id}`)).exitCode).toBe(0);
		await box.run(`wait ${id}`);
		expect(await jobOf(box, id)).not.toHaveProperty('reason');
	});

	test('retry refuses a job if somebody else has changed its output file or replaced its command', async () => {
		const ids = [await submit(box, '', 'true'), await submit(box, '', 'touch', 'replaced')];
		const profile = path.join(box.home, '.profile');
		await box.run(`wait ${ids.join(' ')}`);
		rmSync(path.join(box.home, 'replaced'));
		const store = await openStoreOf(box);
		const [{job, raw}, {job: other}] = soundRecords(await store.readJobs(ids.map(Number))) as [
			SoundJobRecord,
			SoundJobRecord,
		];
		const {words, command, directory, seal} = other;
		let expected = raw;
		for (const changed of [
			{...job, log: profile},
			{...job, words, command, directory, seal},
		]) {
			await store.commit({
				...emptyPlan,
				expect: [{kind: 'job', number: job.number, raw: expected}],
				writes: [{kind: 'job', job: changed}],
			});
			expect(await box.run(`retry ${ids[0]}`)).toMatchObject({
				exitCode: 1,
				stderr: expect.stringContaining('somebody changed it') as string,
			});
			expected = soundRecords(await store.readJobs([job.number]))[0]!.raw;
		}

		expect([existsSync(profile), existsSync(path.join(box.home, 'replaced'))]).toEqual([false, false]);
	});

	slowTest('retry names the directory of the job if the directory was removed', async () => {
		const directory = path.join(box.home, 'removed');
		mkdirSync(directory);
		const id = execFileSync(starter, [...starterText, 'run', '--detach', '-q', '--', 'true'], {
			cwd: directory,
			env: box.environment,
			encoding: 'utf8',
		}).trim();
		await box.run(`wait ${id}`);
		rmdirSync(directory);
		expect(await box.run(`retry ${id}`)).toEqual({
			exitCode: 1,
			stdout: '',
			stderr: `Error: Job ${id} cannot be started: its directory "${directory}" does not exist\nCreate the directory again, then: canhazgpu retry ${id}\n`,
		});
		expect(await jobOf(box, id)).toMatchObject({
			state: 'failed',
			reason: `Job ${id} cannot be started: its directory "${directory}" does not exist`,
		});
	});

	slowTest('a job never overwrites an existing output file', async () => {
		const id = await submit(box, '', 'true');
		const next = String(Number(id) + 1);
		mkdirSync(path.dirname(logOf(box, next)), {recursive: true});
		writeFileSync(logOf(box, next), 'of another pool\n');
		expect(await submit(box, '', 'echo', 'mine')).toBe(next);
		await box.run(`wait ${next}`);
		expect((await box.run(`logs ${next}`)).stdout).toBe('mine\n');
		expect(readFileSync(logOf(box, next), 'utf8')).toBe('of another pool\n');
	});
});
