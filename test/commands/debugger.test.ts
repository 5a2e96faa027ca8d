/**
SIGUSR1, which trainers and schedulers send before preemption, must not open Node's debugger, through which every
account could run code.
*/
import {existsSync, readFileSync} from 'node:fs';
import {constants} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {isLong, slowTest} from '../_helpers/slow.js';
import {libraryCommand} from '../../source/app/names.js';
import {createBox, type Box} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {hasSignal, portsOf} from '../_helpers/store/listeners.js';
import {compileNvml, hasCompiler} from '../_helpers/machine/compiled/nvml-stub.js';
import {fileIn, freshEmbeddedBox, isAlive, peek, start} from '../_helpers/program/processes.js';
import {isShown, startTop} from '../tui/program/_program.js';
import {ask, startWeb} from '../web/_server.js';

/** A debugger that opens by mistake takes any free port. */
const environment = {NODE_OPTIONS: '--inspect-port=127.0.0.1:0'};

const usr1 = constants.signals.SIGUSR1;

/** Node opens the port within milliseconds, or within a second on a busy machine. */
const watchedMs = 1000;

/** Sends SIGUSR1 and checks for `watchedMs` that the process opens no port. */
async function provoke(pid: number): Promise<void> {
	const before = portsOf(pid);
	for (let time = 0; time < 2; time++) {
		process.kill(pid, 'SIGUSR1');
		await eventually(() => !hasSignal(pid, 'ShdPnd', usr1));
	}

	const untilMs = performance.now() + watchedMs;
	while (performance.now() < untilMs) {
		expect(isAlive(pid)).toBe(true);
		expect(portsOf(pid)).toEqual(before);
		await sleep(20);
	}
}

const queueLength = async (box: Box): Promise<number> => {
	const {queue} = await peek(box);
	return queue.length;
};

/** Waits until the program handles SIGUSR1. Until then, Node handles the signal. */
const listens = async (pid: number): Promise<void> => eventually(() => hasSignal(pid, 'SigCgt', usr1));

describe('SIGUSR1 opens no debugger', () => {
	slowTest('in a queued run, which still gets its GPU', async () => {
		const box = await freshEmbeddedBox(1);
		expect(await box.run('reserve')).toMatchObject({exitCode: 0});
		const waiting = start(box, ['run', '--', 'sh', '-c', 'exit 7'], environment);
		await eventually(async () => (await queueLength(box)) === 1);
		await provoke(waiting.pid);
		expect(await box.run('release')).toMatchObject({exitCode: 0});
		const ended = await waiting.ended;
		expect(ended).toMatchObject({exitCode: 7});
		expect(ended.stderr).not.toContain('ebugger');
	});

	slowTest('in run, whose job still receives SIGUSR1', async () => {
		const box = await freshEmbeddedBox(1);
		const script =
			'grep SigIgn /proc/$$/status > ignored; trap "echo told >> told" USR1; echo $$ > ready; while :; do sleep 0.05; done';
		const job = start(box, ['run', '--', 'sh', '-c', script], environment);
		await fileIn(box, 'ready');
		const mask = readFileSync(path.join(box.home, 'ignored'), 'utf8').trim().split(/\s+/v, 2)[1]!;
		// eslint-disable-next-line no-bitwise -- a set of signals is a mask
		expect((BigInt(`0x${mask}`) >> BigInt(usr1 - 1)) & 1n).toBe(0n);
		await provoke(job.pid);
		await eventually(() => existsSync(path.join(box.home, 'told')));
		job.kill('SIGKILL');
		process.kill(Number(await fileIn(box, 'ready')), 'SIGKILL');
	});

	slowTest('in a queued reserve, which still gets its GPU', async () => {
		const box = await freshEmbeddedBox(1);
		expect(await box.run('reserve')).toMatchObject({exitCode: 0});
		const waiting = start(box, 'reserve --wait 5m --short', environment);
		await eventually(async () => (await queueLength(box)) === 1);
		await provoke(waiting.pid);
		expect(await box.run('release')).toMatchObject({exitCode: 0});
		expect(await waiting.ended).toMatchObject({exitCode: 0, stdout: '0\n'});
	});

	slowTest('in the monitor, which still reacts to keys', async () => {
		const box = await freshEmbeddedBox(2);
		const top = startTop(box, {environment});
		await top.waitFor(isShown(2));
		await provoke(top.pid);
		top.write('?');
		await top.waitFor('Keys');
		top.write('q');
		expect(top.screen().join('\n')).not.toContain('ebugger');
	});

	slowTest('in web, which still answers requests', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box, [], environment);
		await provoke(web.pid);
		expect(await ask(web.port, '/api/status')).toMatchObject({status: 200});
		expect(portsOf(web.pid)).toEqual([web.port]);
		expect(await web.end('SIGTERM')).toMatchObject({end: 0});
		expect(web.stderr()).not.toContain('ebugger');
	});

	slowTest('in events --follow, which still prints events', async () => {
		const box = await freshEmbeddedBox(1);
		const follower = start(box, 'events --follow', environment);
		await listens(follower.pid);
		expect(await box.run('reserve --note before')).toMatchObject({exitCode: 0});
		await eventually(() => follower.stdout().includes('got GPU 0'));
		await provoke(follower.pid);
		expect(await box.run('release')).toMatchObject({exitCode: 0});
		await eventually(() => follower.stdout().includes('released'));
	});

	test.runIf(isLong && hasCompiler)(
		"in the separate process for NVIDIA's library, which still prints scans",
		async () => {
			const box = createBox();
			onTestFinished(() => {
				box.remove();
			});
			const reader = start(box, [libraryCommand, '50'], {
				...environment,
				LD_LIBRARY_PATH: compileNvml(),
				NVML_STUB: '',
			});
			await eventually(() => reader.stdout().includes('\n'));
			await provoke(reader.pid);
			const lengthBefore = reader.stdout().length;
			await eventually(() => reader.stdout().length > lengthBefore);
		},
	);
});

slowTest('SIGUSR1 during the start of Node leaves no debugger open', async () => {
	const box = await freshEmbeddedBox(1);
	const follower = start(box, 'events --follow', environment);
	await listens(follower.pid);
	follower.kill('SIGUSR1');
	expect(await box.run('reserve')).toMatchObject({exitCode: 0});
	await eventually(() => follower.stdout().includes('got GPU 0'));
	await eventually(() => portsOf(follower.pid).length === 0);
	await provoke(follower.pid);
});

slowTest('a debugger that was opened by NODE_OPTIONS=--inspect stays open', async () => {
	const box = await freshEmbeddedBox(1);
	const follower = start(box, 'events --follow', {NODE_OPTIONS: '--inspect=127.0.0.1:0'});
	expect(await box.run('reserve')).toMatchObject({exitCode: 0});
	await eventually(() => follower.stdout().includes('got GPU 0'));
	expect(portsOf(follower.pid)).toHaveLength(1);
});
