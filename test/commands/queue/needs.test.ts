/** Requests for GPU properties on a box with four A100-80G and four L40S-48G. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {everyNth, slowTest} from '../../_helpers/slow.js';

let box: Box;
let environment: Readonly<Record<string, string>>;

const there = 'The pool has 4 A100-SXM4-80GB of 80 GiB (8.0), 4 L40S of 45 GiB (8.9).';

beforeAll(async () => {
	box = await createEmbeddedBox(8);
	const scenario = path.join(box.home, 'mixed.yaml');
	writeFileSync(
		scenario,
		`hardware:
  - {gpus: [0, 1, 2, 3], model: NVIDIA A100-SXM4-80GB, memory: 81920, compute: "8.0", numa: 0, root: pci0000:00}
  - {gpus: [4, 5, 6, 7], model: NVIDIA L40S, memory: 46068, compute: "8.9", numa: 1, root: pci0000:80}
links:
  - {gpus: [0, 1], link: NV12}
  - {gpus: [2, 3], link: NV12}
`,
	);
	environment = {CANHAZGPU_SIMULATED_SCENARIO: scenario};
});

afterAll(() => {
	box.remove();
});

describe('reserve and run refuse impossible GPU properties at once', () => {
	test.each<[typed: string | readonly string[], error: string]>(
		everyNth(
			[
				['reserve --model h100', `No GPU of model h100 in this pool\n${there}`],
				['reserve --min-memory 100G', `No GPU with 100G or more in this pool\n${there}`],
				['reserve --gpus 5', `Cannot reserve 5 GPUs of one model: this pool has at most 4\n${there} Different models`],
				['reserve --gpu-ids 3,4 --min-memory 60G', `GPU 4 is not a GPU with 60G or more\n${there}`],
				['reserve --min-memory 40', '--min-memory must be a size with its unit, such as 40G or 40GiB, not "40"'],
				['reserve --min-memory 0G', '--min-memory must be a size with its unit, such as 40G or 40GiB, not "0G"'],
				['reserve --gpu-memory 40', '--min-memory must be a size with its unit'],
				[['reserve', '--model', ''], `--model needs at least one GPU model, not ""\n${there}`],
				[['run', '--model', '', '--', 'true'], `--model needs at least one GPU model, not ""\n${there}`],
				['reserve --model a100,', '--model must be a list of GPU models such as h100,a100, not "a100,"'],
				[
					['reserve', '--model', '', '--on', 'any'],
					'--model needs at least one GPU model, not ""\nWrite --model NAMES',
				],
				['reserve --min-compute ampere', '--min-compute must be a compute capability such as 8.0, not "ampere"'],
				['reserve --gpus 2 --same-model --mixed', '--same-model and --mixed cannot be combined'],
				['reserve --strategy fast', '--strategy must be one of mru, lru, pack, spread, cool, topology, not "fast"'],
				['reserve --workload play', '--workload must be train or serve, not "play"'],
				['reserve --workload train --strategy mru', 'Give --strategy or --workload, not both'],
				['reserve --nvlink', '--nvlink needs at least two GPUs'],
				['reserve --gpus 3 --nvlink', 'Cannot reserve 3 GPUs of one model, linked by NVLink: this pool has at most 2'],
				['reserve --gpu-ids 1,2 --nvlink', `GPUs 1, 2 are not GPUs linked by NVLink\n${there}`],
				['reserve --gpus 3 --gpu-ids 0,1', 'conflicting gpu count (3) and gpu ids (count: 2)'],
			],
			4,
		),
	)('%s', async (typed, error) => {
		const answer = await box.run(typed, environment);
		expect(answer.exitCode, answer.stderr).toBe(2);
		expect(answer.stderr).toContain(error);
	});
});

slowTest('a request for a model waits only for matching GPUs, and queue shows the model', async () => {
	expect(await box.run('reserve --gpu-memory 60G --short', environment)).toMatchObject({stdout: '0\n'});
	expect(await box.run('reserve --gpus 4 --model l40s --short', environment)).toMatchObject({stdout: '4,5,6,7\n'});
	expect(await box.run('reserve --min-compute 8.5 --nonblock', environment)).toMatchObject({
		exitCode: 3,
		stderr: expect.stringContaining('Requested: 1, Available: 0') as string,
	});
	const waiter = box.run('reserve --gpus 2 --model l40s --wait 60s', environment);
	await eventually(async () => (await box.run('queue', environment)).stdout.includes('2 GPUs of model l40s'));
	const {entries} = JSON.parse((await box.run('queue --json', environment)).stdout) as {
		readonly entries: readonly unknown[];
	};
	expect(entries).toMatchObject([{need: {models: ['l40s']}, eligible_gpus: [[4, 5, 6, 7]]}]);
	// The entry does not block a request for other GPUs.
	expect(await box.run('reserve --gpus 2 --mixed --min-memory 60G --nonblock --short', environment)).toMatchObject({
		exitCode: 0,
		stdout: '1,2\n',
	});
	expect(await box.run('release --gpu-ids 4,7', environment)).toMatchObject({exitCode: 0});
	expect(await waiter).toMatchObject({exitCode: 0});
	await box.run('release', environment);
});

slowTest('reserve --nonblock counts suitable GPUs separately from GPUs whose suitability is unknown', async () => {
	const scenario = path.join(box.home, 'doubtful.yaml');
	const doubtful = [2, 3, 4, 5, 6, 7].map((gpu) => `{gpu: ${gpu}, profiles: [1g.10gb], mode: unknown}`);
	writeFileSync(scenario, `mig: [${doubtful.join(', ')}]\n`);
	const refused = async (flags: string) =>
		box.run(`reserve --nonblock ${flags}`, {...environment, CANHAZGPU_SIMULATED_SCENARIO: scenario});
	expect((await refused('--gpus 3')).stderr).toContain('Requested: 3, Available: 2 (6 GPUs that may not qualify');
	expect((await refused('--gpu-ids 1,2')).stderr).toContain('Requested: 2, Available: 1 (1 GPU that may not qualify');
});

slowTest('--nvlink, --strategy and --workload decide which of the free GPUs reserve takes', async () => {
	const take = async (flags: string) => (await box.run(`reserve --short --nonblock ${flags}`, environment)).stdout;
	// GPU 0 is taken, so its pair is incomplete.
	expect(await take('--gpu-ids 0')).toBe('0\n');
	expect(await take('--gpus 2 --nvlink')).toBe('2,3\n');
	await box.run('release --gpu-ids 2,3', environment);
	expect(await take('--gpus 2 --min-memory 60G --strategy topology')).toBe('2,3\n');
	expect(await take('--strategy spread')).toBe('4\n');
	expect(await take('--workload serve')).toBe('1\n');
	await box.run('release', environment);
});
