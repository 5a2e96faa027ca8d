/** `reserve --while-pid`: GPUs for as long as a process lives. */
import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {freshEmbeddedBox, holders, peek, recordsOf, start} from '../_helpers/program/processes.js';
import {isRoot, mallory} from '../_helpers/machine/accounts.js';
import {canEnter, ownPids, startIn} from '../_helpers/machine/namespaces.js';
import {slowTest} from '../_helpers/slow.js';

function sleeper(account = {}): ChildProcess {
	const child = spawn('sleep', ['600'], {stdio: 'ignore', ...account});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	return child;
}

async function kill(child: ChildProcess): Promise<void> {
	child.kill('SIGKILL');
	await once(child, 'exit');
}

slowTest('reserve --while-pid waits in the queue, and holds the GPUs until the process ends', async () => {
	const box = await freshEmbeddedBox(2);
	const [first, second] = [sleeper(), sleeper()];
	expect(await box.run(`reserve --gpus 2 --while-pid ${first.pid} --note ci`)).toEqual({
		exitCode: 0,
		stdout: `Reserved 2 GPU(s): [0 1] while process ${first.pid} (sleep) runs\n\nTo use them here:\nexport CUDA_VISIBLE_DEVICES=0,1\n`,
		stderr: '',
	});
	expect((await box.run('status')).stdout).toMatch(new RegExp(`│ RUN +│ until PID ${first.pid} ends .*│ ci`, 'v'));
	const waiting = start(box, `reserve --gpus 2 --while-pid ${second.pid} --json`);
	await waiting.says(/Waiting for 2 GPUs/v);
	await kill(first);
	const {exitCode, stdout} = await waiting.ended;
	expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, {gpu_ids: [0, 1], type: 'RUN', pid: second.pid}]);
	expect(await holders(box)).toBe('0:RUN 1:RUN');
	expect((await peek(box)).gpus[1]).toMatchObject({lease: {job: {pid: second.pid}}});
	await kill(second);
	expect(await holders(box)).toBe('0:- 1:-');
	expect((await recordsOf(box)).map(({endReason}) => endReason)).toEqual(Array.from({length: 4}, () => 'holder-died'));
});

test('reserve --while-pid gives up when the process ends during the wait', async () => {
	const box = await freshEmbeddedBox(1);
	await box.run('reserve --duration 1h');
	const child = sleeper();
	const waiting = start(box, `reserve --while-pid ${child.pid}`);
	await waiting.says(/Waiting for 1 GPU/v);
	await kill(child);
	const {exitCode, stdout, stderr} = await waiting.ended;
	expect([exitCode, stdout]).toEqual([1, '']);
	expect(stderr).toContain(`Error: Process ${child.pid} (sleep) has ended\nNo GPUs are reserved.\n`);
	expect((await peek(box)).queue).toEqual([]);
});

slowTest('reserve --while-pid refuses unknown processes and conflicting flags', async () => {
	const box = await freshEmbeddedBox(1);
	for (const [words, exitCode, error] of [
		['--while-pid abc', 2, '--while-pid: "abc" is not a process id\nFor example: canhazgpu reserve --while-pid 12345'],
		['--while-pid 4194305', 1, 'There is no process 4194305, or it cannot be seen\nNothing was reserved.'],
		[`--while-pid ${process.pid} --duration 1h`, 2, 'Give --while-pid or --duration, not both'],
		[`--while-pid ${process.pid} --keep 1h`, 2, 'Give --while-pid or --keep, not both'],
		[`--while-pid ${process.pid} --on box2`, 2, 'Give --while-pid or --on, not both'],
		[`--while-pid ${process.pid} --pid 5`, 2, '--pid and --while-pid cannot be used together'],
	] as const) {
		const ran = await box.run(`reserve ${words}`);
		expect(ran, words).toMatchObject({exitCode, stdout: ''});
		expect(ran.stderr).toContain(`Error: ${error}`);
	}

	expect(await holders(box)).toBe('0:-');
});

test.runIf(canEnter(ownPids))(
	'reserve --while-pid refuses a process in a container, whose end is invisible outside',
	async () => {
		const box = await freshEmbeddedBox(1);
		const {exitCode, stderr} = await startIn(ownPids, box, 'reserve --while-pid 1').ended;
		expect([exitCode, stderr]).toEqual([
			1,
			expect.stringContaining('Error: A process in a container cannot keep GPUs'),
		]);
		expect(await holders(box)).toBe('0:-');
	},
);

test.runIf(isRoot)('reserve --while-pid refuses a process of another account', async () => {
	const box = await freshEmbeddedBox(1);
	const child = sleeper(mallory);
	const ran = await box.run(`reserve --while-pid ${child.pid}`);
	expect(ran).toMatchObject({exitCode: 1, stdout: ''});
	expect(ran.stderr).toMatch(
		new RegExp(
			String.raw`^Error: Process ${child.pid} belongs to .*\nNothing was reserved\. Only a process of your own`,
			'v',
		),
	);
	expect(await holders(box)).toBe('0:-');
});
