/** A box with a GPU that is in use without a reservation. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished} from 'vitest';
import {fixture} from '../../gpu/fixture.js';
import {createStub, type Stub} from '../../gpu/nvidia/stub-nvidia-smi.js';
import {createBox, type Box} from './cli.js';

const second = 'GPU-0a0a0a0a-1111-2222-3333-000000000001';

/** Creates a box with two GPUs, of which a process without a reservation uses the second. */
export async function createUsedBox(): Promise<{box: Box; stub: Stub; job: ReturnType<typeof spawn>}> {
	const job = spawn('sleep', ['600'], {stdio: 'ignore'});
	await once(job, 'spawn');
	const stub = await createStub({
		gpus: {stdout: fixture('gpus/two.csv')},
		processes: {
			stdout: `gpu_uuid, pid, used_gpu_memory [MiB], process_name\n${second}, ${job.pid}, 19800, sleep\n`,
		},
	});
	const box = createBox({
		CANHAZGPU_STORE: 'embedded',
		PATH: `${stub.directory}${path.delimiter}${process.env['PATH'] ?? ''}`,
	});
	mkdirSync(box.poolDirectory);
	onTestFinished(() => {
		job.kill('SIGKILL');
		box.remove();
		rmSync(stub.directory, {recursive: true, force: true});
	});
	expect(await box.run('admin --gpus 2 --provider nvidia')).toMatchObject({exitCode: 0});
	return {box, stub, job};
}
