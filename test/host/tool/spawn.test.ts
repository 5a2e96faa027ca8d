import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {build} from 'esbuild';
import {expect, onTestFinished, test, vi} from 'vitest';
import {liveness} from '../../../source/host/process/processes.js';
import {runTool, supervise} from '../../../source/host/tool/spawn.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {createFiles} from '../temporary.js';

const timeoutMs = 60_000;

const shell = async (script: string, options: Partial<Parameters<typeof runTool>[2]> = {}) =>
	runTool('sh', ['-c', script], {timeoutMs, ...options});

const expectGone = async (pid: number) =>
	vi.waitFor(
		() => {
			expect(liveness([{pid}])).toEqual(['dead']);
		},
		{timeout: patienceMs},
	);

test('runTool returns both outputs and the exit code', async () => {
	expect(await shell('echo out; echo err >&2; exit 3')).toEqual({stdout: 'out\n', stderr: 'err\n', exitCode: 3});
});

test('runTool returns the signal that ended the program', async () => {
	expect(await shell('echo before; kill -SEGV $$')).toEqual({stdout: 'before\n', stderr: '', signal: 'SIGSEGV'});
});

test('runTool passes arguments on unchanged', async () => {
	const args = ['a b', '$(id)', '; exit 9', '', '*'];
	const {stdout} = await runTool('printf', ['%s\n', ...args], {timeoutMs});
	expect(stdout).toBe(`${args.join('\n')}\n`);
});

test('runTool starts the program in / with the C locale', async () => {
	const {stdout} = await shell('echo "$LC_ALL"; pwd; cat; ps -o pgid= -p $$ | tr -d " "; echo $$');
	const [locale, directory, group, pid] = stdout.split('\n', 4);
	expect([locale, directory]).toEqual(['C', '/']);
	expect(group).toBe(pid);
});

test('runTool resolves a relative program path from the current directory', async () => {
	const directory = await createFiles({tool: '#!/bin/sh\necho here\n'});
	const {stdout} = await runTool(path.relative(process.cwd(), path.join(directory, 'tool')), [], {timeoutMs});
	expect(stdout).toBe('here\n');
});

test('runTool reports a missing program as not found', async () => {
	expect(await runTool('no-such-program', [], {timeoutMs})).toMatchObject({failure: 'not-found', stdout: ''});
	expect(await runTool('/no/such/program', [], {timeoutMs})).toMatchObject({failure: 'not-found'});
});

test('runTool skips a directory in PATH that has the name of the program', async () => {
	const directory = await createFiles({'tool/file': ''});
	const environment = {PATH: `${directory}:/usr/bin:/bin`};
	expect(await runTool('tool', [], {timeoutMs, environment})).toMatchObject({failure: 'not-found'});
});

test('runTool reports a file that is not a program as not executable', async () => {
	const directory = await createFiles({tool: 'text'});
	expect(await runTool(path.join(directory, 'tool'), [], {timeoutMs})).toMatchObject({failure: 'not-executable'});
	expect(await runTool(directory, [], {timeoutMs})).toMatchObject({failure: 'not-executable'});
});

test('runTool reports an invalid argument as a failure and does not throw', async () => {
	expect(await runTool('echo', ['\0'], {timeoutMs})).toMatchObject({failure: 'failed'});
	expect(await runTool('echo', ['x'.repeat(4_000_000)], {timeoutMs})).toMatchObject({failure: 'failed'});
});

test('runTool ends a hanging program and its child processes at the time limit', async () => {
	const startedAt = performance.now();
	const {failure, stdout, signal, ended} = await shell('sleep 600 & echo $! $$; wait', {timeoutMs: 3000});
	expect(performance.now() - startedAt).toBeLessThan(30_000);
	expect({failure, signal, ended}).toEqual({failure: 'timed-out', signal: 'SIGTERM', ended: undefined});
	const pids = stdout.trim().split(' ').map(Number);
	expect(pids).toHaveLength(2);
	await Promise.all(pids.map(async (pid) => expectGone(pid)));
});

test('runTool kills a program that ignores SIGTERM', async () => {
	const startedAt = performance.now();
	const {failure, stdout, signal} = await shell('trap "" TERM; echo $$; while :; do sleep 0.05; done', {
		timeoutMs: 3000,
	});
	expect(performance.now() - startedAt).toBeLessThan(30_000);
	expect({failure, signal}).toEqual({failure: 'timed-out', signal: 'SIGKILL'});
	await expectGone(Number(stdout));
});

