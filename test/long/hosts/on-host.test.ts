/**
`--on` through real OpenSSH, with three servers on 127.0.0.1 and a pool on each, one switched off, one that refuses, and one without canhazgpu.
*/
import {spawnSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {shellCommand} from '../../../source/format/text/shell.js';
import {eventually} from '../../_helpers/eventually.js';
import {startSshServers, type SshServers} from '../../_helpers/machine/ssh-server.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {peek, start} from '../../_helpers/program/processes.js';

let here: Box;
let boxes: Record<'near' | 'far' | 'off' | 'bare', Box>;
let servers: SshServers;
let environment: Record<string, string>;

beforeAll(async () => {
	here = await createEmbeddedBox(1);
	boxes = {
		near: await createEmbeddedBox(2),
		far: await createEmbeddedBox(4),
		off: await createEmbeddedBox(8),
		bare: await createEmbeddedBox(8),
	};
	servers = await startSshServers(path.join(here.home, 'ssh'), boxes);
	await servers.stop('off');
	rmSync(path.join(boxes.bare.home, 'installed'), {recursive: true});
	environment = {
		PATH: `${servers.directory}:${here.environment['PATH']!}`,
		CANHAZGPU_REMOTE_HOSTS: 'near,far,off,bare',
	};
});

afterAll(async () => {
	await servers.stopAll();
	for (const box of [here, ...Object.values(boxes)]) {
		box.remove();
	}
});

const heldOn = async (box: Box): Promise<number> => (await peek(box)).gpus.filter(({kind}) => kind === 'leased').length;

test('run --on any skips hosts that are switched off or lack canhazgpu', async () => {
	const {exitCode, stdout, stderr} = await here.run('run --on any -g 4 -- printenv CUDA_VISIBLE_DEVICES', environment);
	expect([exitCode, stdout, stderr]).toEqual([0, '0,1,2,3\n', 'canhazgpu: using far: 4 GPU(s) are free there\n']);
	const none = await here.run('run --on any -g 5 -- true', environment);
	expect(none.exitCode).toBe(2);
	expect(none.stderr).toMatch(
		/off: ssh: connect to host 127\.0\.0\.1 port \d+: Connection refused; bare: canhazgpu is not installed there\n$/v,
	);
});

test('run --on passes input, output, exit code and signals between the local host and the job', async () => {
	const script = 'cat; echo err >&2; kill -9 $$';
	const run = [starter, ...starterText, 'run', '--on', 'near', '--', 'sh', '-c', script];
	const {exitCode, stdout, stderr} = await start(
		here,
		['-c', 'head -c 300000 /dev/zero | "$@"', 'sh', ...run],
		environment,
		['/bin/sh'],
	).ended;
	expect([exitCode, stdout.length, stderr]).toEqual([137, 300_000, 'err\n']);
	expect(await heldOn(boxes.near)).toBe(0);
});

test('run --on gives the command a terminal, and Ctrl-C ends only the command', async () => {
	const terminal = openTerminal(
		starter,
		[
			...starterText,
			'run',
			'--on',
			'far',
			'--',
			'sh',
			'-c',
			'trap "echo got INT; exit 5" INT; tty; echo ready; sleep 300',
		],
		{
			columns: 80,
			rows: 24,
			cwd: here.home,
			environment: {...here.environment, ...environment},
		},
	);
	await terminal.waitFor('ready');
	expect(terminal.screen().join('\n')).toContain('/dev/pts/');
	terminal.write('\u{3}');
	await terminal.waitFor('got INT');
	expect(await terminal.exit).toMatchObject({exitCode: 5});
	expect(await heldOn(boxes.far)).toBe(0);
});

test('run --on keeps its job running after Ctrl-Z, while ~ Ctrl-Z stops only the local ssh', async () => {
	const shell = openTerminal('/bin/bash', ['--norc', '-i'], {
		columns: 100,
		rows: 24,
		cwd: here.home,
		environment: {...here.environment, ...environment, PS1: 'shell> '},
	});
	await shell.waitFor('shell>');
	const script = 'echo ready; until test -e go; do sleep 0.1; done; echo gone on';
	const words = shellCommand([starter, ...starterText, 'run', '--on', 'far', '--', 'sh', '-c', script]);
	shell.write(`clear; ${words}\r`);
	await shell.waitFor(/^ready$/mv);
	shell.write('\u{1A}\r~\u{1A}');
	await shell.waitFor(/suspend ssh[\s\S]*Stopped/v);
	expect(await heldOn(boxes.far)).toBe(1);
	writeFileSync(path.join(here.home, 'go'), '');
	shell.write('clear; fg; echo "code $?"\r');
	await shell.waitFor(/^gone on\n(?:.*\n)*code 0$/mv);
	expect(await heldOn(boxes.far)).toBe(0);
	await shell.close();
});

test.each(['not shared', 'shared'])(
	'the end of an ssh connection (%s) ends the waiting request and the job on the other host',
	async (kind) => {
		if (kind === 'shared') {
			// A shared connection stays open when one of its sessions ends.
			const client = path.join(here.home, 'ssh/client.conf');
			const settings = ['Host far', 'ControlMaster auto', `ControlPath ${here.home}/%h-%p`, 'ControlPersist 60', ''];
			writeFileSync(client, settings.join('\n') + readFileSync(client, 'utf8'));
			onTestFinished(() => {
				spawnSync(path.join(servers.directory, 'ssh'), ['-O', 'exit', 'far']);
			});
			await here.run('run --on far -- true', environment);
		}

		await boxes.far.run('reserve -g 3 -d 1h');
		const job = start(here, ['run', '--on', 'far', '--', 'sleep', '300'], environment);
		await eventually(async () => (await heldOn(boxes.far)) === 4);
		const waiter = start(here, 'run --on far -g 2 -- true', environment);
		await eventually(async () => (await peek(boxes.far)).queue.length === 1);
		for (const {pid} of [job, waiter]) {
			process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()), 'SIGKILL');
		}

		await Promise.all([job.ended, waiter.ended]);
		await eventually(async () => (await heldOn(boxes.far)) === 3 && (await peek(boxes.far)).queue.length === 0);
		await boxes.far.run('release');
	},
);
