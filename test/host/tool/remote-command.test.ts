/** The script that ssh runs on another host, with every login shell that hosts may have. */
import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import fc from 'fast-check';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {sshCommand} from '../../../source/host/tool/remote-command.js';

let directory: string;
let environment: Record<string, string>;

beforeAll(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'chg-remote-'));
	const file = path.join(directory, 'canhazgpu');
	// A NUL follows each argument, because no argument can contain one.
	writeFileSync(file, '#!/bin/sh\npwd\nprintf \'%s\\0\' "$@"\n');
	chmodSync(file, 0o755);
	environment = {PATH: `${directory}:${process.env['PATH'] ?? ''}`, HOME: directory};
});

afterAll(() => {
	rmSync(directory, {recursive: true});
});

const scriptFor = (command: Partial<Parameters<typeof sshCommand>[0]>): string =>
	sshCommand({host: 'box', words: [], rest: undefined, hasTerminal: true, ...command}).at(-1)!;

const shells = ['sh', 'bash', 'zsh', 'fish', 'csh'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

test('the shells for the tests of the ssh script are installed', () => {
	expect(shells).toEqual(expect.arrayContaining(['sh', 'bash']));
});

describe.each(shells)('the ssh script in %s', (shell) => {
	const run = (script: string, more: Record<string, string> = {}) =>
		spawnSync(shell, ['-c', script], {cwd: '/', env: {...environment, ...more}, encoding: 'utf8'});

	test('passes every argument unchanged', () => {
		fc.assert(
			fc.property(
				fc.array(
					fc.string({unit: 'binary', maxLength: 20}).filter((word) => !word.includes('\0') && word.isWellFormed()),
					{
						maxLength: 6,
					},
				),
				fc.option(fc.array(fc.constantFrom("'", '"', '$(x)', '\\', '\n', '!', '-n', '')), {nil: undefined}),
				(words, rest) => {
					const {stdout, stderr} = run(scriptFor({words, rest}));
					const expected = [...words, ...(rest === undefined ? [] : ['--', ...rest])];
					expect(stderr).toBe('');
					expect(stdout).toBe(`/\n${expected.length === 0 ? '\0' : expected.map((word) => `${word}\0`).join('')}`);
				},
			),
			{numRuns: 15},
		);
	});

	test('starts in the given directory, or reports that the directory is missing', () => {
		expect(run(scriptFor({directory, words: ['x']})).stdout).toBe(`${directory}\nx\0`);
		expect(run(scriptFor({directory: "/it's gone", words: ['x']}))).toMatchObject({
			stdout: '/\nx\0',
			stderr: "canhazgpu: box has no directory /it's gone: the command starts in the home directory\n",
		});
	});

	test('reports a host without canhazgpu with exit code 127', () => {
		const bare = execFileSync('sh', ['-c', 'command -v base64'], {encoding: 'utf8'}).trim();
		expect(run(scriptFor({words: ['x']}), {PATH: path.dirname(bare)})).toMatchObject({
			status: 127,
			stdout: '',
			stderr:
				"Error: canhazgpu is not installed on box\nIt must be in the PATH of a login without a terminal: ssh box 'command -v canhazgpu'\n",
		});
	});
});

describe('the ssh script without a terminal', () => {
	const script = scriptFor({hasTerminal: false});
	// Prints its pid, and its end if nothing ends it within 2 s.
	const slow = "#!/bin/sh\necho $$\nsleep 2\necho 'not ended'\n";
	let slowDirectory: string;
	let slowEnvironment: Record<string, string>;

	beforeAll(() => {
		slowDirectory = mkdtempSync(path.join(tmpdir(), 'chg-slow-'));
		writeFileSync(path.join(slowDirectory, 'canhazgpu'), slow);
		chmodSync(slowDirectory, 0o755);
		chmodSync(path.join(slowDirectory, 'canhazgpu'), 0o755);
		slowEnvironment = {...environment, PATH: `${slowDirectory}:${process.env['PATH'] ?? ''}`};
	});

	afterAll(() => {
		rmSync(slowDirectory, {recursive: true});
	});

	const canHide =
		spawnSync('unshare', ['--mount', 'mount', '-t', 'proc', '-o', 'hidepid=2', 'proc', '/proc']).status === 0;

	test.runIf(canHide)('does not end the command if /proc hides sshd', () => {
		const nobody = 'setpriv --reuid 65534 --regid 65534 --clear-groups';
		const hidden = `mount -t proc -o hidepid=2 proc /proc && ${nobody} sh -c "$0"; exit $?`;
		const {stdout, stderr, status} = spawnSync('unshare', ['--mount', 'sh', '-c', hidden, script], {
			cwd: '/',
			env: slowEnvironment,
			encoding: 'utf8',
		});
		expect({stdout, stderr, status}).toEqual({
			stdout: expect.stringContaining('not ended') as string,
			stderr: '',
			status: 0,
		});
	});

	test('ends the command if sshd is gone', () => {
		const {stdout} = spawnSync('sh', ['-c', 'sh -c "$0" & sleep 0.5; kill -9 $$', script], {
			cwd: '/',
			env: slowEnvironment,
			encoding: 'utf8',
		});
		expect(stdout).toMatch(/^\d+\n$/v);
	});
});

test('ssh without a terminal never prompts and detects a dead connection', () => {
	expect(sshCommand({host: 'me@box', words: ['status'], rest: undefined, hasTerminal: false}).slice(0, -1)).toEqual([
		'ssh',
		'-axT',
		'-o',
		'ConnectTimeout=5',
		'-o',
		'ClearAllForwardings=yes',
		'-o',
		'RemoteCommand=none',
		'-o',
		'BatchMode=yes',
		'-o',
		'ServerAliveInterval=5',
		'-o',
		'ServerAliveCountMax=3',
		'--',
		'me@box',
	]);
});

test.each(['-oProxyCommand=x', 'a b', '', 'a;b', '$(x)'])('sshCommand rejects the host %j', (host) => {
	expect(() => scriptFor({host})).toThrow(expect.objectContaining({code: 'usage'}));
});

test('sshCommand rejects arguments that are too long for a command line', () => {
	expect(() => scriptFor({words: ['x'.repeat(100_000)]})).toThrow('The command is too long to be run on another host');
});
