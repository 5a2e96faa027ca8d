/** Runs the program as other accounts. Needs root. */
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import {patienceMs} from '../eventually.js';
import {program, type Ran} from '../program/cli.js';

export const isRoot = process.getuid?.() === 0;

export type Account = {readonly uid: number; readonly gid: number};

/** Accounts whose uids no system assigns. */
export const alice: Account = {uid: 61_001, gid: 61_001};
export const mallory: Account = {uid: 61_002, gid: 61_002};
export const root: Account = {uid: 0, gid: 0};

type Place = {readonly node: string; readonly cli: string};

let place: Place | undefined;

/** Returns a copy of the program, or the program itself, in a directory where any account can run it. */
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
		// The permissions must not depend on the umask of the build.
		execFileSync('chmod', ['-R', 'a+rX', directory]);
	}

	return place;
}

/** Creates a directory owned by this account, and removes it when the test ends. */
export function directoryOf({uid, gid}: Account, mode = 0o755): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-account-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	chownSync(directory, uid, gid);
	chmodSync(directory, mode);
	return directory;
}

/** Creates a directory owned by this account inside an existing one. */
export function makeDirectory(directory: string, {uid, gid}: Account, mode = 0o755): string {
	mkdirSync(directory);
	chownSync(directory, uid, gid);
	chmodSync(directory, mode);
	return directory;
}

type RunOptions = {
	readonly cwd: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly etc?: string;
	readonly limitMs?: number;
};

/** A command prefix that mounts a directory over /etc. Only root can do this, so it runs before the program becomes another account. */
const withEtc = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$1" /etc && shift && exec "$@"', 'sh'];

const actingAs = ({uid, gid}: Account): readonly string[] => [
	'setpriv',
	`--reuid=${uid}`,
	`--regid=${gid}`,
	'--clear-groups',
];

/** Returns the command line with which root starts the program as an account. */
export function commandAs(account: Account, words: readonly string[]): readonly [string, ...string[]] {
	const {node, cli} = publicProgram();
	const [command, ...args] = actingAs(account);
	return [command!, ...args, node, cli, ...words];
}

/**
Runs the program as an account. A program that does not end in time is killed and has no exit code.

@param account
@param words
@param options
@param options.cwd - The working directory.
@param options.environment - The whole environment except PATH.
@param options.etc - A directory in place of /etc, for the program alone.
@param options.limitMs - How long the program may run.
*/
export async function runAs(
	account: Account,
	words: readonly string[],
	{cwd, environment, etc, limitMs = patienceMs}: RunOptions,
): Promise<Ran> {
	const {node, cli} = publicProgram();
	const inEtc = etc === undefined ? [] : [...withEtc, etc, ...actingAs(account)];
	const [command, ...args] = [...inEtc, node, cli, ...words];
	const child = spawn(command!, args, {
		// Only root may set the uid, even to its own value.
		...(isRoot && etc === undefined && account),
		cwd,
		env: {PATH: process.env['PATH'], CANHAZGPU_NOTIFY_TERMINALS: 'false', ...environment},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const limit = setTimeout(() => {
		child.kill('SIGKILL');
	}, limitMs);
	const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	clearTimeout(limit);
	return {exitCode: child.exitCode ?? undefined, stdout, stderr};
}
