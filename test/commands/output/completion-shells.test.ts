/** Presses Tab in real shells and checks the line. */
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {createServer, type AddressInfo} from 'node:net';
import {once} from 'node:events';
import path from 'node:path';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {ensureShells} from '../../_helpers/packages/find-shells.js';
import {openShell, type Shell} from '../../_helpers/machine/shell.js';
import type {Terminal} from '../../_helpers/machine/terminal.js';
import {isLong, slowTest} from '../../_helpers/slow.js';

const shells = ensureShells();

let box: Box;

/** Names that exist nowhere else, so that each has only one completion. */
const file = 'pool-settings of mine.yaml';
const typedFile = String.raw`pool-settings\ of\ mine.yaml`;
const command = 'train-a-model';

beforeAll(async () => {
	box = await createEmbeddedBox(4);
	expect(await box.run('reserve --gpu-ids 2')).toMatchObject({exitCode: 0});
	expect(await box.run(['reserve', '--gpu-ids', '3', '--user', 'team-a'])).toMatchObject({exitCode: 0});
	expect(await box.run(['reserve', '--gpu-ids', '0', '--user', 'team$(touch pwned)'])).toMatchObject({exitCode: 0});
	mkdirSync(path.join(box.home, 'bin'));
	writeFileSync(path.join(box.home, file), 'remote_hosts: [gpu-box-2, gpu-box-3]\n');
	writeFileSync(path.join(box.home, 'bin', command), '#!/bin/sh\n');
	chmodSync(path.join(box.home, 'bin', command), 0o755);
});

afterAll(() => {
	box.remove();
});

const plainBash: Shell = {command: 'bash', parameters: ['--norc', '--noprofile', '-i']};

const zsh: Shell = {command: 'zsh', parameters: ['-f', '-i']};

const fish: Shell = {
	command: 'fish',
	parameters: [
		'--no-config',
		'-i',
		'-C',
		'function fish_prompt; echo -n "shell> "; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0',
	],
};

const killLine = '\u{15}';

/** Returns the line being edited: the last that starts with the prompt. */
const edited = (screen: string): string | undefined =>
	screen
		.split('\n')
		.findLast((line) => line.startsWith('shell>'))
		?.slice('shell>'.length)
		.trimStart();

/** Types text, presses Tab, and types a letter that shows the caret. Retries, because a slow store offers nothing. */
async function completes(shell: Terminal, typed: string, becomes: string): Promise<void> {
	let line: string | undefined;
	for (let tries = 0; tries < 3 && line !== `${becomes}X`; tries++) {
		shell.write(`${typed}\tX`);
		const screen = await shell.waitFor((text) => edited(text)?.endsWith('X') ?? false);
		line = edited(screen.join('\n'));
		shell.write(killLine);
		await shell.waitFor((text) => edited(text) === '');
	}

	expect(line).toBe(`${becomes}X`);
}

/** Checks that the other program's own completion applies after `--`. */
async function pressTabsBehindDashes(shell: Terminal): Promise<void> {
	await completes(shell, 'canhazgpu run -g 1 -- train-a-', `canhazgpu run -g 1 -- ${command} `);
	await completes(
		shell,
		`canhazgpu run --note=x -- ${command} pool-s`,
		`canhazgpu run --note=x -- ${command} ${typedFile} `,
	);
	await completes(shell, 'canhazgpu run -- canhazgpu extend --unt', 'canhazgpu run -- canhazgpu extend --until ');
}

