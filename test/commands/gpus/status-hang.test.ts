import {mkdirSync} from 'node:fs';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {stubTool} from '../../_helpers/machine/stub-tool.js';
import {eventually} from '../../_helpers/eventually.js';
import {start} from '../../_helpers/program/processes.js';
import {firstCase} from '../../_helpers/slow.js';

let box: Box;

beforeAll(async () => {
	box = createBox({CANHAZGPU_STORE: 'embedded'});
	mkdirSync(box.poolDirectory);
	const {searchPath} = stubTool(box, 'nvidia-smi', String.raw`printf 'index\n0\n1\n'`);
	expect(await box.run('admin --gpus 2 --provider nvidia', {PATH: searchPath})).toMatchObject({exitCode: 0});
});

afterAll(() => {
	box.remove();
});

test('status ends a hanging nvidia-smi at the configured limit and does not call it again', async () => {
	const stub = stubTool(box, 'nvidia-smi', "trap '' TERM\nwhile :; do sleep 1; done");
	const started = performance.now();
	const status = await box.run('status', {PATH: stub.searchPath, CANHAZGPU_GPU_TIMEOUT: '2s'});
	const took = performance.now() - started;
	expect(status).toMatchObject({exitCode: 0});
	expect(status.stderr).toContain('nvidia-smi did not answer within 2 s');
	expect(status.stdout.split('\n').filter((line) => line.includes('│'))).toHaveLength(3);
	expect(took).toBeGreaterThan(2000);
	expect(stub.calls().toSorted()).toEqual([
		expect.stringMatching(/^--query-compute-apps=/v),
		expect.stringMatching(/^--query-gpu=/v),
	]);
	await eventually(() => stub.running().length === 0);
});

test('status refuses an invalid CANHAZGPU_GPU_TIMEOUT', async () => {
	expect(await box.run('status', {CANHAZGPU_GPU_TIMEOUT: '10ms'})).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('CANHAZGPU_GPU_TIMEOUT must be a duration') as string,
	});
	expect(await box.run('status', {CANHAZGPU_GPU_TIMEOUT: '1h'})).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('from 1 to 300 seconds') as string,
	});
});

test('a command with an invalid flag ends the GPU scan that the command had already started', async () => {
	const stub = stubTool(box, 'nvidia-smi', 'exec sleep 600');
	const status = await box.run('status --no-such-flag', {PATH: stub.searchPath});
	expect(status.exitCode).toBe(2);
	await eventually(() => stub.running().length === 0);
});

test.each(firstCase(['SIGINT', 'SIGTERM', 'SIGHUP']))(
	'%s ends status and who at once, even while these commands wait for a hanging nvidia-smi',
	async (signal) => {
		const stub = stubTool(box, 'nvidia-smi', "trap '' INT TERM HUP\nsleep 600 & wait\nwait");
		for (const words of ['status', 'who 0']) {
			const {kill, ended} = start(box, words, {PATH: stub.searchPath});
			await eventually(() => stub.running().length > 0);
			kill(signal);
			expect(await ended).toMatchObject({signal, stdout: '', stderr: ''});
			await eventually(() => stub.running().length === 0);
		}
	},
);