test('supervise abandons a program that survives SIGKILL', async () => {
	const child = spawn('sleep', ['600'], {stdio: ['ignore', 'pipe', 'pipe']});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	const signals: string[] = [];
	const startedAt = performance.now();
	const {ended, ...outcome} = await supervise(child, {timeoutMs: 100}, (signal) => {
		signals.push(signal);
	});
	expect(performance.now() - startedAt).toBeLessThan(30_000);
	expect(outcome).toEqual({stdout: '', stderr: '', failure: 'timed-out'});
	expect(signals).toEqual(['SIGTERM', 'SIGKILL']);
	expect(liveness([{pid: child.pid ?? 0}])).toEqual(['alive']);

	child.kill('SIGKILL');
	await ended;
	expect(ended).toBeDefined();
	await expectGone(child.pid ?? 0);
});

test('supervise does not keep this process running for an abandoned program', async () => {
	const entry = `
		import {spawn} from 'node:child_process';
		import {supervise} from './source/host/tool/spawn.ts';
		const child = spawn('sleep', ['600'], {stdio: ['ignore', 'pipe', 'pipe'], detached: true});
		const {failure} = await supervise(child, {timeoutMs: 50}, () => undefined);
		console.log(failure, child.pid);`;
	const {outputFiles} = await build({
		stdin: {contents: entry, resolveDir: process.cwd(), loader: 'ts'},
		bundle: true,
		platform: 'node',
		format: 'esm',
		write: false,
	});
	const directory = await createFiles({'main.mjs': outputFiles[0]?.text ?? ''});
	const parent = spawn(process.execPath, [path.join(directory, 'main.mjs')], {stdio: ['ignore', 'pipe', 'inherit']});
	const [chunk] = (await once(parent.stdout, 'data')) as [Uint8Array];
	const [failure, pid] = new TextDecoder().decode(chunk).trim().split(' ', 2);
	const [exitCode] = (await once(parent, 'exit', {signal: AbortSignal.timeout(patienceMs)})) as [number];
	process.kill(Number(pid), 'SIGKILL');
	expect([failure, exitCode]).toEqual(['timed-out', 0]);
});

test('runTool does not wait for output of a grandchild', async () => {
	const startedAt = performance.now();
	const {stdout, exitCode} = await shell('sleep 600 & echo $!; exit 0');
	expect(performance.now() - startedAt).toBeLessThan(30_000);
	expect(exitCode).toBe(0);
	process.kill(Number(stdout), 'SIGKILL');
});

test('runTool stops a program that prints too much', async () => {
	const {failure, stdout} = await shell('yes', {maxBytes: 1000});
	expect(failure).toBe('too-much-output');
	expect(stdout).toBe('y\n'.repeat(500));
});

test('runTool stops a program that prints too much on stderr', async () => {
	const {failure, stderr} = await shell('yes >&2', {maxBytes: 1000});
	expect(failure).toBe('too-much-output');
	expect(stderr).toHaveLength(1000);
});

test('runTool returns large output completely', async () => {
	const {stdout, failure} = await shell(String.raw`head -c 3000000 /dev/zero | tr "\0" x`);
	expect(failure).toBeUndefined();
	expect(stdout).toHaveLength(3_000_000);
});

test('runTool replaces invalid UTF-8 and does not throw', async () => {
	const {stdout} = await shell(String.raw`printf 'a\377b'`);
	expect(stdout).toBe('a�b');
});

test('runTool ends early when its signal aborts', async () => {
	const controller = new AbortController();
	const startedAt = performance.now();
	const running = shell('exec sleep 600', {signal: controller.signal});
	controller.abort();
	expect(await running).toMatchObject({failure: 'aborted', signal: 'SIGTERM'});
	expect(performance.now() - startedAt).toBeLessThan(30_000);
	expect(await shell('exit 0', {signal: controller.signal})).toEqual({stdout: '', stderr: '', failure: 'aborted'});
});

test('runTool leaves no zombie process', async () => {
	await Promise.all(Array.from({length: 10}, async () => shell('exit 0')));
	const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
	const states = await Promise.all(
		children
			.trim()
			.split(/\s+/v)
			.filter((pid) => pid !== '')
			.map(async (pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
	);
	expect(states.filter((stat) => stat.includes(') Z '))).toEqual([]);
});
