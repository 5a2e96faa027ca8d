import {spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {becomes, createStage, gone} from './_stage.js';

const has = (command: string) => spawnSync(command, ['--version']).status === 0;
const controlC = '\u{3}';
const controlZ = '\u{1A}';
const controlBackslash = '\u{1C}';

test.each([
	['Ctrl-C', controlC, 'INT'],
	['Ctrl-\\', controlBackslash, 'QUIT'],
])('%s reaches the job once and does not end the wrapper', async (_, key, name) => {
	const stage = await createStage();
	const terminal = stage.terminal('bash', '-c', 'chg -- ./counter.mjs; echo code $?');
	const {wrapper} = await stage.started();
	await stage.counted();
	terminal.type(key);
	await stage.counted(name);
	terminal.type(key);
	await stage.counted(name, name);
	// Signals arrive in order. If the wrapper had also passed on the key's signal, it would be counted before SIGUSR2.
	process.kill(wrapper, 'SIGUSR2');
	await stage.counted(name, name, 'USR2');
	stage.stop(5);
	await terminal.shows('code 5');
});

test('Ctrl-C while the wrapper waits for the store reaches the job once', async () => {
	const stage = await createStage();
	const terminal = stage.terminal('bash', '-c', 'BUSY=go chg -- ./counter.mjs; echo code $?');
	const {wrapper} = await stage.started();
	await stage.counted();
	terminal.type(controlC);
	await stage.counted('INT');
	writeFileSync(path.join(stage.directory, 'go'), '');
	process.kill(wrapper, 'SIGUSR2');
	await stage.heard('USR2');
	await stage.counted('INT', 'USR2');
	stage.stop(5);
	await terminal.shows('code 5');
});

test('Ctrl-C reaches a job in another process group once', async () => {
	const stage = await createStage();
	const terminal = stage.terminal('bash', '-c', 'chg -- setsid ./counter.mjs; echo code $?');
	const {wrapper} = await stage.started();
	await stage.counted();
	terminal.type(controlC);
	await stage.counted('INT');
	process.kill(wrapper, 'SIGUSR2');
	await stage.counted('INT', 'USR2');
	stage.stop(5);
	await terminal.shows('code 5');
});

test('Ctrl-C ends a job without a SIGINT handler', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('chg -- sleep 600\r');
	await stage.started();
	terminal.type(controlC);
	await terminal.shows('shell> ');
	terminal.type('echo code $?\r');
	await terminal.shows('code 130');
	expect(await stage.when('ended')).toMatchObject({
		end: {exitCode: 130, reason: 'signalled', signal: 'SIGINT'},
	});
});

test.each([
	['SIGINT', 130],
	['SIGTERM', 143],
])('%s ends a job that is just starting, with exit code %d', async (signal, exitCode) => {
	const stage = await createStage();
	const terminal = stage.terminal('bash', '-c', `EARLY=${signal} chg -- sleep 600; echo code $?`);
	await terminal.shows(`code ${exitCode}`);
});

test.each([
	['loop', 'for i in 1 2 3; do chg -- sleep 600; done'],
	['script', 'bash ./script.sh'],
])('Ctrl-C ends the shell %s that runs the job', async (_, line) => {
	const stage = await createStage({'script.sh': 'chg -- sleep 600\nchg -- sleep 600\n'});
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type(`${line}\r`);
	await stage.started();
	terminal.type(controlC);
	await terminal.shows('shell> ');
	terminal.type('echo over\r');
	await terminal.shows('\r\nover\r\n');
	expect(stage.reports().map(({event}) => event)).toEqual(['started', 'ended', 'released', 'exit']);
});

test('Ctrl-C ends a session leader with exit code 130, because ssh reports death by a signal as a lost connection', async () => {
	const stage = await createStage();
	const terminal = stage.terminal('bash', '-c', 'exec chg -- sleep 600');
	await stage.started();
	terminal.type(controlC);
	expect(await terminal.exits()).toBe(130);
});

test('Ctrl-Z stops the wrapper and the job, and fg resumes both', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('chg -- ./counter.mjs\r');
	const {wrapper, job} = await stage.started();
	await stage.counted();
	terminal.type(controlZ);
	await terminal.shows('Stopped');
	await becomes('stopped', {pid: wrapper}, job);
	terminal.type('fg\r');
	await becomes('alive', {pid: wrapper}, job);
	await stage.counted('CONT');
	terminal.type(controlC);
	await stage.counted('CONT', 'INT');
	stage.stop(6);
	await terminal.shows('shell> ');
	terminal.type('echo code $?\r');
	await terminal.shows('code 6');
});

