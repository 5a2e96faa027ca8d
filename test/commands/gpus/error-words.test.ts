/** A machine whose nvidia-smi prints an error word in one field of a GPU that seems to use no memory. */
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {createStub} from '../../gpu/nvidia/stub-nvidia-smi.js';
import {startTop} from '../../tui/program/_program.js';

const columns =
	'index, uuid, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%], pstate, power.draw [W], fan.speed [%]';
const rows = [
	'0, GPU-0, NVIDIA RTX A6000, 49140, 2, 0, P8, 20.00, 30',
	'1, GPU-1, NVIDIA RTX A6000, 49140, 2, [Unknown Error], P8, 20.00, 30',
	'2, GPU-2, NVIDIA RTX A6000, 49140, 2, [N/A], [GPU requires reset], 20.00, 30',
	'3, GPU-3, NVIDIA RTX A6000, 49140, 2, 0, P8, [Unknown Error], ERR!',
];

async function createMachine(): Promise<Box> {
	const stub = await createStub({
		gpus: {stdout: `${[columns, ...rows].join('\n')}\n`},
		processes: {stdout: 'gpu_uuid, pid, used_gpu_memory [MiB]\n'},
	});
	const box = createBox({
		CANHAZGPU_STORE: 'embedded',
		PATH: `${stub.directory}${path.delimiter}${process.env['PATH'] ?? ''}`,
	});
	onTestFinished(box.remove);
	expect(await box.run('admin --gpus 4 --provider nvidia')).toMatchObject({exitCode: 0});
	return box;
}

test('status shows a GPU as broken if nvidia-smi prints an error in place of a reading', async () => {
	const box = await createMachine();
	const {stdout} = await box.run('status');
	expect(stdout).toMatch(/0 +│ ● AVAILABLE/v);
	expect(stdout).toMatch(/1 +│ ✗ ERROR .*Unknown Error \(utilization\.gpu\)/v);
	expect(stdout).toMatch(/2 +│ ✗ ERROR .*GPU requires reset \(pstate\)/v);
	expect(stdout).toMatch(/3 +│ ● AVAILABLE/v);
	const json = JSON.parse((await box.run('status --json')).stdout) as unknown;
	expect(json).toMatchObject([
		{status: 'AVAILABLE'},
		{status: 'ERROR', error: 'Unknown Error (utilization.gpu)'},
		{status: 'ERROR', error: 'GPU requires reset (pstate)'},
		{status: 'AVAILABLE'},
	]);
});

test('reserve never grants a GPU for which nvidia-smi prints an error in place of a reading', async () => {
	const box = await createMachine();
	for (const [index, words] of [
		[1, 'Unknown Error (utilization.gpu)'],
		[2, 'GPU requires reset (pstate)'],
	] as const) {
		expect(await box.run(`reserve --gpu-ids ${index} --nonblock`)).toMatchObject({
			exitCode: 3,
			stderr: expect.stringContaining(words) as string,
		});
	}

	expect(await box.run('reserve --gpus 3 --nonblock')).toMatchObject({
		exitCode: 3,
		stderr: expect.stringContaining('2 GPUs with problems') as string,
	});
	expect(await box.run('reserve --gpus 2 --nonblock --short')).toMatchObject({exitCode: 0, stdout: '0,3\n'});
});

test('the monitor names the reading for which nvidia-smi prints an error in the row of the GPU', async () => {
	const box = await createMachine();
	const top = startTop(box, {size: {columns: 200, rows: 30}});
	await top.waitFor(/ 1 +Error .*Unknown Error \(utilization\.gpu\)/v);
	await top.waitFor(/ 2 +Error .*GPU requires reset \(pstate\)/v);
	await top.waitFor(/ 3 +Free /v);
});
