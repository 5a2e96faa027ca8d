import {once} from 'node:events';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {expect, test} from 'vitest';
import {liveness} from '../../../source/host/process/processes.js';
import {createStage} from './_stage.js';

test.each(['TERM', 'HUP', 'INT', 'QUIT', 'USR1', 'USR2'])(
	'the wrapper passes each SIG%s to the job once',
	async (name) => {
		const stage = await createStage();
		const child = stage.spawn(['--', './counter.mjs']);
		const errors = text(child.stderr);
		const exit = once(child, 'exit');
		const {wrapper, job} = await stage.started();
		await stage.counted();
		const other = name === 'USR2' ? 'USR1' : 'USR2';
		process.kill(wrapper, `SIG${name}`);
		await stage.counted(name);
		process.kill(wrapper, `SIG${name}`);
		await stage.counted(name, name);
		process.kill(wrapper, `SIG${other}`);
		await stage.counted(name, name, other);
		expect(liveness([{pid: wrapper}, job])).toEqual(['alive', 'alive']);
		stage.stop(9);
		expect(await exit).toEqual([9, null]);
		// SIGUSR1 must not start the debugger of Node.js.
		expect(await errors).toBe('chg: released\n');
	},
);

test.each([
	['SIGTERM', 143],
	['SIGHUP', 129],
	['SIGINT', 130],
	['SIGUSR1', 138],
] as const)('a job that a forwarded %s kills exits with code %d', async (signal, exitCode) => {
	const stage = await createStage();
	const exit = once(stage.spawn(['--', 'sleep', '600']), 'exit');
	const {wrapper} = await stage.started();
	process.kill(wrapper, signal);
	expect(await exit).toEqual([exitCode, null]);
	expect(await stage.when('ended')).toMatchObject({end: {exitCode, reason: 'signalled', signal}});
});

test('a job that exits after a signal keeps its own exit code', async () => {
	const stage = await createStage({job: '#!/bin/sh\ntrap "exit 7" TERM\necho ready\nwhile :; do sleep 0.01; done\n'});
	const child = stage.spawn(['--', './job']);
	const exit = once(child, 'exit');
	await once(child.stdout, 'data');
	const {wrapper} = await stage.started();
	process.kill(wrapper, 'SIGTERM');
	expect(await exit).toEqual([7, null]);
	expect(await stage.when('ended')).toMatchObject({end: {exitCode: 7, reason: 'exited'}});
});

test('a signal while the GPUs are released does not interrupt the release', async () => {
	const stage = await createStage();
	const exit = once(stage.spawn(['--', 'sh', '-c', 'exit 3'], {HELD: 'yes'}), 'exit');
	const {wrapper} = await stage.when('started');
	await stage.when('ended');
	for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1']) {
		process.kill(wrapper ?? 0, signal);
	}

	stage.release();
	expect(await exit).toEqual([3, null]);
	expect(await stage.when('exit')).toMatchObject({listening: []});
});
