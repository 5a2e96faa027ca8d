import {Buffer} from 'node:buffer';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {buffer} from 'node:stream/consumers';
import fc from 'fast-check';
import {describe, expect, onTestFinished, test} from 'vitest';
import {decodeBytes} from '../../../source/host/inherited/exact-text.js';
import {launcherOf, needsLauncher} from '../../../source/host/job/launcher.js';
import {isLong} from '../../_helpers/slow.js';

const plain = {ignored: [], openFiles: undefined};

/** Starts a program with the launcher. Returns its output, pid and exit code. */
async function started(
	words: readonly string[],
	environment: Readonly<Record<string, string>>,
	manner: Parameters<typeof launcherOf>[2] = plain,
	shell = '/bin/sh',
) {
	const launcher = launcherOf(words, environment, manner)!;
	const child = spawn(shell, launcher.words.slice(1), {
		argv0: 'sh',
		env: launcher.environment,
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const [said] = await Promise.all([buffer(child.stdout), once(child, 'close')]);
	return {said, pid: child.pid, exitCode: child.exitCode};
}

const split = (joined: Uint8Array): readonly string[] =>
	Buffer.from(joined).toString('latin1').split('\0').slice(0, -1);

/** A command that prints its arguments, a mark and its environment. */
const printArguments = ['/bin/sh', '-c', String.raw`cat /proc/$$/cmdline; printf "MARK\0"; cat /proc/$$/environ`, 'sh'];

/** Words of characters that are special to a shell, but without NUL. */
const bytesUpTo = (max: number) =>
	fc
		.array(
			fc.oneof(fc.integer({min: 1, max}), fc.constantFrom(...Buffer.from('\'"\\$`%\n-*?[]{}() \t;&|<>!#~=01234'))),
			{
				maxLength: 30,
			},
		)
		.map((list) => Uint8Array.from(list));

/** Variables that shells set, drop or obey. */
const shellNames = [
	...'_ BASH BASH_ARGV0 BASH_COMMAND BASH_COMPAT BASH_ENV BASH_EXECUTION_STRING BASH_FUNC_exec%%'.split(' '),
	...'BASH_SUBSHELL BASH_VERSINFO BASH_VERSION BASH_XTRACEFD BASHOPTS BASHPID canhazgpu_script COLUMNS'.split(' '),
	...'COMP_WORDBREAKS DIRSTACK ENV EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HISTFILE'.split(' '),
	...'HISTSIZE HOME HOSTNAME IFS LINENO LINES MAIL OLDPWD OPTARG OPTERR OPTIND PIPESTATUS'.split(' '),
	...'POSIXLY_CORRECT PPID PS1 PS2 PS3 PS4 PWD RANDOM REPLY s SECONDS SHELL SHELLOPTS SHLVL SRANDOM'.split(' '),
	...'TERM TMOUT UID'.split(' '),
];

/** Names of variables, some of which a shell does not accept. */
const names = fc.string({unit: fc.constantFrom(...'aB9_%.-'), maxLength: 8}).map((name) => `X${name}`);

describe.each(['/bin/sh', '/bin/bash', '/bin/busybox'].filter((shell) => existsSync(shell)))(
	'the launcher of jobs, run by %s,',
	(shell) => {
		test('passes arguments and environment to the program byte for byte', async () => {
			await fc.assert(
				fc.asyncProperty(
					// The launcher handles words that are all ASCII separately.
					fc
						.constantFrom(127, 255)
						.chain((max) =>
							fc.tuple(
								fc.array(bytesUpTo(max), {maxLength: 6}),
								fc.uniqueArray(fc.tuple(names, bytesUpTo(max)), {maxLength: 6, selector: ([name]) => name}),
							),
						),
					async ([words, entries]) => {
						const environment = Object.fromEntries(entries.map(([name, value]) => [name, decodeBytes(value)]));
						const {said, exitCode} = await started(
							[...printArguments, ...words.map((word) => decodeBytes(word))],
							environment,
							plain,
							shell,
						);
						const all = split(said);
						const end = all.indexOf('MARK');
						const latin1 = (list: Uint8Array) => Buffer.from(list).toString('latin1');
						expect(exitCode).toBe(0);
						expect(all.slice(printArguments.length, end)).toEqual(words.map((word) => latin1(word)));
						expect(all.slice(end + 1).toSorted()).toEqual(
							entries.map(([name, value]) => `${name}=${latin1(value)}`).toSorted(),
						);
					},
				),
				{numRuns: isLong ? 60 : 15},
			);
		});

		test('passes all variables that shells set or drop', async () => {
			for (const value of ['', '1', '/tmp', 'xtrace', '\u{DCE9}']) {
				const environment = Object.fromEntries(shellNames.map((name) => [name, value]));

				const {said} = await started(['/bin/cat', '/proc/self/environ'], environment, {...plain, ignored: [1]}, shell);
				expect(split(said).toSorted()).toEqual(
					shellNames.map((name) => `${name}=${value.replace('\u{DCE9}', '\u{E9}')}`).toSorted(),
				);
			}
		});

		test.each(['\u{DCE9}', 'e'])('passes two megabytes of arguments with %j to the program', async (letter) => {
			const words = Array.from({length: 18}, (_, index) => `${index}${'long '.repeat(22_000)}caf${letter}`);
			const {said, pid, exitCode} = await started(
				['/bin/sh', '-c', 'echo $$; cat /proc/$$/cmdline', 'sh', ...words],
				{},
				plain,
				shell,
			);
			expect(exitCode).toBe(0);
			const end = said.indexOf('\n');
			expect(Number(said.toString('latin1', 0, end))).toBe(pid);
			expect(split(said.subarray(end + 1)).slice(4)).toEqual(words.map((word) => word.replace('\u{DCE9}', '\u{E9}')));
		});

		test('lets programs inherit ignored signals and the limit of open files', async () => {
			const {said} = await started(
				['/bin/sh', '-c', 'ulimit -S -n; grep SigIgn /proc/self/status'],
				{PATH: process.env['PATH']!},
				{ignored: [1, 2, 3, 20], openFiles: '99'},
				shell,
			);
			expect(said.toString()).toBe('99\nSigIgn:\t0000000000080007\n');
		});

		test('exits with 127 for a missing command and 126 for a file that is not executable', async () => {
			expect(await started(['/nowhere/at all'], {}, plain, shell)).toMatchObject({exitCode: 127});
			expect(await started(['/etc/passwd'], {}, plain, shell)).toMatchObject({exitCode: 126});
		});
	},
);

test('the launcher treats a name that contains = as a command, not as a variable', async () => {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-launcher-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	writeFileSync(path.join(directory, 'a=b'), '#!/bin/sh\necho "ran $1"\n', {mode: 0o755});
	const {said, exitCode} = await started(['a=b', 'c'], {PATH: `${directory}:${process.env['PATH']}`});
	expect({said: said.toString(), exitCode}).toEqual({said: 'ran c\n', exitCode: 0});
});

test('the launcher passes no ordinary variable on a command line, where every account could read it', () => {
	const {words, environment} = launcherOf(
		['train', 'caf\u{DCE9}'],
		{WANDB_API_KEY: 'topsecret', password: 'topsecret', PWD: '/', ODD: '\u{DCE9}', GONE: undefined},
		{...plain, ignored: [1]},
	)!;
	expect(words.join(' ')).not.toContain('topsecret');
	expect(environment).toEqual({WANDB_API_KEY: 'topsecret', password: 'topsecret'});
});

test('needsLauncher is false if Node.js can start the command itself', () => {
	expect(needsLauncher(['echo', 'caf\u{E9}', '\u{FFFD}'], {NAME: '\u{1F600}', GONE: undefined}, plain)).toBe(false);
	expect(needsLauncher(['echo', '\u{DCE9}'], {}, plain)).toBe(true);
	expect(needsLauncher(['echo'], {NAME: '\u{DCE9}'}, plain)).toBe(true);
	expect(needsLauncher(['echo'], {}, {...plain, ignored: [2]})).toBe(true);
	expect(needsLauncher(['echo'], {}, {...plain, openFiles: '1024'})).toBe(true);
});
