/** A command whose child processes outlive it. */
import {chmodSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {directoryOf, isRoot, mallory, runAs} from '../../_helpers/machine/accounts.js';
import {eventually} from '../../_helpers/eventually.js';
import {account, type Box} from '../../_helpers/program/cli.js';
import {
	fileIn,
	freshEmbeddedBox,
	freshRedisBox,
	holders,
	isAlive,
	peek,
	recordsOf,
	start,
} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase, isLong, slowTest} from '../../_helpers/slow.js';
import {endProcess, withUsedGpus} from './_stay.js';

const redis = redisOfFile();

/** A background server that can claim to use GPU 0. */
const server = (usesGpu: boolean): readonly string[] => [
	'sh',
	'-c',
	`setsid sleep 600 >/dev/null 2>&1 & ${usesGpu ? 'echo $! >> users; ' : ''}echo $! > pid; exit 7`,
];

async function pidOf(box: Box): Promise<number> {
	const pid = Number(await fileIn(box, 'pid'));
	onTestFinished(() => {
		endProcess(pid);
	});
	return pid;
}

describe.each(
	firstCase([
		['redis', async () => freshRedisBox(redis.port, 2)],
		['embedded', async () => freshEmbeddedBox(2)],
	]),
)('with the %s store', (_, create) => {
	test('run warns about child processes that still use the GPU after the job has ended', async () => {
		const box = await create();
		const tool = await withUsedGpus(box);
		const ran = await box.run(['run', '--gpu-ids', '0', '--', ...server(true)], tool);
		const pid = await pidOf(box);
		expect(ran).toMatchObject({exitCode: 7, stdout: ''});
		expect(ran.stderr).toBe(
			`canhazgpu: WARNING: PID ${pid} (sleep) of this command still uses GPU 0, which is no longer reserved.\n` +
				`End it: kill ${pid}. To keep GPUs until such processes end: canhazgpu run --wait-children\n`,
		);
		const {stdout} = await box.run('status', tool);
		expect(stdout).toMatch(
			new RegExp(
				String.raw`8196MB used by PID ${pid} \(sleep\), left by ${account}'s job, ended (?:\S+ )?\d\d:\d\d`,
				'v',
			),
		);
		const json = await box.run('status --json', tool);
		expect((JSON.parse(json.stdout) as unknown[])[0]).toMatchObject({
			status: 'UNRESERVED',
			left_by_job: {user: account, pids: [pid], lease_id: expect.any(String) as string},
		});
		endProcess(pid);
		await eventually(() => !isAlive(pid));
		expect(JSON.stringify(JSON.parse((await box.run('status --json', tool)).stdout))).not.toContain('left_by_job');
	});

	slowTest('status names the user of the job that left a process, even if run was killed', async () => {
		const box = await create();
		const tool = await withUsedGpus(box);
		const script =
			'setsid sleep 600 >/dev/null 2>&1 & echo $! >> users; echo $! > pid; until [ -e stop ]; do sleep 0.05; done';
		const wrapper = start(box, ['run', '--gpu-ids', '0', '--', 'sh', '-c', script], tool);
		const pid = await pidOf(box);
		await eventually(async () => {
			const [record] = (await peek(box)).gpus;
			return record?.kind === 'leased' && record.lease.job !== undefined;
		});
		wrapper.kill('SIGKILL');
		await wrapper.ended;
		writeFileSync(path.join(box.home, 'stop'), '');
		await eventually(async () => (await box.run('status', tool)).stdout.includes('UNRESERVED'));
		const {stdout} = await box.run('status', tool);
		expect(stdout).toMatch(
			new RegExp(String.raw`PID ${pid} \(sleep\), left by ${account}'s job, ended (?:\S+ )?\d\d:\d\d`, 'v'),
		);
	});

	test('run prints no warning about child processes that do not use its GPUs', async () => {
		const box = await create();
		const tool = await withUsedGpus(box);
		const ran = await box.run(['run', '--', ...server(false)], tool);
		await pidOf(box);
		expect(ran).toMatchObject({exitCode: 7, stderr: ''});
	});

	test('run --wait-children keeps the GPUs until the last child has ended', async () => {
		const box = await create();
		const wrapper = start(box, ['run', '--wait-children', '--', ...server(false)]);
		const pid = await pidOf(box);
		await wrapper.says(new RegExp(String.raw`the command has ended, .* PID ${pid}\.`, 'v'));
		expect(await holders(box)).toBe('0:RUN 1:-');
		endProcess(pid);
		expect(await wrapper.ended).toMatchObject({exitCode: 7});
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{gpuId: 0, endReason: 'exited'}]);
	});

	test('if run --wait-children is killed, each of the children keeps the GPU', async () => {
		const box = await create();
		const script = 'for name in first pid; do setsid sleep 600 >/dev/null 2>&1 & echo $! > $name; done';
		const wrapper = start(box, ['run', '--wait-children', '--', 'sh', '-c', script]);
		const pid = await pidOf(box);
		const first = Number(readFileSync(path.join(box.home, 'first'), 'utf8'));
		await eventually(async () => {
			const [record] = (await peek(box)).gpus;
			return record?.kind === 'leased' && record.lease.job?.pid === first;
		});
		wrapper.kill('SIGKILL');
		await wrapper.ended;
		endProcess(first);
		await eventually(() => !isAlive(first));
		expect(await holders(box)).toBe('0:RUN 1:-');
		endProcess(pid);
		await eventually(() => !isAlive(pid));
		expect(await holders(box)).toBe('0:- 1:-');
	});

	slowTest('if run --wait-children is killed after the end of one child, the other child keeps the GPU', async () => {
		const box = await create();
		const script = 'sleep 3 & setsid sleep 600 >/dev/null 2>&1 & echo $! > pid';
		const wrapper = start(box, ['run', '--wait-children', '--', 'sh', '-c', script]);
		const pid = await pidOf(box);
		await eventually(async () => {
			const [record] = (await peek(box)).gpus;
			return record?.kind === 'leased' && record.lease.job?.pid === pid;
		});
		wrapper.kill('SIGKILL');
		await wrapper.ended;
		expect(await holders(box)).toBe('0:RUN 1:-');
		endProcess(pid);
		await eventually(() => !isAlive(pid));
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test.each<[NodeJS.Signals, number]>(
		firstCase([
			['SIGTERM', 143],
			['SIGINT', 130],
			['SIGHUP', 129],
		]),
	)('%s to run --wait-children ends the remaining children', async (signal, exitCode) => {
		const box = await create();
		const wrapper = start(box, ['run', '--wait-children', '--', ...server(false)]);
		const pid = await pidOf(box);
		await wrapper.says(/the command has ended/v);
		wrapper.kill(signal);
		expect(await wrapper.ended).toMatchObject({exitCode});
		expect(isAlive(pid)).toBe(false);
		expect(await holders(box)).toBe('0:- 1:-');
	});

	slowTest('--timeout of run --wait-children ends the remaining children', async () => {
		const box = await create();
		const wrapper = start(box, ['run', '--wait-children', '--timeout', '2s', '--', ...server(false)]);
		const pid = await pidOf(box);
		expect(await wrapper.ended).toMatchObject({exitCode: 124});
		expect(isAlive(pid)).toBe(false);
		expect(await recordsOf(box)).toMatchObject([{gpuId: 0, endReason: 'timeout'}]);
	});
});