/** Runs the checks that all shells share. */
async function pressTabs(shell: Terminal): Promise<void> {
	// The program need not be installed as `chg`.
	await completes(shell, 'chg relea', 'chg release ');
	await completes(shell, 'canhazgpu reserve -g 1 --redis-ho', 'canhazgpu reserve -g 1 --redis-host ');
	await completes(shell, 'canhazgpu reserve -d 30', 'canhazgpu reserve -d 30m ');
	await completes(shell, 'canhazgpu release --user ', 'canhazgpu release --user team-a ');
	await completes(shell, 'canhazgpu extend --gpu-ids 3,0,', 'canhazgpu extend --gpu-ids 3,0,2 ');
	await completes(shell, 'canhazgpu report --by=mo', 'canhazgpu report --by=model ');
	await completes(shell, 'canhazgpu status --config pool-s', `canhazgpu status --config ${typedFile} `);
	await completes(shell, 'canhazgpu status --config=pool-s', `canhazgpu status --config=${typedFile} `);
	await completes(
		shell,
		`canhazgpu status --config=${typedFile} --remote gpu`,
		`canhazgpu status --config=${typedFile} --remote gpu-box-`,
	);
	// No file name is offered in place of another value.
	await completes(shell, 'canhazgpu reserve --note pool-s', 'canhazgpu reserve --note pool-s');
	await pressTabsBehindDashes(shell);
}

/** Starts a server that accepts connections and never answers. Returns its port. */
async function mute(): Promise<number> {
	const sockets: Array<{destroy: () => void}> = [];
	const server = createServer((socket) => {
		sockets.push(socket);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	onTestFinished(() => {
		for (const socket of sockets) {
			socket.destroy();
		}

		server.close();
	});
	return (server.address() as AddressInfo).port;
}

/** Checks that completion quickly offers nothing and prints nothing. */
async function pressTabWithoutStore(shell: Terminal): Promise<void> {
	const port = await mute();
	const before = performance.now();
	const typed = `canhazgpu release --store redis --redis-port ${port} -G `;
	await completes(shell, typed, typed);
	expect(performance.now() - before).toBeLessThan(5000);
	expect(shell.screen().join('\n')).not.toMatch(/error|warning|bug/iv);
}

async function open(shell: Shell, ...lines: readonly string[]): Promise<Terminal> {
	const terminal = await openShell(box, shell);
	for (const [index, line] of lines.entries()) {
		terminal.write(`${line}\n`);
		terminal.write(`echo done $((${index} + 40))\n`);
		await terminal.waitFor(`done ${index + 40}`);
		// Waits for the prompt, before which typed text would appear.
		await terminal.waitFor((text) => edited(text) === '');
	}

	return terminal;
}

slowTest('Tab completes commands, flags and values in bash', async () => {
	const shell = await open(plainBash, 'eval "$(canhazgpu completion bash)"');
	await pressTabs(shell);
	await pressTabWithoutStore(shell);
	shell.write('canhazgpu re\t\t');
	await shell.waitFor(/^reserve +release +retry +report$/mv);
});

test.skipIf(shells['bash-completion'] === undefined)('bash-completion completes the command after --', async () => {
	const shell = await open(plainBash, `. ${shells['bash-completion']}`, 'eval "$(canhazgpu completion bash)"');
	await pressTabsBehindDashes(shell);
});

test.runIf(isLong && shells.zsh !== undefined)('Tab completes commands, flags and values in zsh', async () => {
	const shell = await open(zsh, 'eval "$(canhazgpu completion zsh)"');
	await pressTabs(shell);
	await pressTabWithoutStore(shell);
	shell.write('canhazgpu re\t\t');
	await shell.waitFor(/^release +-- Release your reservations$/mv);
	shell.write(`${killLine}canhazgpu reserve --gpu-ids \t\t`);
	// The order is kept although descriptions repeat.
	await shell.waitFor(/^0 +-- [^\n]+ 1 +-- [^\n]+ 2 +-- /mv);
});

test.runIf(isLong && shells.fish !== undefined)('Tab completes commands, flags and values in fish', async () => {
	const shell = await openShell(box, fish);
	shell.write('canhazgpu completion fish | source; echo is (math 20 + 2)\n');
	await shell.waitFor('is 22');
	await pressTabs(shell);
	await pressTabWithoutStore(shell);
	shell.write('canhazgpu re\t');
	await shell.waitFor('(Release your reservations)');
});
