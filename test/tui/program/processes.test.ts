/** The process table with real processes. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {fixture} from '../../gpu/fixture.js';
import {createStub} from '../../gpu/nvidia/stub-nvidia-smi.js';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {isAlive} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';
import {startTop} from './_program.js';

const second = 'GPU-0a0a0a0a-1111-2222-3333-000000000001';

/** A box whose second GPU is used by a shell and its child. */
async function createFamily(): Promise<{box: Box; parent: number; child: number}> {
	const shell = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; wait; exec sleep 600'], {
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const [words] = (await once(shell.stdout, 'data')) as [Uint8Array];
	const [parent, child] = [shell.pid!, Number(String(words))];
	const stub = await createStub({
		gpus: {stdout: fixture('gpus/two.csv')},
		processes: {
			stdout: [
				'gpu_uuid, pid, used_gpu_memory [MiB], process_name',
				`${second}, ${child}, 19800, sleep`,
				`${second}, ${parent}, 400, sh`,
				'',
			].join('\n'),
		},
	});
	const box = createBox({
		CANHAZGPU_STORE: 'embedded',
		PATH: `${stub.directory}${path.delimiter}${process.env['PATH'] ?? ''}`,
	});
	mkdirSync(box.poolDirectory);
	onTestFinished(() => {
		for (const pid of [parent, child].filter((one) => isAlive(one))) {
			process.kill(pid, 'SIGKILL');
		}

		box.remove();
		rmSync(stub.directory, {recursive: true, force: true});
	});
	expect(await box.run('admin --gpus 2 --provider nvidia')).toMatchObject({exitCode: 0});
	return {box, parent, child};
}

test('the process tree shows a process below its parent, and the key K ends only the selected process', async () => {
	const {box, parent, child} = await createFamily();
	const top = startTop(box);
	await top.waitFor(/ 1 +Unreserved/v);
	top.write('6');
	// The larger process comes first in a list.
	await top.waitFor(new RegExp(String.raw`> 1 +${child} [\s\S]* 1 +${parent} `, 'v'));
	top.write('t');
	await top.waitFor(new RegExp(String.raw` 1 +${parent} .*\n.*> 1 +${child} .*└─ sleep 600`, 'v'));
	top.write('K');
	await top.waitFor(`Send SIGTERM to process ${child}?`);
	top.write('y');
	await top.waitFor(`sent SIGTERM to process ${child}`);
	await expect.poll(() => isAlive(child)).toBe(false);
	expect(isAlive(parent)).toBe(true);
	top.write('q');
	await top.exit;
});

slowTest('the key K with two tagged processes asks once and ends both', async () => {
	const {box, parent, child} = await createFamily();
	const top = startTop(box);
	await top.waitFor(/ 1 +Unreserved/v);
	top.write('6');
	await top.waitFor(new RegExp(`> 1 +${child} `, 'v'));
	top.write(' ');
	await top.waitFor(new RegExp(`> 1 +${parent} `, 'v'));
	top.write(' ');
	await top.waitFor(/tagged 2/v);
	top.write('K');
	await top.waitFor(/Send SIGTERM to 2 processes\?/v);
	top.write('y');
	await top.waitFor(/sent SIGTERM to (?:2 )?processes/v);
	await expect.poll(() => isAlive(child) || isAlive(parent)).toBe(false);
	top.write('q');
	await top.exit;
});
