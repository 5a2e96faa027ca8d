/**
Machines that lack something that programs rely on: an account without a name or a home, a deleted working directory, or no /proc. Each is a
mount and UTS namespace in which the program runs under an unknown account. Needs root.
*/
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {patienceMs} from '../eventually.js';
import type {Ran} from '../program/cli.js';

/** The uid of the account. OpenShift assigns such uids to containers. */
const uid = 4242;

export type Fact = {
	readonly name: string;
	/** Environment variables. An undefined value unsets the variable. */
	readonly environment?: Readonly<Record<string, string | undefined>>;
	/** Shell commands that root runs in the new namespaces. `$1` is a scratch directory. */
	readonly prepare?: string;
	/** Shell commands that the account runs before the program replaces the shell. `$HERE` is a directory of the account. */
	readonly enter?: string;
};

/** The environment of an account that has no entry in /etc/passwd and no variable with its name or home. */
const nobodysEnvironment = {HOME: undefined, USER: undefined, LOGNAME: undefined, TERM: undefined, TZ: undefined};

/** Shell commands that remove the machine-id and every copy of it. */
const withoutMachineId =
	'mount --bind "$1/etc" /etc && { [ ! -d /var/lib/dbus ] || mount -t tmpfs none /var/lib/dbus; }';

export const wholeMachine: Fact = {name: 'nothing'};

export const missingFacts: readonly Fact[] = [
	{name: 'home and user name', environment: nobodysEnvironment},
	{name: 'home: named, absent', environment: {HOME: '/nonexistent'}},
	{name: 'home: empty text', environment: {HOME: ''}},
	{name: 'home: relative', environment: {HOME: 'home'}},
	{name: 'home: of root', environment: {HOME: '/root'}},
	{name: 'home: a file', environment: {HOME: '/etc/passwd'}},
	{name: 'user name', environment: {USER: undefined, LOGNAME: undefined}},
	{name: 'host name', prepare: 'echo > /proc/sys/kernel/hostname'},
	{name: 'host name and machine id', prepare: `echo > /proc/sys/kernel/hostname; ${withoutMachineId}`},
	{name: 'directory: deleted', enter: 'mkdir -p "$HERE/gone" && cd "$HERE/gone" && rmdir "$HERE/gone"'},
	{name: 'directory: unreadable', prepare: 'mkdir -p -m 700 "$1/closed" && cd "$1/closed"'},
	{name: 'TERM', environment: {TERM: undefined}},
	{name: 'TERM: unknown', environment: {TERM: 'no-such-terminal'}},
	{name: 'TERM: dumb', environment: {TERM: 'dumb'}},
	{name: 'LANG', environment: {LANG: undefined, LC_ALL: undefined}},
	{name: 'LANG: unknown', environment: {LANG: 'xx_YY.nonsense', LC_ALL: 'xx_YY.nonsense'}},
	{name: 'TZ', environment: {TZ: undefined}},
	{name: 'TZ: unknown', environment: {TZ: 'Mars/Olympus_Mons'}},
	{name: 'TZ: nonsense', environment: {TZ: ':/etc/passwd'}},
	{name: 'PATH: empty', environment: {PATH: '/nonexistent'}},
	{name: 'TMPDIR: absent', environment: {TMPDIR: '/nonexistent'}},
	{
		name: 'TMPDIR: full',
		environment: {TMPDIR: '/mnt'},
		prepare: 'mount -t tmpfs -o size=4k,mode=1777 none /mnt && { cat /dev/zero > /mnt/full 2>/dev/null || :; }',
	},
	{name: '/proc: hidepid', prepare: 'mount -t proc -o hidepid=2 proc /proc'},
	{name: '/proc: processes only', prepare: 'mount -t proc -o subset=pid proc /proc'},
	{name: '/proc', prepare: 'mount -t tmpfs -o mode=555 none /proc'},
	{name: '/etc/machine-id', prepare: withoutMachineId},
	{name: '/etc', prepare: 'mount -t tmpfs -o mode=755 none /etc'},
	{
		name: '/dev but null',
		prepare:
			': > "$1/null" && mount --bind /dev/null "$1/null" && mount -t tmpfs -o mode=755 none /dev && : > /dev/null && mount --bind "$1/null" /dev/null',
	},
	{name: 'stdin', enter: 'exec <&-'},
	{name: 'stdout', enter: 'exec >&-'},
	{name: 'stderr', enter: 'exec 2>&-'},
	{name: 'stdin, stdout and stderr', enter: 'exec <&- >&- 2>&-'},
];

/** The directories of the shared pool and of the account's home. */
export type Place = {readonly pool: string; readonly home: string};

