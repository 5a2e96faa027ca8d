/** `reserve --pid` with a real process and a fake nvidia-smi that shows the process on a GPU. */
import {once} from 'node:events';
import process from 'node:process';
import {expect, test} from 'vitest';
import {createUsedBox} from '../_helpers/program/used-box.js';
import {holders, peek, recordsOf} from '../_helpers/program/processes.js';
import {fixture} from '../gpu/fixture.js';
import {account} from '../_helpers/program/cli.js';
import {slowTest} from '../_helpers/slow.js';

test('reserve --pid reserves the GPU of a running process until the process ends', async () => {
	const {box, stub, job} = await createUsedBox();
	expect((await box.run('status')).stdout).toMatch(/ 1 +│ ⚠ UNRESERVED/v);
	expect(await box.run(['reserve', '--pid', String(job.pid), '--note', 'was there'])).toEqual({
		exitCode: 0,
		stdout: `Reserved 1 GPU(s): [1] for process ${job.pid} (sleep) until it ends\n`,
		stderr: '',
	});
	const {stdout} = await box.run('status');
	expect(stdout).toMatch(
		new RegExp(
			String.raw` 1 +│ ● IN_USE +│ ${account} +│ \dh \d+m \d+s +│ RUN +│ until PID ${job.pid} ends .*│ was there`,
			'v',
		),
	);
	expect((await peek(box)).gpus[1]).toMatchObject({lease: {job: {pid: job.pid}}});
	job.kill('SIGKILL');
	await once(job, 'exit');
	await stub.answer({gpus: {stdout: fixture('gpus/two.csv')}, processes: {stdout: fixture('processes/none.csv')}});
	expect(await holders(box)).toBe('0:- 1:-');
	expect(await recordsOf(box)).toMatchObject([{gpuId: 1, endReason: 'holder-died', note: 'was there'}]);
});

slowTest('reserve --pid refuses unknown processes and conflicting flags', async () => {
	const {box, job} = await createUsedBox();
	const pid = String(job.pid);
	for (const [words, exitCode, error] of [
		[['--pid', 'abc'], 2, '--pid: "abc" is not a process id\nFor example: canhazgpu reserve --pid 12345'],
		[['--pid', '0'], 2, '--pid: "0" is not a process id'],
		[['--pid', '4194305'], 1, 'There is no process 4194305'],
		[
			['--pid', String(process.pid)],
			1,
			`Process ${process.pid} uses no GPU, according to the GPU tool\nSee the processes on GPUs: canhazgpu status`,
		],
		[['--pid', pid, '--gpus', '1'], 2, '--pid and --gpus cannot be used together'],
		[['--pid', pid, '--gpu-ids', '1'], 2, '--pid and --gpu-ids cannot be used together'],
		[['--pid', pid, '--duration', '1h'], 2, '--pid and --duration cannot be used together'],
		[['--pid', pid, '--wait', '1h'], 2, '--pid and --wait cannot be used together'],
		[['--pid', pid, '--force'], 2, '--pid and --force cannot be used together'],
	] as const) {
		const ran = await box.run(['reserve', ...words]);
		expect(ran, words.join(' ')).toMatchObject({exitCode, stdout: ''});
		expect(ran.stderr).toContain(`Error: ${error}`);
	}

	expect(await box.run(['reserve', '--pid', pid, '--short'])).toEqual({exitCode: 0, stdout: '1\n', stderr: ''});
	const again = await box.run(['reserve', '--pid', pid]);
	expect(again).toMatchObject({exitCode: 3, stdout: ''});
	expect(again.stderr).toContain(`Error: GPU 1 is already held by ${account}\n`);
});

slowTest('several status calls record the same unreserved use only once', async () => {
	const {box} = await createUsedBox();
	await box.run('status');
	await box.run('status --json');
	await box.run('status');
	const {stdout} = await box.run('events --json');
	expect((JSON.parse(stdout) as ReadonlyArray<Record<string, unknown>>).slice(1)).toMatchObject([
		{kind: 'unreserved', account, gpus: [1]},
	]);
});
