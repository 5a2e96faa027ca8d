/** The program as other accounts run it. Only root can start something as another account. */
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import {program, type Ran} from '../program/cli.js';

export const isRoot = process.getuid?.() === 0;

export type Account = {readonly uid: number; readonly gid: number};

/** Numbers that no system gives to anybody. */
export const alice: Account = {uid: 61_001, gid: 61_001};
export const mallory: Account = {uid: 61_002, gid: 61_002};
export const root: Account = {uid: 0, gid: 0};

type Place = {readonly node: string; readonly cli: string};

let place: Place | undefined;

/** Where any account may run the program: where it is, or a copy of it. */
function publicProgram(): Place {
	if (place !== undefined) {
		return place;
	}

	place = {node: process.execPath, cli: program};
	if (spawnSync(place.node, [place.cli, '--version'], {...alice, cwd: '/'}).status !== 0) {
		const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-program-'));
		process.once('exit', () => {
			rmSync(directory, {recursive: true, force: true});
		});
		place = {node: path.join(directory, 'node'), cli: path.join(directory, 'dist', 'cli.js')};
		copyFileSync(process.execPath, place.node);
		cpSync(path.dirname(program), path.dirname(place.cli), {recursive: true});
		// Whatever the umask was when the program was built.
		execFileSync('chmod', ['-R', 'a+rX', directory]);
	}

	return place;
}

/** A directory of this account's, removed when the test ends. */
export function directoryOf({uid, gid}: Account, mode = 0o755): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-account-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	chownSync(directory, uid, gid);
	chmodSync(directory, mode);
	return directory;
}

/** A directory within another one. */
export function makeDirectory(directory: string, {uid, gid}: Account, mode = 0o755): string {
	mkdirSync(directory);
	chownSync(directory, uid, gid);
	chmodSync(directory, mode);
	return directory;
}

/** What hangs longer than this hangs for ever. */
const patienceMs = 30_000;

/**
Runs the program as an account; one that does not end is killed, and has no exit code.

@param account
@param words
@param options
@param options.cwd - The directory it happens to be in.
@param options.environment - All of it, but PATH.
*/
export async function runAs(
	account: Account,
	words: readonly string[],
	{cwd, environment}: {readonly cwd: string; readonly environment: Readonly<Record<string, string>>},
): Promise<Ran> {
	const {node, cli} = publicProgram();
	const child = spawn(node, [cli, ...words], {
		// Only root may even name itself.
		...(isRoot && account),
		cwd,
		env: {PATH: process.env['PATH'], CANHAZGPU_NOTIFY_TERMINALS: 'false', ...environment},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const limit = setTimeout(() => {
		child.kill('SIGKILL');
	}, patienceMs);
	const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	clearTimeout(limit);
	return {exitCode: child.exitCode ?? undefined, stdout, stderr};
}
