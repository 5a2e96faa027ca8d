/** Whether a config file is trusted depends on its owner and its permissions. */
import {execFileSync} from 'node:child_process';
import {
	chmodSync,
	chownSync,
	copyFileSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {describe, expect, test} from 'vitest';
import {readConfigFiles} from '../../source/config/files.js';
import {settingPaths, settings} from '../../source/config/schema.js';
import {
	alice,
	directoryOf,
	isRoot,
	makeDirectory,
	mallory,
	root,
	runAs,
	type Account,
} from '../_helpers/machine/accounts.js';
import {firstCase, slowTest} from '../_helpers/slow.js';

/** Writes a file owned by this account. */
function writeAs(file: string, content: string, {uid, gid}: Account, mode = 0o644): string {
	writeFileSync(file, content);
	chownSync(file, uid, gid);
	chmodSync(file, mode);
	return file;
}

/** Returns the error that `status` prints without a pool. It contains the Redis address that was configured. */
const asksRedis = (name: string) => `Error: Cannot reach Redis at ${name}: `;

function createPlace(account: Account) {
	const home = directoryOf(account);
	return {home, environment: {HOME: home, CANHAZGPU_POOL_DIRECTORY: path.join(home, 'none')}};
}

const hostile = 'redis: {host: 127.0.0.1, port: 1}\nreserve: {gpus: x}\n';

test('only the settings in this list are harmless enough for a config file in the working directory', () => {
	expect(settingPaths.filter((name) => settings[name].isHarmless)).toEqual([
		'reserve.gpus',
		'reserve.duration',
		'reserve.note',
		'reserve.wait',
		'reserve.nonblock',
		'reserve.gpu-ids',
		'reserve.min-memory',
		'reserve.model',
		'reserve.min-compute',
		'reserve.same-model',
		'reserve.nvlink',
		'reserve.strategy',
		'run.gpus',
		'run.cuda',
		'run.note',
		'run.wait',
		'run.nonblock',
		'run.quiet',
		'run.gpu-ids',
		'run.numa',
		'run.min-memory',
		'run.model',
		'run.min-compute',
		'run.same-model',
		'run.nvlink',
		'run.strategy',
		'extend.duration',
		'report.days',
		'top.interval',
		'top.preset',
		'top.columns',
		'top.fold',
		'top.mouse',
		'top.graphs',
		'top.theme',
	]);
});

test('the help topic "configuration" names every setting that is allowed in a config file in the working directory', () => {
	const topic = readFileSync(new URL('../../source/help/configuration.md', import.meta.url), 'utf8');
	const told = topic.split('\n\n').find((paragraph) => paragraph.includes('may have come with a repository'));
	const names = told!
		.matchAll(/`(?<name>[\w\-.]+)`/gv)
		.map(({groups}) => groups!['name']!)
		.toArray();
	// Settings that `run` and `reserve` share are listed once in the help topic.
	const all = names.flatMap((name) => (name.includes('.') ? [name] : [`run.${name}`, `reserve.${name}`]));
	expect(all.toSorted()).toEqual(settingPaths.filter((name) => settings[name].isHarmless).toSorted());
});

describe.runIf(isRoot)('the config file in the working directory', () => {
	test("sets only harmless settings, and only for the file's owner", async () => {
		const {environment} = createPlace(alice);
		const cwd = directoryOf(alice);
		const file = writeAs(
			path.join(cwd, '.canhazgpu.yaml'),
			'reserve: {gpus: 0}\nredis: {host: 127.0.0.1, port: 1, tls: false}\npool: {directory: /etc}\nweb: {host: 0.0.0.0}\nmemory: {threshold: 1}\nstore: embedded\n',
			alice,
		);
		expect(await runAs(alice, ['status'], {cwd, environment})).toEqual({
			exitCode: 2,
			stdout: '',
			stderr: `Error: ${file}: reserve.gpus must be a whole number from 1 to 1024, not 0\nFix the file, or name another with --config.\n`,
		});
		writeAs(file, 'run: {note: x, user: boss}\nredis: {port: 1}\npool: {directory: /etc}\nstore: embedded\n', alice);
		const ran = await runAs(alice, ['status'], {cwd, environment: {...environment, CANHAZGPU_REDIS_PORT: '2'}});
		expect(ran.stderr).toContain(
			`Warning: ${file}: run.user, redis.port, pool.directory, store are ignored in this file, and allowed only in your own config file or in /etc/canhazgpu.yaml\n`,
		);
		expect(ran.stderr).toContain(asksRedis('localhost:2'));
	});

	test.each<[why: string, prepare: (directory: string, file: string) => void, says: string]>(
		firstCase([
			[
				'in a directory of another account',
				(directory, file) => {
					chownSync(directory, mallory.uid, mallory.gid);
					chownSync(file, alice.uid, alice.gid);
				},
				'its directory belongs to another account (uid 61002)',
			],
			[
				'of another account',
				(_, file) => {
					chownSync(file, mallory.uid, mallory.gid);
				},
				'it belongs to another account (uid 61002)',
			],
			[
				'that a group may write',
				(_, file) => {
					chownSync(file, alice.uid, mallory.gid);
					chmodSync(file, 0o664);
				},
				'others can change it',
			],
			[
				'in a sticky world-writable directory',
				(directory) => {
					chmodSync(directory, 0o1777);
				},
				'others can write to its directory',
			],
		]),
	)('is skipped with a warning if it is a file %s', async (_, prepare, says) => {
		const {environment} = createPlace(alice);
		const cwd = directoryOf(alice);
		const file = writeAs(path.join(cwd, '.canhazgpu.yaml'), hostile, alice);
		prepare(cwd, file);
		const ran = await runAs(alice, ['status'], {cwd, environment: {...environment, CANHAZGPU_REDIS_PORT: '2'}});
		expect(ran.stderr.split('\n', 1)[0]).toBe(`Warning: ${file} is ignored: ${says}`);
		expect(ran.stderr).toContain(asksRedis('localhost:2'));
		expect(ran.stderr.split('\n').filter((line) => line.startsWith('Warning'))).toHaveLength(1);
	});

	test("is read in the user's own directory inside a world-writable directory with the sticky bit", async () => {
		const {environment} = createPlace(alice);
		const cwd = makeDirectory(path.join(directoryOf(root, 0o1777), 'mine'), alice);
		writeAs(path.join(cwd, '.canhazgpu.yaml'), 'reserve: {gpus: x}', alice);
		expect((await runAs(alice, ['status'], {cwd, environment})).stderr).toContain('reserve.gpus must be');
	});

	test('is never read for root, even if root owns the file', async () => {
		const {environment} = createPlace(root);
		const cwd = directoryOf(root);
		const precious = makeDirectory(path.join(cwd, 'precious'), root);
		const file = writeAs(
			path.join(cwd, '.canhazgpu.yaml'),
			`store: embedded\npool: {directory: ${precious}}\nreserve: {gpus: x}\n`,
			root,
		);
		const ran = await runAs(root, ['admin', '--gpus', '2', '--provider', 'fake', '--store', 'embedded'], {
			cwd,
			environment,
		});
		expect(ran.stderr).toContain(
			`Warning: ${file} is ignored: root does not read settings from the current directory\n`,
		);
		expect(statSync(precious).mode.toString(8)).toBe('40755');
		expect(readdirSync(precious)).toEqual([]);
	});

	test('is not read for Tab completion', async () => {
		const {environment} = createPlace(alice);
		const cwd = directoryOf(alice);
		// During completion, an error in this file would suppress all suggestions.
		writeAs(path.join(cwd, '.canhazgpu.yaml'), 'reserve: {gpus: x}\n', alice);
		writeAs(path.join(environment.HOME, '.canhazgpu.yaml'), 'remote_hosts: [own]\n', alice);
		const ran = await runAs(alice, ['--complete', 'bash', 'status', '--remote', ''], {cwd, environment});
		expect(ran).toEqual({exitCode: 0, stdout: 'words\nown\n', stderr: ''});
	});

	test('is rejected at once if it is a FIFO or a symbolic link', async () => {
		const {environment} = createPlace(alice);
		const cwd = directoryOf(alice);
		const file = path.join(cwd, '.canhazgpu.yaml');
		execFileSync('mkfifo', [file]);
		chownSync(file, alice.uid, alice.gid);
		const ran = await runAs(alice, ['status'], {cwd, environment});
		expect(ran).toMatchObject({exitCode: 2, stdout: ''});
		expect(ran.stderr).toMatch(/^Error: Cannot read the config file \S+: it is not a regular file\n/v);
		for (const target of ['/dev/zero', '/etc/passwd']) {
			const linked = directoryOf(alice);
			execFileSync('ln', ['-s', target, path.join(linked, '.canhazgpu.yaml')]);
			execFileSync('chown', ['-h', `${alice.uid}`, path.join(linked, '.canhazgpu.yaml')]);
			const {exitCode, stderr} = await runAs(alice, ['status'], {cwd: linked, environment});
			expect(exitCode).toBe(2);
			expect(stderr).toMatch(/: it is (?:a link|not a regular file)\n/v);
		}
	});
});

describe.runIf(isRoot)('the config file in the home directory', () => {
	test('is skipped for root and other accounts if HOME belongs to another user', async () => {
		const {home, environment} = createPlace(alice);
		const trap = path.join(home, 'trapped');
		const file = writeAs(
			path.join(home, '.canhazgpu.yaml'),
			JSON.stringify({notify: {command: ['/bin/touch', trap]}, redis: {host: '127.0.0.1', port: 1}}),
			alice,
		);
		for (const account of [root, mallory]) {
			const ran = await runAs(account, ['status'], {
				cwd: '/',
				environment: {...environment, CANHAZGPU_REDIS_PORT: '2'},
			});
			expect(ran.stderr.split('\n', 1)[0]).toBe(
				`Warning: ${file} is ignored: it belongs to another account (uid ${alice.uid})`,
			);
			expect(ran.stderr).toContain(asksRedis('localhost:2'));
		}

		const own = await runAs(alice, ['status'], {cwd: '/', environment});
		expect(own.stderr).toContain(asksRedis('127.0.0.1:1'));
		expect(own.stderr).not.toContain('Warning');
	});

	test('is skipped if another account owns it, and rejected if others can change it', async () => {
		const {home, environment} = createPlace(alice);
		const file = writeAs(path.join(home, '.canhazgpu.yaml'), 'redis: {host: 127.0.0.1, port: 1}\n', mallory);
		const foreign = await runAs(alice, ['status'], {
			cwd: '/',
			environment: {...environment, CANHAZGPU_REDIS_PORT: '2'},
		});
		expect(foreign.stderr).toContain(`Warning: ${file} is ignored: it belongs to another account`);
		expect(foreign.stderr).toContain(asksRedis('localhost:2'));
		writeAs(file, 'redis: {host: 127.0.0.1, port: 1}\n', alice, 0o666);
		expect(await runAs(alice, ['status'], {cwd: '/', environment})).toEqual({
			exitCode: 2,
			stdout: '',
			stderr: `Error: Cannot read the config file ${file}: others can change it\nMake it writable only by you: chmod go-w ${file}\n`,
		});
	});

	slowTest("can be the user's symbolic link, or writable by the user's private group", async () => {
		const {home, environment} = createPlace(alice);
		const real = writeAs(
			path.join(makeDirectory(path.join(home, 'dotfiles'), alice), 'chg.yaml'),
			'redis: {host: 127.0.0.1, port: 1}\n',
			alice,
			0o664,
		);
		symlinkSync(real, path.join(home, '.canhazgpu.yaml'));
		execFileSync('chown', ['-h', `${alice.uid}`, path.join(home, '.canhazgpu.yaml')]);
		const ran = await runAs(alice, ['status'], {cwd: '/', environment});
		expect(ran.stderr).toContain(asksRedis('127.0.0.1:1'));
		// The target of the link is missing.
		renameSync(real, `${real}.away`);
		expect(await runAs(alice, ['status'], {cwd: '/', environment})).toEqual({
			exitCode: 2,
			stdout: '',
			stderr: `Error: Cannot read the config file ${home}/.canhazgpu.yaml: it is a link to a missing file\nFix the file, or name another with --config.\n`,
		});
		renameSync(`${real}.away`, real);
		// Another account's link could point to any file.
		execFileSync('chown', ['-h', `${mallory.uid}`, path.join(home, '.canhazgpu.yaml')]);
		expect((await runAs(alice, ['status'], {cwd: '/', environment})).stderr).toContain('is ignored');
	});

	test('is read if HOME is a symbolic link to the home directory', async () => {
		const {home, environment} = createPlace(alice);
		writeAs(path.join(home, '.canhazgpu.yaml'), 'redis: {host: 127.0.0.1, port: 1}\n', alice);
		const alias = path.join(directoryOf(alice), 'home');
		symlinkSync(home, alias);
		const ran = await runAs(alice, ['status'], {cwd: home, environment: {...environment, HOME: alias}});
		expect(ran.stderr).not.toContain('Warning');
		expect(ran.stderr).toContain(asksRedis('127.0.0.1:1'));
	});

	test('is not searched for in the working directory if HOME is empty', async () => {
		const {environment} = createPlace(alice);
		const cwd = directoryOf(alice);
		const file = writeAs(path.join(cwd, '.canhazgpu.yaml'), 'redis: {host: 127.0.0.1, port: 1}\n', alice);
		const ran = await runAs(alice, ['status'], {
			cwd,
			environment: {...environment, HOME: '', CANHAZGPU_REDIS_PORT: '2'},
		});
		expect(ran.stderr).toContain(`Warning: ${file}: redis.host, redis.port are ignored in this file`);
		expect(ran.stderr).toContain(asksRedis('localhost:2'));
	});
});

describe.runIf(isRoot)('the config file for all users', () => {
	const readMachineFile = async (file: string) =>
		readConfigFiles({named: undefined, readsDirectory: false, machineFile: file});

	test.each<[whose: string, account: Account, mode: number, problem: string]>([
		['another account', alice, 0o644, 'it belongs to another account (uid 61001), but must belong to root'],
		['everybody', root, 0o646, 'others can change it'],
		['a group', root, 0o664, 'others can change it'],
	])('is rejected if %s can change the file', async (_, account, mode, problem) => {
		const file = writeAs(path.join(directoryOf(root), 'canhazgpu.yaml'), 'redis: {port: 1}', account, mode);
		await expect(readMachineFile(file)).rejects.toMatchObject({
			exitCode: 2,
			message: `Cannot read the config file ${file}: ${problem}`,
		});
	});

	slowTest('that others cannot read is named by doctor for root, and their errors say who can help', async () => {
		const {environment} = createPlace(alice);
		const etc = makeDirectory(path.join(directoryOf(root), 'etc'), root);
		for (const name of ['passwd', 'group', 'nsswitch.conf']) {
			copyFileSync(path.join('/etc', name), path.join(etc, name));
		}

		writeAs(path.join(etc, 'canhazgpu.yaml'), 'run: {note: x}', root, 0o600);
		expect(await runAs(alice, ['status'], {cwd: '/', environment, etc})).toEqual({
			exitCode: 2,
			stdout: '',
			stderr:
				'Error: Cannot read the config file /etc/canhazgpu.yaml: permission denied\nAsk the administrator of this machine to make it readable: sudo chmod 644 /etc/canhazgpu.yaml\n',
		});
		const own = {...environment, CANHAZGPU_REDIS_PORT: '', CANHAZGPU_POOL_DIRECTORY: path.join(etc, 'pool')};
		await runAs(root, ['admin', '--store', 'embedded', '--gpus', '1', '--provider', 'fake'], {
			cwd: '/',
			environment: own,
			etc,
		});
		const {stdout} = await runAs(root, ['doctor'], {cwd: '/', environment: own, etc});
		expect(stdout).toContain('Other accounts cannot read /etc/canhazgpu.yaml, so every command of theirs fails');
	});

	test('is read if only root can change the file', async () => {
		const file = writeAs(path.join(directoryOf(root), 'canhazgpu.yaml'), 'redis: {port: 1}', root);
		expect((await readMachineFile(file)).files).toContainEqual({
			file,
			content: {redis: {port: 1}},
			kind: 'machine',
			isExposed: true,
		});
	});
});

slowTest('a password file that belongs to another account, is a FIFO or is too long is refused', async () => {
	// Only root can act as another account.
	const owner = isRoot ? alice : {uid: process.getuid!(), gid: process.getgid!()};
	const home = directoryOf(owner);
	const environment = {HOME: home, CANHAZGPU_POOL_DIRECTORY: path.join(home, 'none'), CANHAZGPU_REDIS_PORT: '2'};
	const file = path.join(home, 'password');
	const readAs = async (account: Account) =>
		runAs(account, ['status'], {cwd: '/', environment: {...environment, CANHAZGPU_REDIS_PASSWORD_FILE: file}});
	if (isRoot) {
		writeAs(file, 'hunter2\n', alice, 0o600);
		// Root could read the file, and would connect to the server that it names.
		expect(await readAs(root)).toEqual({
			exitCode: 2,
			stdout: '',
			stderr: `Error: redis.password_file: ${file} belongs to another account (uid 61001)\nName a file that belongs to you.\n`,
		});
		expect((await readAs(alice)).stderr).toContain(asksRedis('localhost:2'));
	}

	writeAs(file, 'x'.repeat(100_000), owner, 0o600);
	expect((await readAs(owner)).stderr).toContain(`cannot read ${file}: it is longer than 65536 bytes`);
	execFileSync('rm', [file]);
	execFileSync('mkfifo', ['-m', '600', file]);
	expect(await readAs(owner)).toMatchObject({exitCode: 2, stdout: ''});
	execFileSync('rm', [file]);
	mkdirSync(file);
	expect((await readAs(owner)).stderr).toContain(`cannot read ${file}: it is a directory`);
});
