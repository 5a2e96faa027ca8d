/** Attacks of other accounts on the files of a shared embedded pool, and their effect on its users. */
import {
	chmodSync,
	existsSync,
	linkSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	watch,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {beforeEach, describe, expect, test} from 'vitest';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {accountsOfFile, alice, canBeOthers, mallory} from '../../_helpers/machine/strangers.js';
import {eventually} from '../../_helpers/eventually.js';

const accounts = accountsOfFile();
const root = 0;
const simulated = 'SIMULATED GPUs: no real hardware is behind this pool.\n';

const inPool = (name: string): string => path.join(accounts.poolDirectory, name);
const modeOf = (file: string): string => (lstatSync(file).mode % 0o1_0000).toString(8);

/** Returns the permissions of a directory and of its files, except those of the journal of the readings, which is made again when needed. */
const modesIn = (directory: string): Readonly<Record<string, string>> =>
	Object.fromEntries([
		['.', modeOf(directory)],
		...readdirSync(directory)
			.filter((name) => name !== 'scans.sqlite-wal')
			.map((name) => [name, modeOf(path.join(directory, name))]),
	]) as Readonly<Record<string, string>>;

/** Files of the pool that other accounts can write. */
const shared = [
	'pool.sqlite',
	'pool.sqlite-wal',
	'pool.sqlite-signal',
	'pool.sqlite-lock',
	'scans.sqlite',
	'scans.sqlite-wal',
];

async function makePool(more = ''): Promise<void> {
	const made = await accounts.run(root, `admin --store embedded --gpus 4 --provider fake${more}`);
	expect(made).toMatchObject({exitCode: 0, stderr: ''});
}

test.runIf(canBeOthers)('admin of an ordinary account makes no private pool if a shared pool exists', async () => {
	await makePool();
	for (const force of ['', ' --force']) {
		expect(await accounts.run(alice, `admin --store embedded --gpus 2 --provider fake${force}`)).toEqual({
			exitCode: 1,
			stdout: '',
			stderr: `Error: This account cannot change the pool in ${accounts.poolDirectory}\nNothing was changed. To replace it and end all its reservations: sudo canhazgpu admin --store embedded --gpus 2 --provider fake --force\n`,
		});
	}

	const files = readdirSync(accounts.homeOf(alice), {recursive: true, encoding: 'utf8'});
	expect(files.filter((name) => name.endsWith('pool.sqlite'))).toEqual([]);
});

test.runIf(canBeOthers)(
	'admin --group says why it cannot change a pool, and does not look for GPUs first',
	async () => {
		await makePool();
		// This machine has no GPU, which would be the first error.
		expect(await accounts.run(alice, 'admin --store embedded --group ALL')).toEqual({
			exitCode: 1,
			stdout: '',
			stderr: `Error: This account cannot change the pool in ${accounts.poolDirectory}\nNothing was changed. To change who can use it: sudo canhazgpu admin --store embedded --group ALL\n`,
		});

		expect(await accounts.run(root, 'admin --store redis --group daemon')).toMatchObject({
			exitCode: 2,
			stderr: expect.stringMatching(/^Error: --group works only for a pool without Redis/v) as unknown,
		});
	},
);

/** Creates a pool like earlier versions did, in a world-writable directory. */
async function makeOldPool(): Promise<void> {
	await makePool();
	expect(await accounts.run(alice, 'reserve --gpu-ids 2 --duration 4h')).toMatchObject({exitCode: 0});
	for (const name of readdirSync(accounts.poolDirectory)) {
		if (name !== 'pool.sqlite' && name !== 'pool.json') {
			rmSync(inPool(name));
		}
	}

	chmodSync(accounts.poolDirectory, 0o777);
}

beforeEach(() => {
	rmSync(accounts.poolDirectory, {recursive: true, force: true});
});

describe.runIf(canBeOthers)('a shared pool', () => {
	slowTest('has a directory that only its owner can write and files that every account can write', async () => {
		await makePool();
		expect(modeOf(accounts.poolDirectory)).toBe('755');
		for (const name of shared) {
			expect([name, modeOf(inPool(name))]).toEqual([name, '666']);
		}
	});

	slowTest('serves root and other accounts in turn without losing its journal', async () => {
		await makePool();
		for (const uid of [alice, root, mallory, root, alice]) {
			expect(await accounts.run(uid, 'run -- true')).toMatchObject({exitCode: 0});
			expect(await accounts.run(uid, 'reserve --duration 1h')).toMatchObject({exitCode: 0});
			expect(await accounts.run(uid, 'status')).toMatchObject({exitCode: 0});
			expect(await accounts.run(uid, 'release')).toMatchObject({exitCode: 0});
			expect([uid, existsSync(inPool('pool.sqlite-wal'))]).toEqual([uid, true]);
		}
	});

	slowTest('lets no other account replace a file with a link, a FIFO or another file', async () => {
		await makePool();
		const {poolDirectory} = accounts;
		const tries = shared.flatMap((name) => [
			`ln -sf /etc/passwd ${poolDirectory}/${name}`,
			`ln -f ${accounts.homeOf(mallory)}/own ${poolDirectory}/${name}`,
			`rm -f ${poolDirectory}/${name}; mkfifo ${poolDirectory}/${name}`,
			`mv -f ${accounts.homeOf(mallory)}/own ${poolDirectory}/${name}`,
			`mv ${poolDirectory}/${name} ${accounts.homeOf(mallory)}/`,
			`chmod 777 ${poolDirectory}/${name}`,
			`touch ${poolDirectory}/${name}-journal`,
		]);
		const before = readdirSync(poolDirectory).map((name) => [name, modeOf(inPool(name)), lstatSync(inPool(name)).ino]);
		writeFileSync(path.join(accounts.homeOf(mallory), 'own'), 'x');
		for (const line of [...tries, `chmod 777 ${poolDirectory}`, `mv ${poolDirectory} ${poolDirectory}-away`]) {
			expect([line, (await accounts.shell(mallory, line)).exitCode]).not.toEqual([line, 0]);
		}

		expect(readdirSync(poolDirectory).map((name) => [name, modeOf(inPool(name)), lstatSync(inPool(name)).ino])).toEqual(
			before,
		);
	});

	slowTest.each(shared)('never ends a job while %s is repeatedly truncated and overwritten', async (name) => {
		await makePool();
		const [node, cli] = accounts.words;
		const over = path.join(accounts.homeOf(alice), 'over');
		rmSync(over, {force: true});
		const script = `until [ -e ${over} ]; do sleep 0.1; done; exit 7`;
		const job = spawn(node, [cli, 'run', '--gpu-ids', '3', '--', 'sh', '-c', script], {
			uid: alice,
			gid: alice,
			cwd: accounts.homeOf(alice),
			env: accounts.environmentOf(alice),
			stdio: 'ignore',
		});
		const ended = once(job, 'exit');
		await eventually(async () => (await accounts.run(root, 'status --json')).stdout.includes('"type": "RUN"'));
		const spoiling = accounts.shell(
			mallory,
			`for i in $(seq 60); do truncate -s 0 ${inPool(name)}; sleep 0.02; head -c 20000 /dev/urandom > ${inPool(name)}; sleep 0.02; done`,
		);
		for (let round = 0; round < 2; round++) {
			for (const command of ['status', 'reserve --nonblock --gpu-ids 0', 'top --once']) {
				const {exitCode, stderr} = await accounts.run(alice, command);
				expect([command, [0, 1, 3, 4].includes(exitCode ?? -1), stderr]).toEqual([command, true, stderr]);
				expect(stderr).not.toMatch(/bug in canhazgpu|^ +at /mv);
			}
		}

		await spoiling;
		writeFileSync(over, '');
		expect(await ended).toEqual([7, null]);
	});

	slowTest.each([
		[
			'trigger',
			`CREATE TRIGGER t AFTER UPDATE ON gpus BEGIN
				INSERT OR REPLACE INTO gpus WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n % 2, 'x' FROM c; END`,
		],
		[
			'view',
			`ALTER TABLE gpus RENAME TO g; CREATE VIEW gpus AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
			SELECT n AS gpu, 'x' AS raw FROM c`,
		],
		['table', 'CREATE TABLE more (x)'],
		['index', 'CREATE INDEX i ON gpus (raw)'],
	])('is refused by every command if another account adds a SQLite object to its database: %s', async (kind, sql) => {
		await makePool();
		expect(await accounts.script(mallory, `change(${JSON.stringify(sql)})`)).toMatchObject({exitCode: 0, stderr: ''});
		for (const command of ['status', 'reserve --nonblock', 'release', 'queue', 'run --nonblock -- true', 'report']) {
			const ran = await accounts.run(alice, command);
			expect([command, ran.exitCode]).toEqual([command, 4]);
			expect(ran.stderr).toMatch(
				new RegExp(
					`^Error: The GPU pool ${inPool('pool.sqlite')} contains a (?:${kind}|table|view) that canhazgpu did not make`,
					'v',
				),
			);
		}
	});

	slowTest('is reported as locked, with the pid, if another account locks the database', async () => {
		await makePool();
		const over = path.join(accounts.homeOf(mallory), 'over');
		rmSync(over, {force: true});
		const holding = accounts.script(
			mallory,
			`change('BEGIN EXCLUSIVE');
			console.log('held');
			const {existsSync} = require('node:fs');
			const timer = setInterval(() => {
				if (existsSync(${JSON.stringify(over)})) clearInterval(timer);
			}, 50)`,
		);
		await eventually(async () => (await accounts.run(alice, 'status')).exitCode === 4);
		const ran = await accounts.run(alice, 'reserve --nonblock');
		writeFileSync(over, '');
		expect(await holding).toMatchObject({stdout: 'held\n'});
		expect(ran.exitCode).toBe(4);
		expect(ran.stderr).toMatch(/is locked by process \d+\nTry again\. To see what it is: ps -fp \d+\n$/v);
		expect(await accounts.run(alice, 'reserve --nonblock')).toMatchObject({exitCode: 0});
	});

	slowTest.each([
		[
			'deleted',
			(file: string) => {
				rmSync(file);
			},
		],
		[
			'a database with other tables',
			(file: string) => {
				rmSync(file);
				const database = new DatabaseSync(file);
				database.exec('CREATE TABLE scan (x); CREATE TABLE scanner (y)');
				database.close();
				chmodSync(file, 0o666);
			},
		],
		[
			'a dangling link',
			(file: string) => {
				rmSync(file);
				symlinkSync('/nowhere/at/all', file);
			},
		],
		[
			'a directory',
			(file: string) => {
				rmSync(file);
				mkdirSync(file);
			},
		],
		[
			'not a database',
			(file: string) => {
				writeFileSync(file, 'x'.repeat(9000));
			},
		],
	])('works if scans.sqlite is %s', async (_, spoil) => {
		await makePool();
		spoil(inPool('scans.sqlite'));
		for (const uid of [alice, root]) {
			for (const command of ['status', 'top --once', 'doctor']) {
				const ran = await accounts.run(uid, command);
				expect([uid, command, ran.exitCode, ran.stderr]).toEqual([
					uid,
					command,
					0,
					command === 'doctor' ? '' : simulated,
				]);
			}
		}
	});

	slowTest('has its deleted journal restored by the next command of root', async () => {
		await makePool();
		rmSync(inPool('pool.sqlite-wal'));
		const ran = await accounts.run(alice, 'reserve --nonblock');
		expect(ran.exitCode).toBe(4);
		expect(ran.stderr).toContain(
			'has lost its journal, which only its owner can create again\nAny command run by its owner',
		);
		expect(await accounts.run(root, 'status')).toMatchObject({exitCode: 0});
		expect(await accounts.run(alice, 'reserve --nonblock')).toMatchObject({exitCode: 0});
	});

	test('can be restricted to a group later, and keeps its reservations', async () => {
		await makePool();
		await accounts.run(root, 'reserve');
		const location = inPool('pool.sqlite');
		const said = 'Only members of daemon can use the pool now.\n';
		const words = 'admin --store embedded --provider fake --group daemon';
		expect(await accounts.run(root, `${words} --gpus 7`)).toEqual({
			exitCode: 1,
			stdout: '',
			stderr: `${said}Error: A pool of 4 GPU(s) already exists in ${location}\nIts reservations were kept. --force replaces the pool and ends all its reservations.\n`,
		});
		chmodSync(location, 0o666);
		expect(await accounts.run(root, `${words} --gpus 4`)).toEqual({
			exitCode: 0,
			stdout: `The pool of 4 GPU(s) (fake) in ${location} already existed. Its reservations were kept\n`,
			stderr: said,
		});
		expect(await accounts.run(mallory, 'status')).toMatchObject({exitCode: 4});
		expect(await accounts.run(root, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [0]\n'});
		// The repeated command changes nothing, so it fails like any other `admin` on an existing pool.
		expect(await accounts.run(root, `${words} --gpus 4`)).toMatchObject({
			exitCode: 1,
			stderr: expect.stringContaining('Nothing was changed.') as string,
		});
	});

	test('can be restricted to a group without a look at the GPUs', async () => {
		await makePool();
		await accounts.run(root, 'reserve');
		for (const stderr of ['Only members of daemon can use the pool now.\n', '']) {
			expect(await accounts.run(root, 'admin --store embedded --group daemon')).toEqual({
				exitCode: 0,
				stdout: `The pool of 4 GPU(s) (fake) in ${inPool('pool.sqlite')} already existed. Its reservations were kept\n`,
				stderr,
			});
		}

		expect(await accounts.run(mallory, 'status')).toMatchObject({exitCode: 4});
		expect(await accounts.run(root, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [0]\n'});
	});

	test('keeps its group and its reservations when admin repairs its directory', async () => {
		await makePool(' --group daemon');
		await accounts.run(root, 'reserve');
		const modes = () =>
			['', 'pool.sqlite', 'pool.sqlite-signal', 'pool.sqlite-lock'].map((name) => [
				name,
				modeOf(inPool(name)),
				lstatSync(inPool(name)).gid,
			]);
		const before = modes();
		chmodSync(accounts.poolDirectory, 0o2770);
		expect((await accounts.run(root, 'status')).stderr).toContain('sudo canhazgpu admin --store embedded\n');
		expect(await accounts.run(root, 'admin --store embedded')).toEqual({
			exitCode: 0,
			stdout: `The pool of 4 GPU(s) (fake) in ${inPool('pool.sqlite')} already existed. Its reservations were kept\n`,
			stderr: `Others could write to ${accounts.poolDirectory}: their permission was removed.\n`,
		});
		expect(modes()).toEqual(before);
		expect(before[0]).toMatchObject(['', '2750', expect.any(Number)]);
		expect(await accounts.run(root, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [0]\n'});
	});

	test('restored without write permission for others is reported by doctor, and repaired by admin', async () => {
		await makePool();
		await accounts.run(alice, 'reserve');
		for (const name of readdirSync(accounts.poolDirectory)) {
			chmodSync(inPool(name), 0o644);
		}

		const location = inPool('pool.sqlite');
		const command = 'sudo canhazgpu admin --store embedded';
		expect(await accounts.run(alice, 'release')).toEqual({
			exitCode: 4,
			stdout: '',
			stderr: `Error: The GPU pool ${location} can be used only by its owner\nLet others use it again: ${command}\n`,
		});
		const {exitCode, stdout} = await accounts.run(root, 'doctor --json');
		expect(exitCode).toBe(1);
		expect(JSON.parse(stdout)).toMatchObject({
			findings: expect.arrayContaining([
				{
					check: 'permissions',
					level: 'error',
					words: `The permissions of ${location} keep other accounts out`,
					mend: `Let them use it again, with all its reservations: ${command} (only for a group: add --group NAME)`,
				},
			]) as unknown,
		});
		expect(await accounts.run(root, 'admin --store embedded')).toEqual({
			exitCode: 0,
			stdout: `The pool of 4 GPU(s) (fake) in ${location} already existed. Its reservations were kept\n`,
			stderr: `The permissions of ${location} kept other accounts out: they can use the pool again.\n`,
		});
		expect(await accounts.run(alice, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [0]\n'});
	});

	slowTest.each([
		['everybody', '', alice],
		['a group', ' --group daemon', root],
	])('for %s is repaired after a restore that took the permissions of others away', async (_, group, holder) => {
		await makePool(group);
		await accounts.run(holder, 'reserve');
		const before = modesIn(accounts.poolDirectory);
		for (const name of readdirSync(accounts.poolDirectory)) {
			chmodSync(inPool(name), 0o600);
		}

		chmodSync(accounts.poolDirectory, group === '' ? 0o700 : 0o2700);
		const refused = await accounts.run(alice, 'status');
		expect(refused.exitCode).toBe(4);
		expect(refused.stderr).toContain(
			group === ''
				? 'For a pool in a file: sudo canhazgpu admin --store embedded.'
				: 'add you to the group of the pool',
		);
		expect((await accounts.run(root, 'doctor')).stdout).toContain('keep other accounts out');
		const repaired = await accounts.run(root, 'admin --store embedded');
		expect(repaired.exitCode).toBe(0);
		expect(repaired.stderr).toContain('kept other accounts out: they can use the pool again.');
		expect(modesIn(accounts.poolDirectory)).toEqual(before);
		expect(await accounts.run(holder, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [0]\n'});
		expect((await accounts.run(root, 'doctor')).stdout).not.toContain('keep other accounts out');
	});

	slowTest('made with --group can be opened to all accounts again', async () => {
		await makePool(' --group daemon');
		expect(await accounts.run(root, 'admin --store embedded --group ALL')).toMatchObject({
			exitCode: 0,
			stderr: 'All accounts can use the pool now.\n',
		});
		expect((await accounts.run(mallory, 'status')).exitCode).toBe(0);
	});

	slowTest('without its record is recorded again by admin, which keeps reservations and needs no GPUs', async () => {
		await makePool();
		await accounts.run(alice, 'reserve');
		rmSync(inPool('pool.json'));
		expect((await accounts.run(alice, 'release')).exitCode).toBe(4);
		expect(await accounts.run(root, 'admin')).toEqual({
			exitCode: 0,
			stdout: `The pool of 4 GPU(s) (fake) in ${inPool('pool.sqlite')} already existed. Its reservations were kept\n`,
			stderr: '',
		});
		expect(await accounts.run(alice, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [0]\n'});
	});

	slowTest('made with --group is closed to accounts outside the group', async () => {
		await makePool(' --group daemon');
		expect([modeOf(accounts.poolDirectory), modeOf(inPool('pool.sqlite')), modeOf(inPool('pool.sqlite-wal'))]).toEqual([
			'2750',
			'660',
			'660',
		]);
		expect(statSync(inPool('pool.sqlite')).gid).toBe(statSync(accounts.poolDirectory).gid);
		const ran = await accounts.run(mallory, 'status');
		expect(ran.exitCode).toBe(4);
		expect(ran.stderr).toContain('add you to the group of the pool');
	});
});

describe.runIf(canBeOthers)('a world-writable pool of an earlier version', () => {
	slowTest('is refused by every command until admin has corrected the mode of its directory', async () => {
		await makeOldPool();
		for (const command of ['status', 'reserve --nonblock', 'release', 'doctor', 'top --once']) {
			const {exitCode, stdout, stderr} = await accounts.run(alice, command);
			expect([command, exitCode]).toEqual([command, command === 'doctor' ? 1 : 4]);
			expect(`${stdout}${stderr}`).toContain('lies in a directory that others can write to');
			expect(`${stdout}${stderr}`).toContain('sudo canhazgpu admin --store embedded');
		}

		const again = await accounts.run(root, 'admin --store embedded --gpus 4 --provider fake');
		expect(again.exitCode).toBe(1);
		expect(again.stderr).toContain('A pool of 4 GPU(s) already exists');
		expect(modeOf(accounts.poolDirectory)).toBe('755');
		const status = await accounts.run(alice, 'status --json');
		expect(status.exitCode).toBe(0);
		expect(status.stdout.match(/"type": "MANUAL"/gv)).toHaveLength(1);
		expect(await accounts.run(alice, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [2]\n'});
	});

	slowTest.each([
		[
			'a symbolic link',
			(victim: string, file: string) => {
				symlinkSync(victim, file);
			},
		],
		[
			'a hard link',
			(victim: string, file: string) => {
				linkSync(victim, file);
			},
		],
	])('does not let %s make root change a file outside of the pool directory', async (_, plant) => {
		await makeOldPool();
		const victim = path.join(accounts.directory, 'environment');
		for (const name of [
			'scans.sqlite',
			'pool.sqlite-wal',
			'pool.sqlite-signal',
			'pool.sqlite-lock',
			'pool.sqlite-journal',
		]) {
			for (const command of ['status', 'admin --store embedded --gpus 4 --provider fake']) {
				rmSync(victim, {force: true});
				writeFileSync(victim, '', {mode: 0o644});
				rmSync(inPool(name), {force: true});
				chmodSync(accounts.poolDirectory, 0o777);
				plant(victim, inPool(name));
				await accounts.run(root, command);
				await accounts.run(root, command.startsWith('admin') ? 'status' : command);
				expect([name, command, modeOf(victim), statSync(victim).size]).toEqual([name, command, '644', 0]);
			}
		}
	});

	slowTest('is repaired by admin, which renames directories that were put in place of files', async () => {
		await makeOldPool();
		const kept = path.join(accounts.directory, 'kept');
		rmSync(kept, {recursive: true, force: true});
		mkdirSync(kept);
		writeFileSync(path.join(kept, 'shadow'), 'kept');
		const trees = ['pool.sqlite-signal', 'pool.sqlite-wal', 'scans.sqlite'].map((name) => inPool(name));
		for (const tree of trees) {
			const planted = await accounts.shell(
				mallory,
				`rm -rf ${tree}; mkdir -p ${tree}/deep; touch ${tree}/deep/shadow; ln -s ${kept} ${tree}/link; chmod 0700 ${tree}`,
			);
			expect(planted).toMatchObject({exitCode: 0, stderr: ''});
		}

		mkdirSync(inPool('pool.sqlite-lock'));
		const again = await accounts.run(root, 'admin --store embedded --gpus 4 --provider fake');
		expect(again.exitCode).toBe(1);
		expect(again.stderr).toContain(`Others could write to ${accounts.poolDirectory}: their permission was removed.\n`);
		expect(again.stderr).toContain(
			'Its reservations were kept. --force replaces the pool and ends all its reservations.\n',
		);
		expect(again.stderr).not.toContain('Nothing was changed');
		for (const tree of trees) {
			const name = path.basename(tree);
			const aside = readdirSync(accounts.poolDirectory).find(
				(entry) => /^[\d\-a-f]{36}$/v.test(entry.slice(name.length + 1)) && entry.startsWith(`${name}.`),
			);
			expect([name, aside]).toEqual([name, expect.any(String)]);
			expect(again.stderr).toContain(`There was a directory at ${tree}. It was renamed to ${inPool(aside!)}`);
			expect(existsSync(path.join(inPool(aside!), 'deep/shadow'))).toBe(true);
			expect(lstatSync(tree, {throwIfNoEntry: false})?.isFile() ?? false).toBe(true);
		}

		expect(readFileSync(path.join(kept, 'shadow'), 'utf8')).toBe('kept');
		expect(await accounts.run(alice, 'release')).toMatchObject({stdout: 'Released 1 GPU(s): [2]\n'});
	});

	slowTest('is not changed by admin --force if its database is a symbolic link', async () => {
		await makeOldPool();
		const away = path.join(accounts.directory, 'away.sqlite');
		renameSync(inPool('pool.sqlite'), away);
		symlinkSync(away, inPool('pool.sqlite'));
		const before = readFileSync(away);
		const ran = await accounts.run(root, 'admin --store embedded --gpus 4 --provider fake --force');
		expect(ran.exitCode).toBe(4);
		expect(ran.stderr).toContain('they could replace its files');
		expect(modeOf(accounts.poolDirectory)).toBe('777');
		expect(readFileSync(away).equals(before)).toBe(true);
	});
});

test.runIf(isLong && canBeOthers)(
	'status creates no journal file if another account replaces pool.sqlite or scans.sqlite with an empty database',
	async () => {
		await makePool();
		for (const name of ['pool.sqlite', 'scans.sqlite']) {
			const whole = readFileSync(inPool(name));
			const made = await accounts.script(
				mallory,
				`const fs = require('node:fs');
				const other = new DatabaseSync('own.db');
				other.exec('PRAGMA auto_vacuum = FULL; CREATE TABLE x (y); DROP TABLE x');
				other.close();
				fs.writeFileSync(${JSON.stringify(inPool(name))}, fs.readFileSync('own.db'));`,
			);
			expect(made).toMatchObject({exitCode: 0, stderr: ''});
			// eslint-disable-next-line n/prefer-promises/fs -- names are to be collected beside the rest
			const watcher = watch(accounts.poolDirectory);
			const names: unknown[] = [];
			watcher.on('change', (_, entry) => {
				names.push(entry);
			});
			for (const uid of [root, alice]) {
				const ran = await accounts.run(uid, 'status');
				expect([name, uid, ran.exitCode]).toEqual([name, uid, name === 'pool.sqlite' ? 4 : 0]);
			}

			watcher.close();
			expect(names).not.toContain(`${name}-journal`);
			writeFileSync(inPool(name), whole);
		}
	},
);

test.runIf(isLong && canBeOthers)(
	"status does not change a user's database if another account links the database as the lock file of a pool",
	async () => {
		const pool = path.join(accounts.homeOf(mallory), 'pool');
		const environment = {CANHAZGPU_POOL_DIRECTORY: pool};
		rmSync(pool, {recursive: true, force: true});
		await makePool();
		const copy = `cd ${accounts.poolDirectory} && mkdir ${pool} && cp *.sqlite* ${pool} && chmod 666 ${pool}/* && sed s,$PWD,${pool}, pool.json > ${pool}/pool.json`;
		expect(await accounts.shell(mallory, copy)).toMatchObject({exitCode: 0, stderr: ''});
		const own = path.join(accounts.homeOf(alice), 'mlflow.db');
		const made = await accounts.script(
			alice,
			`const own = new DatabaseSync(${JSON.stringify(own)});
		own.exec('PRAGMA journal_mode = WAL; CREATE TABLE runs (x)');
		own.close();`,
		);
		expect(made).toMatchObject({exitCode: 0, stderr: ''});
		const before = readFileSync(own);
		await accounts.shell(mallory, `ln -sf ${own} ${pool}/pool.sqlite-lock`);
		expect(await accounts.run(alice, 'status', {environment})).toMatchObject({exitCode: 0, stderr: simulated});
		expect(readFileSync(own).equals(before)).toBe(true);
	},
);

test.runIf(isLong && canBeOthers)('root does not use the pool of another account', async () => {
	const elsewhere = {CANHAZGPU_POOL_DIRECTORY: '/proc/nowhere'};
	const made = await accounts.run(alice, 'admin --store embedded --gpus 2 --provider fake', {environment: elsewhere});
	expect(made).toMatchObject({exitCode: 0});
	const ran = await accounts.run(root, 'status', {
		environment: {HOME: accounts.homeOf(alice), ...elsewhere},
	});
	expect(ran.exitCode).toBe(4);
	expect(ran.stderr).toContain('root uses only pools that belong to root');
});
