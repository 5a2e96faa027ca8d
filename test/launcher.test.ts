/** The launcher (source/launcher.sh) in the shells that are /bin/sh on some system. */
import {execFileSync, spawnSync} from 'node:child_process';
import {copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createEmbeddedBox, launcher, program, type Box} from './_helpers/program/cli.js';

const shells = [
	['dash', ['dash']],
	['bash', ['bash', '--posix']],
	['busybox sh', ['busybox', 'sh']],
] as const;

const isInstalled = (command: string): boolean => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

let box: Box;
let directory = '';

beforeAll(async () => {
	box = await createEmbeddedBox(1);
	directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-launcher-'));
	mkdirSync(path.join(directory, 'package with blanks/source'), {recursive: true});
	cpSync(path.dirname(program), path.join(directory, 'package with blanks/dist'), {recursive: true});
	copyFileSync(launcher, path.join(directory, 'package with blanks/source/launcher.sh'));
	symlinkSync('package with blanks/source/launcher.sh', path.join(directory, 'first link'));
	symlinkSync(path.join(directory, 'first link'), path.join(directory, 'canhazgpu'));
});

afterAll(() => {
	rmSync(directory, {recursive: true, force: true});
	box.remove();
});

/** Runs a line of bash in which `$CHG` is the launcher, run by a shell. */
const inBash = (shell: readonly string[], script: string, more: Readonly<Record<string, string>> = {}) =>
	execFileSync('bash', ['-c', `chg() { ${shell.join(' ')} "$CHG" "$@"; }; ${script}`], {
		cwd: box.home,
		env: {
			...box.environment,
			PATH: `${path.dirname(process.execPath)}:${box.environment['PATH']!}`,
			CHG: path.join(directory, 'canhazgpu'),
			...more,
		},
		encoding: 'utf8',
	});

describe.each(shells)('the launcher script in %s', (_, shell) => {
	const testHere = test.skipIf(!isInstalled(shell[0]));

	testHere('finds the program through links and passes arguments on unchanged', () => {
		expect(inBash(shell, "chg run -- printf '%s|' 'a b' '' '*' '$HOME'")).toBe('a b||*|$HOME|');
	});

	testHere('lets the job inherit ignored signals', () => {
		const script = "trap '' HUP USR2; chg run -- sh -c 'grep SigIgn /proc/$$/status'";
		expect(Number.parseInt(inBash(shell, script).split(':', 2)[1]!.trim(), 16) % 0x10_00).toBe(0x8_01);
	});

	testHere('lets the job inherit the limit of open files', () => {
		expect(inBash(shell, "ulimit -S -n 512; chg run -- sh -c 'ulimit -S -n'")).toBe('512\n');
	});

	testHere('lets the job inherit file descriptors and adds none', () => {
		writeFileSync(path.join(box.home, 'data'), 'from 7');
		const list = "sh -c 'cat <&7; echo; ls /proc/$$/fd'";
		const [text, ...files] = inBash(shell, `${list} 7<data; chg run -- ${list} 7<data`).split('from 7\n').slice(1);
		expect(files).toEqual([text]);
	});

	testHere('does not change the environment of the job', () => {
		const printed = inBash(shell, 'chg run -- env', {chg_file: 'x', SHLVL: '7', WORDS: 'a\nb'});
		expect(printed).toContain('chg_file=x\n');
		expect(printed).toContain('WORDS=a\nb\n');
		expect(printed).not.toContain('CANHAZGPU_STARTED');
	});

	testHere('exits with the code of the program', () => {
		expect(inBash(shell, "chg run -- sh -c 'exit 9'; echo $?")).toBe('9\n');
	});
});

test('the launcher script says what to install if PATH contains no Node.js', () => {
	const empty = path.join(directory, 'empty');
	mkdirSync(empty);
	const {status, stderr} = spawnSync('/bin/sh', [launcher, 'status'], {env: {PATH: empty}, encoding: 'utf8'});
	expect(status).toBe(1);
	expect(stderr).toMatch(/^Error: canhazgpu needs Node\.js [^\n]+\n[^\n]+\n$/v);
});
