/** How `admin` detects GPUs. */
import {mkdirSync} from 'node:fs';
import {expect, onTestFinished, test} from 'vitest';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {slowTest} from '../../_helpers/slow.js';
import {createStub as createAmdStub, goodAnswers} from '../../gpu/amd/set-up.js';
import {fixture} from '../../gpu/fixture.js';
import {createStub} from '../../gpu/nvidia/stub-nvidia-smi.js';

function emptyBox(): Box {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	onTestFinished(box.remove);
	mkdirSync(box.poolDirectory, {recursive: true});
	return box;
}

slowTest('admin --gpus 8 without a GPU tool fails instead of simulating GPUs', async () => {
	const box = emptyBox();
	expect(await box.run('admin --gpus 8')).toEqual({
		exitCode: 1,
		stdout: '',
		stderr:
			'Error: No GPUs were found here: None of nvidia-smi, amd-smi and rocm-smi is in PATH.\nFix that, or use simulated GPUs: canhazgpu admin --gpus 8 --provider fake --store embedded\n',
	});
	expect(await box.run('status')).toMatchObject({exitCode: 4});
	expect(await box.run('admin --gpus 8 --provider fake --json')).toMatchObject({exitCode: 0});
	// The existing pool is reported before the failed detection.
	for (const again of ['admin', 'admin --gpus 8']) {
		expect((await box.run(again)).stderr).toMatch(/^Error: A pool of 8 GPU\(s\) already exists in /v);
	}
});

test('admin on a machine with NVIDIA and AMD GPUs requires --provider', async () => {
	const box = emptyBox();
	const nvidia = await createStub({gpus: {stdout: fixture('gpus/one.csv')}});
	const amd = await createAmdStub('amd-smi', goodAnswers);
	const PATH = `${nvidia.directory}:${amd.directory}:${box.environment['PATH']!}`;
	expect(await box.run('admin', {PATH})).toEqual({
		exitCode: 1,
		stdout: '',
		stderr:
			'Error: This machine has GPUs of several kinds: nvidia and amd\nA pool has GPUs of one kind. Choose one: canhazgpu admin --provider nvidia\n',
	});
	const made = await box.run('admin --provider nvidia --json', {PATH});
	expect(made.exitCode).toBe(0);
	expect(JSON.parse(made.stdout)).toEqual({
		gpu_count: 1,
		provider: 'nvidia',
		location: expect.any(String) as unknown,
		was_there: false,
		ended_reservations: 0,
	});
});
