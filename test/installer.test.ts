/** The script that installs the binary. A wrapper of the bundled program replaces the binary here. */
import {execFileSync, spawnSync} from 'node:child_process';
import {
	chmodSync,
	copyFileSync,
	cpSync,
	existsSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {beforeEach, afterEach, expect, test} from 'vitest';
import packageJson from '../package.json' with {type: 'json'};
import {program} from './_helpers/program/cli.js';
import {slowTest} from './_helpers/slow.js';

const root = fileURLToPath(new URL('..', import.meta.url));

let directory: string;
let unpacked: string;
let prefix: string;

beforeEach(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'chg-install-'));
	unpacked = path.join(directory, 'unpacked');
	prefix = path.join(directory, 'with space');
	mkdirSync(unpacked);
	mkdirSync(prefix);
	for (const file of ['install.sh', 'canhazgpu-web.service', 'canhazgpu-keep.service']) {
		copyFileSync(path.join(root, 'source/installer', file), path.join(unpacked, file));
	}

	cpSync(path.join(root, 'dist/man'), path.join(unpacked, 'man'), {recursive: true});
	writeFileSync(path.join(unpacked, 'licenses.txt'), 'MIT\n');
	writeFileSync(path.join(unpacked, 'canhazgpu'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
	chmodSync(path.join(unpacked, 'canhazgpu'), 0o755);
});

afterEach(() => {
	rmSync(directory, {recursive: true, force: true});
});

const install = (...words: readonly string[]) => {
	const {status, stdout, stderr} = spawnSync(path.join(unpacked, 'install.sh'), words, {
		encoding: 'utf8',
		env: {...process.env, HOME: directory},
	});
	return {status, stdout, stderr};
};

slowTest('every account can read the files that install.sh has installed under umask 077', () => {
	execFileSync('sh', ['-c', 'umask 077; exec "$0" "$@"', path.join(unpacked, 'install.sh'), '--prefix', prefix]);
	const closed = readdirSync(prefix, {recursive: true, encoding: 'utf8'}).filter((file) => {
		const status = lstatSync(path.join(prefix, file));
		// eslint-disable-next-line no-bitwise -- permissions are bits
		return !status.isSymbolicLink() && (status.mode & (status.isDirectory() ? 0o005 : 0o004)) === 0;
	});
	expect(closed).toEqual([]);
});

const filesIn = (folder: string): readonly string[] =>
	readdirSync(folder, {recursive: true, encoding: 'utf8'})
		.filter((file) => !lstatSync(path.join(folder, file)).isDirectory())
		.toSorted();

slowTest('the next command that install.sh suggests works if the prefix contains a space', () => {
	const {stdout} = install('--prefix', prefix);
	const next = /^To create a pool, once for this machine: sudo (?<command>.*) admin --store embedded$/mv.exec(stdout)!
		.groups!['command']!;
	expect(execFileSync('sh', ['-c', `${next} --version`], {encoding: 'utf8'})).toBe(`${packageJson.version}\n`);
});

test('install.sh installs and updates its files, and --uninstall removes only these files', () => {
	const others = path.join(prefix, 'bin', 'other');
	mkdirSync(path.dirname(others));
	writeFileSync(others, 'mine');
	expect(install('--prefix', prefix)).toMatchObject({status: 0, stderr: ''});
	const files = filesIn(prefix);
	expect(files).toEqual(
		expect.arrayContaining([
			'bin/canhazgpu',
			'bin/chg',
			'bin/other',
			'share/bash-completion/completions/canhazgpu',
			'share/bash-completion/completions/chg',
			'share/fish/vendor_completions.d/canhazgpu.fish',
			'share/man/man1/canhazgpu.1',
			'share/man/man7/canhazgpu-queue.7',
			'share/zsh/site-functions/_canhazgpu',
		]),
	);
	expect(execFileSync(path.join(prefix, 'bin/chg'), ['--version'], {encoding: 'utf8'})).toBe(
		`${packageJson.version}\n`,
	);
	const completed = execFileSync(
		'bash',
		['-c', 'source "$1/share/bash-completion/completions/chg"; complete -p chg', 'bash', prefix],
		{encoding: 'utf8'},
	);
	expect(completed).toContain('_canhazgpu');

	// A page that the next version lacks is removed.
	rmSync(path.join(unpacked, 'man/canhazgpu-queue.7'));
	expect(install(`--prefix=${prefix}/`)).toMatchObject({status: 0, stderr: ''});
	expect(filesIn(prefix)).toEqual(files.filter((file) => !file.endsWith('canhazgpu-queue.7')));

	expect(install('--uninstall', '--prefix', prefix)).toMatchObject({status: 0, stderr: ''});
	expect(filesIn(prefix)).toEqual(['bin/other']);
	expect(install('--uninstall', '--prefix', prefix)).toMatchObject({
		status: 1,
		stderr: expect.stringContaining('Nothing was installed') as string,
	});
});