export type Machine = {
	/** Creates a new home for the account, and a new pool of four simulated GPUs that every account can use. */
	readonly makePlace: () => Place;
	/** Returns the command that starts the program under this account, on a machine that lacks this fact. */
	readonly words: (fact: Fact, place: Place, typed: readonly string[]) => readonly [string, ...string[]];
	/** Runs the program on that machine until it exits. */
	readonly run: (fact: Fact, place: Place, typed: readonly string[]) => Promise<Ran>;
	readonly remove: () => void;
};

/** Whether this process can create such machines, which needs root. Prints a message if it cannot. */
export function canLackFacts(): boolean {
	const {status, stderr, error} = spawnSync(
		'unshare',
		['--mount', '--uts', 'setpriv', '--reuid', String(uid), 'true'],
		{
			encoding: 'utf8',
		},
	);
	if (status !== 0) {
		console.warn(`Tests are skipped that need unshare --mount --uts as root: ${(error?.message ?? stderr).trim()}`);
	}

	return status === 0;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Returns the file that users start. */
function installedProgram(): string {
	const {bin} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {bin: {canhazgpu: string}};
	return bin.canhazgpu;
}

/** Copies the program to a directory where every account can run it. */
function install(place: string): string {
	chmodSync(place, 0o755);
	const program = installedProgram();
	for (const part of ['dist', program]) {
		cpSync(path.join(root, part), path.join(place, part), {recursive: true});
	}

	mkdirSync(path.join(place, 'bin'));
	copyFileSync(process.execPath, path.join(place, 'bin/node'));
	mkdirSync(path.join(place, 'scratch/etc'), {recursive: true});
	for (const file of ['passwd', 'group', 'nsswitch.conf', 'ld.so.cache']) {
		copyFileSync(path.join('/etc', file), path.join(place, 'scratch/etc', file));
	}

	spawnSync('chmod', ['-R', 'a+rX', place]);
	return path.join(place, program);
}

export function createMachine(): Machine {
	const place = mkdtempSync(path.join(tmpdir(), 'canhazgpu-facts-'));
	const program = install(place);
	const environmentWith = ({pool, home}: Place): Readonly<Record<string, string>> => ({
		PATH: `${place}/bin:/usr/bin:/bin`,
		HOME: home,
		USER: 'someone',
		LOGNAME: 'someone',
		TERM: 'xterm-256color',
		LANG: 'C.UTF-8',
		TZ: 'UTC',
		CANHAZGPU_NOTIFY_TERMINALS: 'false',
		CANHAZGPU_STORE: 'embedded',
		CANHAZGPU_POOL_DIRECTORY: pool,
	});
	const words: Machine['words'] = ({environment, prepare = ':', enter = ':'}, where, typed) => {
		const all = Object.entries({...environmentWith(where), ...environment});
		// The program's first line finds node through PATH, so without PATH node is started explicitly.
		const start = environment?.['PATH'] === undefined ? [program] : [`${place}/bin/node`, `${place}/dist/cli.js`];
		return [
			'unshare',
			'--mount',
			'--uts',
			'sh',
			'-c',
			`cd "$2" && { ${prepare}; } && shift 2 && exec "$@"`,
			'sh',
			path.join(place, 'scratch'),
			where.home,
			'setpriv',
			'--reuid',
			String(uid),
			'--regid',
			String(uid),
			'--clear-groups',
			'--bounding-set=-all',
			'/usr/bin/env',
			'-i',
			...all.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${value!}`),
			'/bin/sh',
			'-c',
			`HERE=${where.home}; ${enter}; exec "$@"`,
			'sh',
			...start,
			...typed,
		];
	};

	let places = 0;
	return {
		words,
		makePlace() {
			const made = path.join(place, `place-${++places}`);
			const home = path.join(made, 'home');
			mkdirSync(home, {recursive: true});
			chownSync(home, uid, uid);
			const where = {pool: path.join(made, 'pool'), home};
			const {status, stderr, error} = spawnSync(program, ['admin', '--gpus', '4', '--provider', 'fake'], {
				env: {...environmentWith(where), HOME: path.join(place, 'scratch')},
				encoding: 'utf8',
			});
			if (status !== 0) {
				throw new Error(`The pool was not made: ${error?.message ?? stderr}`);
			}

			return where;
		},
		async run(fact, where, typed) {
			const [command, ...rest] = words(fact, where, typed);
			const child = spawn(command, rest, {stdio: ['ignore', 'pipe', 'pipe']});
			const limit = setTimeout(() => {
				child.kill('SIGKILL');
			}, patienceMs);
			const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
			clearTimeout(limit);
			return {exitCode: child.exitCode ?? undefined, stdout, stderr};
		},
		remove() {
			rmSync(place, {recursive: true, force: true});
		},
	};
}
