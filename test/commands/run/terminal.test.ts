/** `run` in a terminal: keys and hang-up act as if the command had been typed alone. */
import {chmodSync, existsSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {
	fileIn,
	freshEmbeddedBox,
	freshRedisBox,
	holders,
	isAlive,
	peek,
	recordsOf,
} from '../../_helpers/program/processes.js';
import {firstCase} from '../../_helpers/slow.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {openShell} from '../../_helpers/machine/shell.js';

const redis = redisOfFile();

/** Logs its pid and each SIGINT. Dies from the first after a moment, like most programs. */
const counter = String.raw`#!/usr/bin/env node
import {appendFileSync, writeFileSync} from 'node:fs';
process.on('SIGINT', () => {
	appendFileSync('signals', 'INT\n');
	setTimeout(() => {
		process.removeAllListeners('SIGINT');
		process.kill(process.pid, 'SIGINT');
	}, 300);
});
setInterval(() => {}, 1000);
writeFileSync('pid', process.pid + '\n');
`;

async function pidOf(box: Box): Promise<number> {
	const pid = Number(await fileIn(box, 'pid'));
	onTestFinished(() => {
		if (isAlive(pid)) {
			process.kill(pid, 'SIGKILL');
		}
	});
	return pid;
}

describe.each(
	firstCase([
		['redis', async () => freshRedisBox(redis.port, 2)],
		['embedded', async () => freshEmbeddedBox(2)],
	]),
)('with the %s store', (_, create) => {
	test('Ctrl-C reaches the job once, and run exits with 130', async () => {
		const box = await create();
		writeFileSync(path.join(box.home, 'counter.mjs'), counter);
		chmodSync(path.join(box.home, 'counter.mjs'), 0o755);
		const shell = await openShell(box);
		shell.write('canhazgpu run -- ./counter.mjs; echo "code $?"\r');
		await pidOf(box);
		shell.write('\u{3}');
		// A shell whose command dies of SIGINT drops the rest of the line, so the exit code is asked for.
		await shell.waitFor(/code 130|\^C\s+shell>\s*$/v);
		shell.write('echo "last $?"\r');
		await shell.waitFor(/(?:code|last) 130/v);
		expect(readFileSync(path.join(box.home, 'signals'), 'utf8')).toBe('INT\n');
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{endReason: 'signalled'}]);
	});

	test.each(['run -- true', 'reserve', 'run --begin 1h -- true'])(
		'Ctrl-C during the wait of %s ends the loop of the shell',
		async (words) => {
			const box = await create();
			await box.run('reserve --gpus 2');
			const shell = await openShell(box);
			shell.write(`for i in 1 2 3; do echo "try $i"; canhazgpu ${words}; done\r`);
			await shell.waitFor(/Waiting for|starts at/v);
			shell.write('\u{3}');
			await shell.waitFor(/shell>\s*$/v);
			shell.write('echo "last $?"\r');
			const screen = await shell.waitFor(/last 130/v);
			expect(screen.join('\n')).not.toContain('try 2');
			expect((await peek(box)).queue).toEqual([]);
		},
	);

	test('Ctrl-Z stops the job and keeps its lease, and fg resumes the job', async () => {
		const box = await create();
		const shell = await openShell(box);
		shell.write("canhazgpu run -- sh -c 'echo $$ > pid; until test -e go; do sleep 0.05; done; echo gone on'\r");
		await pidOf(box);
		shell.write('\u{1A}');
		await shell.waitFor(/Stopped/v);
		expect(await holders(box)).toBe('0:RUN 1:-');
		writeFileSync(path.join(box.home, 'go'), '');
		shell.write('fg; echo "code $?"\r');
		await shell.waitFor(/gone on[\s\S]*code 0/v);
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('a job that stops itself, as ssh does on ~ Ctrl-Z, returns the terminal to the shell, and fg resumes the job', async () => {
		const box = await create();
		const shell = await openShell(box);
		shell.write("canhazgpu run -- sh -c 'echo $$ > pid; kill -TSTP $$; echo gone on; kill -STOP $$; echo again'\r");
		await shell.waitFor(/Stopped/v);
		expect(await holders(box)).toBe('0:RUN 1:-');
		shell.write('clear; fg\r');
		await shell.waitFor(/gone on[\s\S]*Stopped/v);
		shell.write('clear; fg; echo "code $?"\r');
		await shell.waitFor(/again[\s\S]*code 0/v);
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('a background job that reads from the terminal stops together with run, and fg resumes both', async () => {
		const box = await create();
		const shell = await openShell(box);
		shell.write('set -o notify\r');
		for (const word of ['first', 'second', 'third']) {
			shell.write("clear; canhazgpu run -- sh -c 'read line; echo got $line' &\r");
			await shell.waitFor(/Stopped/v);
			expect(await holders(box)).toBe('0:RUN 1:-');
			shell.write(`clear; fg; echo "${word} $?"\r`);
			await shell.waitFor(/^\s*canhazgpu run -- sh -c 'read line; echo got \$line'\s*$/v);
			shell.write(`${word}\r`);
			await shell.waitFor(new RegExp(String.raw`got ${word}[\s\S]*${word} 0`, 'v'));
			expect(await holders(box)).toBe('0:- 1:-');
		}
	});

	test('closing the terminal ends the job of run and releases its GPU', async () => {
		const box = await create();
		const shell = await openShell(box);
		shell.write("canhazgpu run -- sh -c 'echo $$ > pid; exec sleep 600'\r");
		const pid = await pidOf(box);
		shell.hangUp();
		await eventually(() => !isAlive(pid));
		await eventually(async () => (await recordsOf(box)).length === 1);
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{endReason: 'signalled'}]);
	});

	test('run with nohup in the background continues after the terminal is closed', async () => {
		const box = await create();
		const shell = await openShell(box);
		shell.write(
			"nohup canhazgpu run -- sh -c 'echo $$ > pid; until test -e go; do sleep 0.05; done; touch done' >log 2>&1 &\r",
		);
		const pid = await pidOf(box);
		shell.hangUp();
		await shell.exit;
		expect(isAlive(pid)).toBe(true);
		expect(await holders(box)).toBe('0:RUN 1:-');
		writeFileSync(path.join(box.home, 'go'), '');
		await eventually(() => existsSync(path.join(box.home, 'done')));
		await eventually(async () => (await recordsOf(box)).length === 1);
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{endReason: 'exited'}]);
	});
});