test.runIf(isLong && isRoot)('status --json shows every account whose job left a process on a GPU', async () => {
	const box = await freshRedisBox(redis.port, 2);
	chmodSync(box.home, 0o755);
	const tool = await withUsedGpus(box);
	await box.run(['run', '--gpu-ids', '0', '--', ...server(true)], tool);
	const pid = await pidOf(box);
	const cwd = directoryOf(mallory);
	chmodSync(path.join(box.home, 'stubs', 'nvidia-smi.calls'), 0o666);
	const {stdout} = await runAs(mallory, ['status', '--json'], {
		cwd,
		environment: {...box.environment, ...tool, HOME: cwd, XDG_CACHE_HOME: cwd},
	});
	expect((JSON.parse(stdout) as unknown[])[0]).toMatchObject({left_by_job: {user: account, pids: [pid]}});
});

slowTest('run without --wait-children does not wait for the children', async () => {
	const box = await freshEmbeddedBox(2);
	const ran = await box.run(['run', '--', ...server(false)]);
	const pid = await pidOf(box);
	expect(ran).toMatchObject({exitCode: 7, stderr: ''});
	expect(isAlive(pid)).toBe(true);
	expect((await peek(box)).gpus[0]).toMatchObject({kind: 'free', ended: {account, left: [{pid}]}});
});
