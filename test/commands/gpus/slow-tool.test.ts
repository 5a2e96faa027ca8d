/** A slow GPU tool: `nvidia-smi` of a DGX B200 was measured at 7 to 27 s. */
import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {stubTool} from '../../_helpers/machine/stub-tool.js';
import {createHost} from '../../../source/host/host.js';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {fileIn, holders, start} from '../../_helpers/program/processes.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/nvidia/${name}`, import.meta.url));

const answering = (seconds: number): string => `sleep ${seconds}
case "$1" in
--query-gpu*) cat '${fixture('gpus/two.csv')}';;
*) cat '${fixture('processes/none.csv')}';;
esac`;

/** Returns the CPU time of a process, in clock ticks. */
const cpuTimeOf = (pid: number): string =>
	readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)!.split(' ').slice(12, 14).join(' ');

let box: Box;
let memory: string;

const slow = (seconds: number): {readonly PATH: string} => ({
	PATH: stubTool(box, 'nvidia-smi', answering(seconds)).searchPath,
});

beforeAll(async () => {
	box = createBox({CANHAZGPU_STORE: 'embedded'});
	mkdirSync(box.poolDirectory);
	memory = path.join(box.home, '.local/state/canhazgpu', createHost().machineId, 'gpu-tool.json');
	expect(await box.run('admin --gpus 2 --provider nvidia', slow(0))).toMatchObject({exitCode: 0});
});

afterAll(() => {
	box.remove();
});

slowTest('status waits 11 s for a slow nvidia-smi, and stores how long nvidia-smi took', async () => {
	const status = await box.run('status', slow(11));
	expect(status).toMatchObject({exitCode: 0, stderr: ''});
	expect(status.stdout).not.toContain('ERROR');
	expect(existsSync(memory)).toBe(true);
	const {slowestMs} = JSON.parse(readFileSync(memory, 'utf8')) as {slowestMs: number};
	expect(slowestMs).toBeGreaterThanOrEqual(10_000);
});

slowTest('run --wait 3s gives up in time even if nvidia-smi takes 30 s', async () => {
	const startedMs = performance.now();
	const run = await box.run('run --wait 3s -- true', slow(30));
	expect(run.exitCode).toBe(3);
	// The tool itself takes 30 s.
	expect(performance.now() - startedMs).toBeLessThan(25_000);
});

test.each(firstCase(['run -- true', 'run --nonblock -- true', 'reserve', 'reserve --gpu-ids 1']))(
	'an interrupted %s does not wait for nvidia-smi and leaves no process and no queue entry',
	async (words) => {
		const tool = stubTool(box, 'nvidia-smi', answering(30));
		const {pid, kill, ended} = start(box, words, {PATH: tool.searchPath});
		await eventually(() => tool.running().length > 0);
		// Waits until the command uses no more CPU time, because it has done everything that does not need the tool.
		let [before, rested] = ['', 0];
		await eventually(() => {
			const now = cpuTimeOf(pid);
			rested = now === before ? rested + 1 : 0;
			before = now;
			return rested >= 10;
		});
		const startedMs = performance.now();
		kill('SIGINT');
		// A signal that arrives before the command handles signals ends the process.
		const {exitCode, signal, stderr} = await ended;
		expect(signal === 'SIGINT' ? 130 : exitCode).toBe(130);
		expect(stderr).toBe(signal === 'SIGINT' ? '' : 'Nothing was reserved\n');
		expect(performance.now() - startedMs).toBeLessThan(15_000);
		expect(tool.running()).toEqual([]);
		expect(await box.run('queue', slow(0))).toMatchObject({stdout: 'Nobody waits\n'});
	},
);

slowTest('status reports a hanging nvidia-smi after 10 s if nvidia-smi was fast before', async () => {
	for (let attempt = 0; attempt < 12; attempt++) {
		expect(await box.run('status', slow(0))).toMatchObject({exitCode: 0});
	}

	const status = await box.run('status', slow(600));
	expect(status.stderr).toContain('nvidia-smi did not answer within 10 s');
	expect(status.stderr).toContain('CANHAZGPU_GPU_TIMEOUT=60s, or gpu.timeout');
	expect(JSON.parse(readFileSync(memory, 'utf8'))).toMatchObject({exceededMs: 10_000});
});

test('a job that is stopped while nvidia-smi is asked why its command failed keeps the exit code and does not run again', async () => {
	const tool = stubTool(box, 'nvidia-smi', `[ ! -e '${box.home}/runs' ] || sleep 3\n${answering(0)}`);
	const command = 'echo $PPID > wrapper; echo ran >> runs; exit 3';
	const submitted = await box.run(['run', '--detach', '--retry', '1', '--', 'sh', '-c', command], {
		PATH: tool.searchPath,
	});
	expect(submitted).toMatchObject({exitCode: 0, stdout: '1\n'});
	const wrapper = Number(await fileIn(box, 'wrapper'));
	await fileIn(box, 'runs');
	await eventually(async () => (await holders(box)) === '0:- 1:-' && tool.running().length > 0);
	process.kill(wrapper, 'SIGTERM');
	expect(await box.run('wait 1')).toMatchObject({exitCode: 3});
	expect(readFileSync(path.join(box.home, 'runs'), 'utf8')).toBe('ran\n');
});