test('bg continues a stopped job in the background', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('chg -- ./counter.mjs\r');
	const {wrapper, job} = await stage.started();
	await stage.counted();
	terminal.type(controlZ);
	await terminal.shows('Stopped');
	terminal.type('bg\r');
	await becomes('alive', {pid: wrapper}, job);
	await stage.counted('CONT');
	// Ctrl-C does not reach a background job, so `kill` sends SIGINT to the wrapper alone.
	terminal.type(controlC);
	process.kill(wrapper, 'SIGINT');
	await stage.counted('CONT', 'INT');
	process.kill(wrapper, 'SIGUSR2');
	await stage.counted('CONT', 'INT', 'USR2');
	stage.stop();
	await stage.when('exit');
});

test('resizing the terminal sends the job one SIGWINCH', async () => {
	const stage = await createStage();
	const terminal = stage.terminal('bash', '-c', 'chg -- ./counter.mjs; echo code $?');
	const {wrapper} = await stage.started();
	await stage.counted();
	terminal.resize(90, 20);
	await stage.counted('WINCH');
	process.kill(wrapper, 'SIGUSR2');
	await stage.counted('WINCH', 'USR2');
	stage.stop();
	await terminal.shows('code 0');
});

test.skipIf(!has('python3'))('a Python prompt that runs as a job has a terminal and survives Ctrl-C', async () => {
	const stage = await createStage();
	const terminal = stage.terminal('bash', '-c', 'chg -- python3 -q; echo code $?');
	await terminal.shows('>>> ');
	terminal.type('6*7\r');
	await terminal.shows('42');
	await terminal.shows('>>> ');
	// Python prints the sum, so the sleep has begun, and Ctrl-C no longer goes to the prompt.
	terminal.type('import time; print(1000 + 234); time.sleep(600)\r');
	const {job} = await stage.started();
	await becomes('alive', job);
	await terminal.shows('1234');
	terminal.type(controlC);
	await terminal.shows('KeyboardInterrupt');
	await terminal.shows('>>> ');
	terminal.type('import sys; sys.stdin.isatty(), sys.stdout.isatty()\r');
	await terminal.shows('(True, True)');
	await terminal.shows('>>> ');
	terminal.type('exit(3)\r');
	await terminal.shows('code 3');
});

test.skipIf(!has('vim'))('vim as a job can be stopped and resumed, and then save its file', async () => {
	const stage = await createStage({'text.txt': 'hello\n'});
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('TERM=xterm chg -- vim -u NONE -i NONE -n text.txt\r');
	const {wrapper, job} = await stage.started();
	await terminal.shows('hello');
	terminal.type(controlZ);
	await terminal.shows('Stopped');
	// The shell waits only for the wrapper.
	await becomes('stopped', {pid: wrapper}, job);
	terminal.type('fg\r');
	await becomes('alive', {pid: wrapper}, job);
	await terminal.shows('hello');
	terminal.type('Agoodbye\u{1B}:wq\r');
	await terminal.shows('shell> ');
	expect(stage.lines('text.txt')).toEqual(['hellogoodbye']);
});

test('an interactive shell as a job has job control and gives the terminal back when it exits', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('PS1="inner> " chg -- bash --norc --noprofile -i\r');
	await terminal.shows('\r\ninner> ');
	terminal.type('sh -c "echo asleep; exec sleep 600"\r');
	await terminal.shows('\r\nasleep');
	terminal.type(controlC);
	await terminal.shows('\r\ninner> ');
	terminal.type('exit 4\r');
	await terminal.shows('shell> ');
	terminal.type('echo code $?\r');
	await terminal.shows('code 4');
});

test('a pipe through the job passes the data to the last line', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('set -o pipefail; seq 1000000 | chg -- cat | tail -n 1; echo code $?\r');
	await terminal.shows('\r\n1000000\r\n');
	await terminal.shows('code 0');
});

test('a job whose output pipe is closed ends with exit code 141, as without the wrapper', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('set -o pipefail; chg -- yes | head -n 1; echo code $?\r');
	await terminal.shows('code 141');
});

test('the end of a background job does not reset terminal settings of other programs', async () => {
	const script = [
		'set -m',
		'stty sane',
		'chg -- sh -c \'until [ -e "$STOP" ]; do sleep 0.01; done\' & job=$!',
		'until grep -q started "$REPORT"; do sleep 0.01; done',
		'stty intr ^G',
		'echo >"$STOP"',
		'wait $job',
		'stty -a | grep -o "intr = ^."',
	];
	const stage = await createStage({'script.sh': script.join('\n')});
	const terminal = stage.terminal('bash', 'script.sh');
	await terminal.shows('chg: released');
	await terminal.shows('intr = ^G');
	await gone({pid: terminal.pid});
});
