import {spawn} from 'node:child_process';
import {copyFileSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {getuid, pid} from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {findMpsDaemon} from '../../source/host/job/mps.js';
import {eventually} from '../_helpers/eventually.js';

test('findMpsDaemon finds a running MPS daemon of this account by its pipe directory', async () => {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-mps-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	const environment = {CUDA_MPS_PIPE_DIRECTORY: directory};
	const uid = getuid!();
	const pidFile = path.join(directory, 'nvidia-cuda-mps-control.pid');
	expect(findMpsDaemon(environment, uid)).toEqual({directory, isRunning: false});
	expect(findMpsDaemon({CUDA_MPS_PIPE_DIRECTORY: ''}, uid).directory).toBe('/tmp/nvidia-mps');
	// Another program has reused the pid.
	writeFileSync(pidFile, `${pid}\n`);
	expect(findMpsDaemon(environment, uid).isRunning).toBe(false);
	writeFileSync(pidFile, 'none');
	expect(findMpsDaemon(environment, uid).isRunning).toBe(false);

	const program = path.join(directory, 'nvidia-cuda-mps-control');
	copyFileSync('/bin/sleep', program);
	const daemon = spawn(program, ['60']);
	onTestFinished(() => {
		daemon.kill('SIGKILL');
	});
	writeFileSync(pidFile, `${daemon.pid}\n`);
	await eventually(() => findMpsDaemon(environment, uid).isRunning);
	expect(findMpsDaemon(environment, uid + 1).isRunning).toBe(false);
	daemon.kill('SIGKILL');
	await eventually(() => !findMpsDaemon(environment, uid).isRunning);
});