test('an interrupted first run of install.sh can be repeated or removed', () => {
	// A file in the place of a directory also stops root.
	const obstacle = path.join(prefix, 'share/man');
	const fail = () => {
		mkdirSync(path.dirname(obstacle), {recursive: true});
		writeFileSync(obstacle, '');
		expect(install('--prefix', prefix).status).not.toBe(0);
		expect(existsSync(path.join(prefix, 'bin/canhazgpu'))).toBe(true);
		rmSync(obstacle);
	};

	fail();
	expect(install('--uninstall', '--prefix', prefix)).toMatchObject({status: 0, stderr: ''});
	expect(filesIn(prefix)).toEqual([]);
	fail();
	expect(install('--prefix', prefix)).toMatchObject({status: 0, stderr: ''});
});

test('install.sh leaves no partly written file if the disk is full', () => {
	// The first command copies only a part of the file and fails, as on a full disk.
	const tools = path.join(directory, 'tools');
	mkdirSync(tools);
	writeFileSync(path.join(tools, 'cp'), '#!/bin/sh\nhead -c 9 "$1" > "$2"\nexit 1\n');
	chmodSync(path.join(tools, 'cp'), 0o755);
	const {status} = spawnSync(path.join(unpacked, 'install.sh'), ['--prefix', prefix], {
		env: {...process.env, HOME: directory, PATH: `${tools}:${process.env['PATH']}`},
	});
	expect(status).not.toBe(0);
	expect(filesIn(prefix).filter((file) => file.endsWith('.new'))).toEqual([]);
});

test('install.sh refuses to replace a program that it did not install, and installs nothing', () => {
	mkdirSync(path.join(prefix, 'bin'));
	writeFileSync(path.join(prefix, 'bin/chg'), 'the program of somebody else');
	expect(install('--prefix', prefix)).toMatchObject({
		status: 1,
		stderr: expect.stringContaining('was not installed by this script') as string,
	});
	expect(filesIn(prefix)).toEqual(['bin/chg']);
	expect(readFileSync(path.join(prefix, 'bin/chg'), 'utf8')).toBe('the program of somebody else');
});

test.each([
	[['--prefix'], 2, '--prefix needs a directory'],
	[['--prefix', ''], 2, '--prefix needs a directory'],
	[['--prefix', 'here'], 2, '--prefix must be an absolute path, not here'],
	[['--force'], 2, 'install.sh has no option --force'],
	[['--prefix', '/proc/1/nowhere'], 1, '/proc/1/nowhere cannot be written'],
])('install.sh refuses %j with exit code %d: %s', (words, status, message) => {
	expect(install(...words)).toMatchObject({status, stdout: '', stderr: expect.stringContaining(message) as string});
});

test('install.sh installs nothing if the program does not run on this machine', () => {
	writeFileSync(path.join(unpacked, 'canhazgpu'), '#!/bin/sh\nexit 126\n');
	expect(install('--prefix', prefix)).toMatchObject({
		status: 1,
		stderr: expect.stringContaining('does not run on this machine') as string,
	});
	expect(existsSync(path.join(prefix, 'bin'))).toBe(false);
});
