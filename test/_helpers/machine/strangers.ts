/** Runs the program under accounts that have no name. Needs root, which the tests have in CI. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll} from 'vitest';
import {patienceMs} from '../eventually.js';
import {program, type Ran} from '../program/cli.js';

/** Whether this process can start programs under other accounts. */
export const canBeOthers = process.getuid?.() === 0;

/** Accounts without an entry in /etc/passwd, which are known only by their number. */
export const mallory = 54_321;
export const alice = 54_322;

export type Accounts = {
	/** A directory that every account can enter. */
	readonly directory: string;
	/** The program and Node.js in a directory where every account can run them: `[node, cli.js]`. */
	readonly words: readonly [string, string];
	/** The location of the shared pool, which may not exist yet. */
	readonly poolDirectory: string;
	/** Returns the home of this account. */
	readonly homeOf: (uid: number) => string;
	readonly environmentOf: (uid: number) => Readonly<Record<string, string>>;
	/** Runs `canhazgpu` under this account until it exits. A program that does not end in time is killed. */
	readonly run: (uid: number, words: string | readonly string[], options?: RunOptions) => Promise<Ran>;
	/** Runs JavaScript under this account. In the script, `change(sql)` changes the pool's database directly. */
	readonly script: (uid: number, text: string) => Promise<Ran>;
	/** Runs a line of bash under this account. */
	readonly shell: (uid: number, line: string) => Promise<Ran>;
};

export type RunOptions = {
	readonly environment?: Readonly<Record<string, string>>;
	readonly cwd?: string;
};

async function end(
	command: string,
	words: readonly string[],
	{uid, cwd, env}: {uid: number; cwd: string; env: Readonly<Record<string, string>>},
): Promise<Ran> {
	const child = spawn(command, words, {uid, gid: uid, cwd, env, stdio: ['ignore', 'pipe', 'pipe']});
	const limit = setTimeout(() => {
		child.kill('SIGKILL');
	}, patienceMs);
	const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	clearTimeout(limit);
	return {exitCode: child.exitCode ?? undefined, stdout, stderr};
}

/** Copies the program to a directory where every account can run it, once per test file. */
export function accountsOfFile(): Accounts {
	let directory = '';
	const homeOf = (uid: number): string => {
		const home = path.join(directory, `home-${uid}`);
		return home;
	};

	const environmentOf = (uid: number) => ({
		PATH: process.env['PATH'] ?? '',
		HOME: homeOf(uid),
		TZ: 'UTC',
		TERM: 'xterm-256color',
		CANHAZGPU_NOTIFY_TERMINALS: 'false',
		CANHAZGPU_STORE: 'embedded',
		CANHAZGPU_POOL_DIRECTORY: path.join(directory, 'pool'),
	});

	beforeAll(async () => {
		directory = mkdtempSync(path.join(tmpdir(), 'chg-accounts-'));
		chmodSync(directory, 0o755);
		cpSync(path.dirname(program), path.join(directory, 'dist'), {recursive: true});
		copyFileSync(process.execPath, path.join(directory, 'node'));
		chmodSync(path.join(directory, 'node'), 0o755);
		for (const uid of [0, mallory, alice]) {
			mkdirSync(homeOf(uid), {mode: 0o755});
		}

		if (canBeOthers) {
			await end(
				'/bin/sh',
				[
					'-c',
					`chown ${mallory}:${mallory} ${homeOf(mallory)}; chown ${alice}:${alice} ${homeOf(alice)}; chmod -R a+rX ${directory}/dist`,
				],
				{
					uid: 0,
					cwd: '/',
					env: {PATH: '/usr/bin:/bin'},
				},
			);
		}
	});
	afterAll(() => {
		rmSync(directory, {recursive: true, force: true});
	});

	return {
		get directory() {
			return directory;
		},
		get words() {
			return [path.join(directory, 'node'), path.join(directory, 'dist/cli.js')] as const;
		},
		get poolDirectory() {
			return path.join(directory, 'pool');
		},
		homeOf,
		environmentOf,
		async run(uid, words, {environment = {}, cwd} = {}) {
			const all = [path.join(directory, 'dist/cli.js'), ...(typeof words === 'string' ? words.split(' ') : words)];
			return end(path.join(directory, 'node'), all, {
				uid,
				cwd: cwd ?? homeOf(uid),
				env: {...environmentOf(uid), ...environment},
			});
		},
		async script(uid, script) {
			const prelude = `
				process.removeAllListeners('warning');
				const {DatabaseSync} = require('node:sqlite');
				const change = (sql) => {
					const database = new DatabaseSync(${JSON.stringify(path.join(directory, 'pool/pool.sqlite'))}, {timeout: 5000});
					database.exec('PRAGMA locking_mode = EXCLUSIVE');
					database.exec(sql);
					globalThis.open = database;
				};
			`;
			return end(path.join(directory, 'node'), ['--no-warnings', '-e', `${prelude}${script}`], {
				uid,
				cwd: homeOf(uid),
				env: environmentOf(uid),
			});
		},
		shell: async (uid, line) => end('/bin/bash', ['-c', line], {uid, cwd: homeOf(uid), env: environmentOf(uid)}),
	};
}
