/** How `run` reports its GPUs on stderr, for the log of the job. */
import {describe, expect, test} from 'vitest';
import {account} from '../../../_helpers/program/cli.js';
import {eventually} from '../../../_helpers/eventually.js';
import {freshEmbeddedBox, peek, start} from '../../../_helpers/program/processes.js';
import {slowTest} from '../../../_helpers/slow.js';

const loud = {CANHAZGPU_RUN_QUIET: 'false'};

describe('run prints the granted GPUs on stderr', () => {
	test('only once, and before the output of the command, like the Go canhazgpu', async () => {
		const box = await freshEmbeddedBox(4);
		const words = ['run', '-g', '2', '-t2h', '--', 'sh', '-c', 'echo job >&2; echo out'];
		expect(await box.run(words, loud)).toEqual({
			exitCode: 0,
			stdout: 'out\n',
			stderr: 'Reserved 2 GPU(s): [0 1] for command execution (timeout: 2h 0m 0s)\njob\n',
		});
		expect(await box.run('run -G 3 -- true', loud)).toEqual({
			exitCode: 0,
			stdout: '',
			stderr: 'Reserved 1 GPU(s): [3] for command execution\n',
		});
	});

	test.each(['run --quiet -- true', 'run -qg1 -- true'])('but not for "%s"', async (typed) => {
		const box = await freshEmbeddedBox(1);
		expect(await box.run(typed, loud)).toEqual({exitCode: 0, stdout: '', stderr: ''});
	});

	test('after a wait', async () => {
		const box = await freshEmbeddedBox(1);
		await box.run('reserve');
		const waiter = start(box, ['run', '--', 'true'], loud);
		await waiter.says(/^Waiting for 1 GPU/v);
		await box.run('release');
		expect((await waiter.ended).stderr).toMatch(/\nReserved 1 GPU\(s\): \[0\] for command execution\n$/v);
	});

	slowTest('with --json, as one line of JSON without progress', async () => {
		const box = await freshEmbeddedBox(1);
		await box.run('reserve');
		const waiter = start(box, ['run', '--json', '-t', '1h', '-n', 'eval', '-u', 'team', '--', 'echo', 'out']);
		await eventually(async () => (await peek(box)).queue.length === 1);
		await box.run('release');
		const {stderr, stdout, exitCode} = await waiter.ended;
		expect({stdout, exitCode}).toEqual({stdout: 'out\n', exitCode: 0});
		expect(stderr).toMatch(/^\{[^\n]*\}\n$/v);
		const grant = JSON.parse(stderr) as {since: string; ends_by: string};
		expect(grant).toEqual({
			gpu_ids: [0],
			user: 'team',
			actual_user: account,
			type: 'RUN',
			note: 'eval',
			lease_id: expect.any(String) as unknown,
			since: expect.any(String) as unknown,
			ends_by: expect.any(String) as unknown,
		});
		expect(Math.round((Date.parse(grant.ends_by) - Date.parse(grant.since)) / 1000)).toBeGreaterThanOrEqual(3600);
		expect(Date.parse(grant.ends_by) - Date.parse(grant.since)).toBeLessThanOrEqual(3_601_000);
	});
});
