/** Shares of a GPU on the command line: requested, shown, released and refused. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {account, type Box} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, peek, recordsOf} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';

/** `mallory` uses memory of GPU 0 without a reservation. */
function environmentOf(box: Box) {
	const file = path.join(box.home, 'scenario.yaml');
	writeFileSync(file, 'processes:\n  - {gpu: 0, user: mallory, command: miner, memory: 30000, utilization: 9}\n', {
		mode: 0o600,
	});
	return {CANHAZGPU_SIMULATED_SCENARIO: file};
}

slowTest('reserve and run refuse an impossible --share and print what is possible', async () => {
	const box = await freshEmbeddedBox(2);
	const said = async (words: string) => {
		const {exitCode, stderr} = await box.run(words);
		return [exitCode, ...stderr.split('\n').slice(0, 2)];
	};

	expect(await said('reserve --share 8G')).toEqual([
		2,
		'Error: GPUs cannot be shared in this pool',
		'An administrator can allow it: canhazgpu admin --set share=on. Without --share you get whole GPUs.',
	]);
	expect((await box.run('admin --set share=on --set share.gpus=0')).exitCode).toBe(0);
	expect(await said('reserve --share 8')).toEqual([2, 'Error: --share: "8" has no unit', 'Did you mean 8G?']);
	expect(await said('run --share 0 -- true')).toEqual([
		2,
		'Error: --share: "0" is not a memory size',
		'Write a number and a unit, 1M or more: 8G, 512M or 8GiB.',
	]);
	expect(await said('run --share 200G -- true')).toEqual([
		2,
		'Error: No GPU with room for a share of 200G in this pool',
		expect.stringMatching(/^The pool has 2 Simulated H100 80GB of 80 GiB/v),
	]);
	expect(await said('reserve --share 8G --gpus 2')).toEqual([
		2,
		'Error: Cannot share 2 GPUs: only 1 can be shared in this pool',
		'GPUs that can be shared: 0. An administrator can change that: canhazgpu admin --set share.gpus=all',
	]);
	expect(await said('run --mps -- true')).toEqual([
		2,
		'Error: --mps needs --share',
		'Give --share, too: --share 8G --mps',
	]);
	expect((await peek(box)).gpus.every(({kind}) => kind === 'free')).toBe(true);
});

test('shares of one GPU are granted as long as memory is left, and are released separately', async () => {
	const box = await freshEmbeddedBox(1);
	const environment = {...environmentOf(box), CANHAZGPU_RUN_QUIET: 'false'};
	const run = async (words: string | readonly string[]) => box.run(words, environment);
	await run('admin --set share=on');
	// Before mallory starts, because a GPU in use without a reservation is not granted.
	expect((await box.run('reserve --share 8G -d 1h -u ann --nonblock')).stdout).toContain(
		'Reserved 1 GPU(s): [0] for 1h 0m 0s (a share of 8G; the limit is not enforced)',
	);
	const job = await run([
		'run',
		'--share',
		'16G',
		'--',
		'sh',
		'-c',
		'echo "$CUDA_VISIBLE_DEVICES $CANHAZGPU_MEMORY_MIB"',
	]);
	expect([job.stdout, job.stderr.split('\n', 1)[0]]).toEqual([
		'0 16384\n',
		'Reserved 1 GPU(s): [0] for command execution (a share of 16G, limit not enforced)',
	]);
	const refused = await run('reserve --share 60G --nonblock');
	expect(refused.exitCode).toBe(3);
	expect(refused.stderr).toMatch(
		new RegExp(String.raw`^GPU 0 has \d\d(?:\.\d)?G of 79\.6G left, 8G are ${account} \(ann\)'s\.$`, 'mv'),
	);
	expect((await run('reserve --nonblock')).exitCode).toBe(3);
	const {stdout} = await run('status');
	expect(stdout).toMatch(new RegExp(String.raw`IN_USE +│ 1 shared │ .*8/79\.6G ${account} \(ann\) 8G`, 'v'));
	expect(stdout).toContain('ALSO mallory without a reservation');
	const [gpu] = JSON.parse((await run('status --json')).stdout) as Array<Record<string, unknown>>;
	expect(gpu).toMatchObject({
		status: 'IN_USE',
		share_capacity_mb: 81_559,
		shares: [{user: 'ann', actual_user: account, type: 'MANUAL', memory_mb: 8192}],
	});
	expect((await run('release --gpu-ids 0')).stdout).toBe('Released 1 GPU(s): [0]\n');
	expect((await peek(box)).gpus[0]?.kind).toBe('free');
	expect((await recordsOf(box)).map(({user, memoryMiB}) => [user, memoryMiB])).toEqual([
		[account, 16_384],
		['ann', 8192],
	]);
});
