/** `run` during unexpected failures of the pool's file system. */
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {renameSync, rmSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, holders, start} from '../../_helpers/program/processes.js';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {startSleeper} from './_sleeper.js';

/** A job that outlasts the time limits below. */
const slowJob = ['sh', '-c', 'echo $$ > pid; sleep 600'];

/** Replaces the path to the pool with a link to itself (ELOOP). Returns the undo. */
function loop(box: Box): () => void {
	const aside = `${box.poolDirectory}.aside`;
	renameSync(box.poolDirectory, aside);
	symlinkSync(box.poolDirectory, box.poolDirectory);
	return () => {
		rmSync(box.poolDirectory);
		renameSync(aside, box.poolDirectory);
	};
}

slowTest(
	'run enforces its time limit and keeps its exit code if the path to the pool is a loop of symbolic links',
	async () => {
		const box = await freshEmbeddedBox(1);
		const {wrapper} = await startSleeper(box, ['--timeout', '3s'], slowJob);
		const repair = loop(box);
		await wrapper.says(/the time limit of 0h 0m 3s has passed/v);
		repair();
		expect(await wrapper.ended).toMatchObject({
			exitCode: 124,
			stderr: 'canhazgpu: the time limit of 0h 0m 3s has passed: stopping the command\n',
		});
		expect(await holders(box)).toBe('0:-');
	},
);

slowTest('a waiting run keeps its queue position if the path to the pool is a loop of symbolic links', async () => {
	const box = await freshEmbeddedBox(1);
	await box.run('reserve --gpu-ids 0');
	const waiter = start(box, ['run', '--', 'sh', '-c', 'echo job ran; exit 7']);
	await waiter.says(/Waiting for 1 GPU/v);
	const repair = loop(box);
	await waiter.says(/a link in its path points back to itself/v);
	repair();
	expect(await box.run('release')).toMatchObject({exitCode: 0});
	const ran = await waiter.ended;
	expect(ran).toMatchObject({exitCode: 7, stdout: 'job ran\n'});
});

const strace = ((): string | undefined => {
	try {
		// Some containers have strace without the right to use it.
		execFileSync('strace', ['-qq', '-o', '/dev/null', 'true'], {stdio: 'ignore'});
		return 'strace';
	} catch {
		return undefined;
	}
})();

test.runIf(isLong && strace !== undefined)(
	'run enforces its time limit and keeps its exit code while every pool access fails (needs strace)',
	async () => {
		const box = await freshEmbeddedBox(1);
		const {wrapper} = await startSleeper(box, ['--timeout', '4s'], slowJob);
		const file = path.join(box.poolDirectory, 'pool.sqlite');
		const inject = 'inject=stat,statx,newfstatat:error=EIO';
		const tracer = spawn(strace!, ['-f', '-p', String(wrapper.pid), '-P', file, '-e', inject, '-o', '/dev/null'], {
			stdio: ['ignore', 'ignore', 'pipe'],
		});
		onTestFinished(() => {
			tracer.kill();
		});
		await once(tracer.stderr, 'data');
		await wrapper.says(/the time limit of 0h 0m 4s has passed/v);
		tracer.kill();
		expect(await wrapper.ended).toMatchObject({
			exitCode: 124,
			stderr: 'canhazgpu: the time limit of 0h 0m 4s has passed: stopping the command\n',
		});
		expect(await holders(box)).toBe('0:-');
	},
);
