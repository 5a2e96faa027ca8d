/** Everybody on the machine finds the pool that `admin` creates. */
import {existsSync, mkdirSync, readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {Redis} from 'ioredis';
import {describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {createBox, createEmbeddedBox, withoutRedis} from '../../_helpers/program/cli.js';
import {canEnter, runIn, type NamespaceOptions} from '../../_helpers/machine/namespaces.js';
import {createClock} from '../../../source/host/clock.js';
import {createHost} from '../../../source/host/host.js';
import {closePool} from '../../../source/core/operations/pool/create-pool.js';
import {writePoolRecord} from '../../../source/store/pool-records.js';
import {openStoreOf, peek, start} from '../../_helpers/program/processes.js';
import {startSleeper} from '../run/_sleeper.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

const movedHint =
	'Restart programs that still use the old location, and remove settings and flags that name it. If no setting or flag names the old location, the move was interrupted. Repeat that canhazgpu admin command with --force.';

/** The line on stderr after a move. */
const leftBehind = (from: string): string => `Detached jobs and the history stay in ${from}.\n`;

test.each(
	firstCase([
		['an address', () => ({CANHAZGPU_REDIS_URL: `redis://127.0.0.1:${redis.port}/3`})],
		['a socket', () => ({CANHAZGPU_REDIS_SOCKET: redis.socket, CANHAZGPU_REDIS_DB: '4'})],
		['host and port', () => ({CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '5'})],
	]),
)('status without settings finds the pool that admin has created in a Redis given by %s', async (_, setting) => {
	const box = createBox();
	onTestFinished(box.remove);
	expect(await box.run('admin --gpus 3 --provider fake', setting())).toMatchObject({exitCode: 0, stderr: ''});
	// Another user without configuration.
	const {stdout} = await box.run('status --json');
	expect(JSON.parse(stdout)).toHaveLength(3);
	// The error names the location.
	const elsewhere = await box.run('admin --gpus 3 --provider fake --store embedded');
	expect(elsewhere.exitCode).toBe(1);
	expect(elsewhere.stderr).toMatch(/^Error: This machine's GPU pool already exists elsewhere: in redis \S+\/[345]\n/v);
});

slowTest(
	'admin --force in another store ends the former reservations and redirects users of the former pool',
	async () => {
		const box = await createEmbeddedBox(3);
		onTestFinished(box.remove);
		const inRedis = {CANHAZGPU_STORE: 'redis', CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '6'};
		const anywhere = {CANHAZGPU_STORE: ''};
		await box.run('reserve -g 2');
		const waiting = box.run('run -g 3 -- true', anywhere);
		await eventually(async () => (await box.run('queue --json')).stdout.includes('"total_waiting": 1'));
		const following = start(box, 'status --json --follow', anywhere);
		await eventually(() => following.stdout().includes('waiting_count'));

		expect(await box.run('admin --gpus 3 --provider fake --force', inRedis)).toMatchObject({
			exitCode: 0,
			stdout: `Created a pool of 3 GPU(s) (fake) in redis localhost:${redis.port}/6\nEnded 3 reservation(s) of the replaced pool\n`,
		});
		const moved = `Error: The pool that was in ${box.poolDirectory}/pool.sqlite is in redis localhost:${redis.port}/6 now\n${movedHint}\n`;
		const {exitCode, stderr} = await waiting;
		expect([exitCode, stderr.endsWith(moved)]).toEqual([4, true]);
		expect(await following.ended).toMatchObject({exitCode: 4, stderr: moved});
		expect((await box.run('status --json', anywhere)).stdout).not.toContain('IN_USE');

		const back = await box.run('admin --gpus 3 --provider fake --store embedded --force', anywhere);
		expect(back).toMatchObject({
			exitCode: 0,
			stdout: `Created a pool of 3 GPU(s) (fake) in ${box.poolDirectory}/pool.sqlite\n`,
		});
		expect(await box.run('reserve -g 3 --short', anywhere)).toMatchObject({exitCode: 0, stdout: '0,1,2\n'});
		expect((await box.run('status', inRedis)).stderr).toBe(
			`Error: The pool that was in redis localhost:${redis.port}/6 is in ${box.poolDirectory} now\n${movedHint}\n`,
		);
	},
);

slowTest('a running job prints a warning that a move ended its reservation, and keeps its exit code', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const {wrapper, pid} = await startSleeper(box);
	const words = `admin --gpus 2 --provider fake --force --store redis --redis-port ${redis.port} --redis-db 14`;
	expect(await box.run(words)).toMatchObject({
		exitCode: 0,
		stdout: expect.stringContaining('Ended 1 reservation(s)') as string,
	});
	await wrapper.says(/WARNING/v);
	process.kill(pid, 'SIGTERM');
	expect(await wrapper.ended).toMatchObject({
		exitCode: 143,
		stderr: `canhazgpu: WARNING: the command continues without its reservation: The pool that was in ${box.poolDirectory}/pool.sqlite is in redis localhost:${redis.port}/14 now\n`,
	});
});

test('admin --force in another store moves the policy and the out-of-service GPUs', async () => {
	const box = await createEmbeddedBox(3);
	onTestFinished(box.remove);
	const anywhere = {CANHAZGPU_STORE: ''};
	await box.run(['admin', '--drain', '1', '--reason', 'fan is dead']);
	await box.run('admin --set strategy=lru');
	const words = `admin --gpus 3 --provider fake --force --store redis --redis-port ${redis.port} --redis-db 15`;
	expect(await box.run(words)).toEqual({
		exitCode: 0,
		stdout: `Created a pool of 3 GPU(s) (fake) in redis localhost:${redis.port}/15\n`,
		stderr: `The policy and the list of GPUs that are out of service were moved. ${leftBehind(box.poolDirectory)}`,
	});
	expect((await box.run('status', anywhere)).stdout).toContain('fan is dead');
	expect((await box.run('admin --policy', anywhere)).stdout).toMatch(/strategy +│ lru/v);

	// A GPU that is back in service stays in service when the pool moves back.
	await box.run('admin --undrain 1', anywhere);
	expect(await box.run('admin --gpus 3 --provider fake --force --store embedded')).toMatchObject({
		stderr: `The policy was moved. ${leftBehind(`redis localhost:${redis.port}/15`)}`,
	});
	expect((await box.run('reserve -g 3 --short', anywhere)).stdout).toBe('0,1,2\n');
	expect((await box.run('admin --policy', anywhere)).stdout).toMatch(/strategy +│ lru/v);
});

slowTest('admin --force in another store copies an unreadable policy and drain list and warns about both', async () => {
	const settings = {CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '2'};
	const box = createBox();
	const client = new Redis(redis.port, {db: 2});
	onTestFinished(() => {
		client.disconnect();
		box.remove();
	});
	await box.run('admin --gpus 2 --provider fake', settings);
	await client.set('canhazgpu:policy', 'not json');
	await client.hset('canhazgpu:drain', 'a', 1);
	const {exitCode, stderr} = await box.run('admin --gpus 2 --provider fake --store embedded --force');
	const [left, policy, drains] = stderr.split('\n', 3);
	expect([exitCode, left]).toEqual([0, leftBehind(`redis localhost:${redis.port}/2`).trimEnd()]);
	expect(policy).toMatch(
		/^Warning: The policy cannot be read\. .* The problem: it is not JSON\. See canhazgpu doctor$/v,
	);
	expect(drains).toBe(
		'Warning: The list of GPUs that are out of service cannot be read, so no GPU is in service. The problem: it is a hash, not a string. Put GPUs back into service: canhazgpu admin --undrain IDS',
	);

	// The strictest values apply in the new pool too, until an administrator sets them again.
	expect((await box.run('status')).stderr).toContain(policy);
	expect(await box.run('reserve --nonblock')).toMatchObject({exitCode: 3});
	expect(await box.run('admin --undrain 0,1')).toMatchObject({exitCode: 0});
	expect(await box.run('admin --unset all')).toMatchObject({exitCode: 0});
	expect((await box.run('status')).stderr).not.toContain('Warning');
	expect(await box.run('reserve -g 2 --short')).toMatchObject({exitCode: 0, stdout: '0,1\n'});
});

slowTest('admin --force in another store warns if the former reservations could not be ended', async () => {
	const box = createBox({CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '7'});
	onTestFinished(box.remove);
	await box.run('admin --gpus 3 --provider fake');
	await redis.kill();
	const {exitCode, stderr} = await box.run('admin --gpus 3 --provider fake --store embedded --force');
	await redis.restart();
	expect([exitCode, stderr.split('\n', 1)[0]]).toEqual([
		0,
		`Warning: the reservations in redis localhost:${redis.port}/7 could not be ended: Cannot reach Redis at localhost:${redis.port}: connection refused`,
	]);
});

slowTest('admin --force in a read-only Redis fails, ends no reservation and keeps the former pool', async () => {
	const box = await createEmbeddedBox(3);
	const replica = await startRedis({settings: ['--replicaof', '127.0.0.1', '1']});
	onTestFinished(async () => {
		box.remove();
		await replica.stop();
	});
	await box.run('reserve -g 2');
	expect(
		await box.run('admin --gpus 3 --provider fake --force', {
			CANHAZGPU_STORE: 'redis',
			CANHAZGPU_REDIS_PORT: String(replica.port),
		}),
	).toMatchObject({
		exitCode: 4,
		stdout: '',
		stderr: `Error: Redis at localhost:${replica.port} is a read-only replica\nUse its primary: --redis-host and --redis-port.\n`,
	});
	expect(await box.run('release', {CANHAZGPU_STORE: ''})).toMatchObject({stdout: 'Released 2 GPU(s): [0 1]\n'});
});

slowTest('only admin --force replaces a pool of the Go canhazgpu in Redis by an embedded pool', async () => {
	const box = createBox({CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '8'});
	onTestFinished(box.remove);
	const client = new Redis(redis.port, {db: 8});
	await client.mset('canhazgpu:gpu_count', '2', 'canhazgpu:provider', 'fake');
	client.disconnect();
	await box.run('reserve');
	const words = 'admin --gpus 2 --provider fake --store embedded';
	const location = `redis localhost:${redis.port}/8`;
	expect(await box.run(words)).toEqual({
		exitCode: 1,
		stdout: '',
		stderr: `Error: This machine's GPU pool already exists elsewhere: in ${location}\nNothing was changed. --force creates another pool and redirects everyone to it.\n`,
	});
	expect(await box.run(`${words} --force`)).toEqual({
		exitCode: 0,
		stdout: `Created a pool of 2 GPU(s) (fake) in ${box.poolDirectory}/pool.sqlite\nEnded 1 reservation(s) of the replaced pool\n`,
		stderr: leftBehind(location),
	});
	expect((await box.run('status')).stderr).toMatch(/^Error: The pool that was in redis \S+ is in \S+ now\n/v);
});

test('admin --store embedded creates no second pool while Redis is down or its pool cannot be read', async () => {
	const box = createBox();
	const client = new Redis(redis.port, {db: 0});
	onTestFinished(() => {
		client.disconnect();
		box.remove();
	});
	const words = 'admin --gpus 2 --provider fake --store embedded';
	const refusal = (location: string, problem: string) => ({
		exitCode: 1,
		stdout: '',
		stderr: `Error: This machine's GPU pool may already exist elsewhere: in redis ${location}\n${problem}. Nothing was changed. --force creates another pool and redirects everyone to it.\n`,
	});
	expect(await box.run(words, withoutRedis)).toEqual(
		refusal('localhost:1/0', 'Cannot reach Redis at localhost:1: connection refused'),
	);

	await client.mset('canhazgpu:gpu_count', 'two', 'canhazgpu:provider', 'fake');
	const garbage = await box.run(words, {CANHAZGPU_REDIS_PORT: String(redis.port)});
	expect(garbage).toMatchObject({exitCode: 1, stdout: ''});
	expect(garbage.stderr).toContain(`may already exist elsewhere: in redis localhost:${redis.port}/0\n`);
	await client.flushdb();

	// If no setting names the Redis, it counts only if this account has used it.
	const state = path.join(box.home, '.local/state/canhazgpu', createHost().machineId);
	mkdirSync(state, {recursive: true, mode: 0o700});
	const found = {store: 'redis', host: 'localhost', port: 1, db: 0} as const;
	writePoolRecord(path.join(state, 'found.json'), found, {directoryMode: 0o700, fileMode: 0o600});
	const remembered = await box.run(words);
	expect(remembered).toMatchObject({exitCode: 1, stdout: ''});
	expect(remembered.stderr).toContain('may already exist elsewhere: in redis localhost:1/0\n');
	expect(await box.run(`${words} --force`)).toMatchObject({exitCode: 0});
});

test('admin creates no pool in Redis beside a pool file whose record is missing', async () => {
	const box = await createEmbeddedBox(2);
	const client = new Redis(redis.port, {db: 0});
	onTestFinished(() => {
		client.disconnect();
		box.remove();
	});
	rmSync(path.join(box.poolDirectory, 'pool.json'));
	const settings = {CANHAZGPU_STORE: 'redis', CANHAZGPU_REDIS_PORT: String(redis.port)};
	expect(await box.run('admin --gpus 2 --provider fake', settings)).toMatchObject({
		exitCode: 1,
		stderr: `Error: This machine's GPU pool already exists elsewhere: in ${box.poolDirectory}\nNothing was changed. --force creates another pool and redirects everyone to it.\n`,
	});
	expect(await client.keys('canhazgpu:*')).toEqual([]);
	expect(await box.run('admin --gpus 2 --provider fake --force', settings)).toMatchObject({exitCode: 0});
});

test("admin never adopts or replaces another machine's pool in Redis", async () => {
	const settings = {CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '9'};
	const location = `redis localhost:${redis.port}/9`;
	const owner = createBox(settings);
	const box = createBox();
	const client = new Redis(redis.port, {db: 9});
	onTestFinished(() => {
		client.disconnect();
		owner.remove();
		box.remove();
	});
	await owner.run('admin --gpus 3 --provider fake');
	await owner.run('reserve -g 2');
	await client.set('canhazgpu:machine', '{"machine_id":"other","boot_id":"then"}');

	const refusal = `Error: The pool in ${location} belongs to another machine (other)\n`;
	for (const gpuCount of [3, 4]) {
		const {exitCode, stdout, stderr} = await box.run(`admin --gpus ${gpuCount} --provider fake`, settings);
		expect({exitCode, stdout}).toEqual({exitCode: 4, stdout: ''});
		expect(stderr).toContain(refusal);
	}

	// A refused move keeps the former pool open.
	expect(await box.run('admin --gpus 2 --provider fake --store embedded')).toMatchObject({exitCode: 0});
	const forced = await box.run('admin --gpus 4 --provider fake --force', {...settings, CANHAZGPU_STORE: 'redis'});
	expect(forced).toMatchObject({exitCode: 4, stdout: ''});
	expect(forced.stderr).toContain(refusal);
	expect(forced.stderr).toContain('--redis-db N');
	expect(await box.run('reserve -g 2 --short')).toMatchObject({exitCode: 0, stdout: '0,1\n'});

	// The command in the hint, for a machine whose id has changed.
	expect(forced.stderr).toContain(`redis-cli -p ${redis.port} -n 9 del canhazgpu:machine\n`);
	await client.del('canhazgpu:machine');
	expect(await owner.run('release')).toMatchObject({stdout: 'Released 2 GPU(s): [0 1]\n'});
});

test('admin does not adopt a pool that was closed by a move', async () => {
	const settings = {CANHAZGPU_STORE: 'redis', CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '10'};
	const box = createBox();
	onTestFinished(box.remove);
	await box.run('admin --gpus 2 --provider fake', settings);
	await box.run('admin --gpus 2 --provider fake --store embedded --force');
	rmSync(path.join(box.poolDirectory, 'pool.json'));
	const {exitCode, stderr} = await box.run('admin --gpus 2 --provider fake', settings);
	expect(exitCode).toBe(1);
	expect(stderr).toContain(`Error: This machine's GPU pool already exists elsewhere: in ${box.poolDirectory}\n`);
	expect(existsSync(path.join(box.poolDirectory, 'pool.json'))).toBe(false);
});

test('without pool.json, no command uses or makes another pool, and admin finds the reservations again', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	await box.run('reserve');
	rmSync(path.join(box.poolDirectory, 'pool.json'));
	const problem = `Error: There is a GPU pool in ${box.poolDirectory}/pool.sqlite, but ${box.poolDirectory}/pool.json, which says where the GPU pool is, is missing\nCreate that file again, with all reservations of the pool: sudo canhazgpu admin --store embedded\n`;
	for (const command of ['status', 'reserve', 'top']) {
		expect(await box.run(command), command).toEqual({exitCode: 4, stdout: '', stderr: problem});
	}

	const {exitCode, stderr} = await box.run('admin --store embedded --gpus 3 --provider fake');
	expect([exitCode, stderr]).toEqual([
		1,
		expect.stringContaining('keep its reservations: sudo canhazgpu admin --store embedded --gpus 2 --provider fake.'),
	]);
	expect(await box.run('admin --store embedded --gpus 2 --provider fake')).toMatchObject({exitCode: 0});
	expect((await box.run('reserve --short')).stdout).toBe('1\n');
});

test('after the machine-id has changed, the error names admin --force, which replaces the embedded pool', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const database = new DatabaseSync(path.join(box.poolDirectory, 'pool.sqlite'));
	database.exec('UPDATE pool SET raw = \'{"machine_id":"earlier","boot_id":"then"}\' WHERE name = \'machine\'');
	database.close();
	const {exitCode, stderr} = await box.run('status');
	expect(exitCode).toBe(4);
	expect(stderr).toContain('belongs to another machine (earlier)');
	expect(stderr).toContain(
		'Only if the id of this machine has changed, replace the pool and end all its reservations: sudo canhazgpu admin --force\n',
	);
	expect(await box.run('admin --gpus 2 --provider fake --force')).toMatchObject({exitCode: 0});
	expect(await box.run('status')).toMatchObject({exitCode: 0});
});

/** A mount namespace in which a directory is read-only, even for root. */
const readOnly = (directory: string): NamespaceOptions => ({
	flags: ['--mount'],
	prepare: `mount --bind ${directory} ${directory} && mount -o remount,bind,ro ${directory}`,
});

describe.skipIf(!canEnter(readOnly('/var')))('admin with a read-only pool directory', () => {
	const redisFlags = (db: number) => `--store redis --redis-port ${redis.port} --redis-db ${db}`;

	test('warns that other accounts do not find the first pool, and works again once the directory is writable', async () => {
		const box = createBox();
		onTestFinished(box.remove);
		mkdirSync(box.poolDirectory);
		const words = `admin --gpus 2 --provider fake ${redisFlags(11)}`;
		expect(await runIn(readOnly(box.poolDirectory), box, words)).toEqual({
			exitCode: 0,
			stdout: `Created a pool of 2 GPU(s) (fake) in redis localhost:${redis.port}/11\n`,
			stderr: `Warning: without settings, other accounts do not find this pool, because ${box.poolDirectory}/pool.json could not be written: the file system is read-only. Check the space, the inodes and the permissions of ${box.poolDirectory}, and repeat this command.\n`,
		});
		expect(await box.run(words)).toMatchObject({exitCode: 0, stderr: ''});
		expect(existsSync(path.join(box.poolDirectory, 'pool.json'))).toBe(true);
	});

	slowTest('does not move the pool, and ends no reservation', async () => {
		const box = await createEmbeddedBox(2);
		onTestFinished(box.remove);
		await box.run('reserve');
		const words = `admin --gpus 2 --provider fake --force ${redisFlags(12)}`;
		expect(await runIn(readOnly(box.poolDirectory), box, words)).toEqual({
			exitCode: 4,
			stdout: '',
			stderr: `Error: Cannot write ${box.poolDirectory}/pool.json, which says where the GPU pool is: the file system is read-only\nNothing was changed. Check the space, the inodes and the permissions of ${box.poolDirectory}, and repeat this command.\n`,
		});
		expect(await box.run('release')).toMatchObject({stdout: 'Released 1 GPU(s): [0]\n'});
		expect(readdirSync(box.poolDirectory).filter((name) => name.includes('json'))).toEqual(['pool.json']);
	});
});

test('an admin command that was killed during a move can be repeated, also with another target', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	await box.run('admin --set limits.max-gpus=1');
	const store = await openStoreOf(box);
	const host = createHost();
	const at = (db: number) => `redis localhost:${redis.port}/${db}`;
	// In a container, the machine id differs, but the boot id is the same.
	await closePool({store, host: {...host, machineId: 'container'}, clock: createClock()}, at(13));
	await store.close();
	expect((await box.run('status')).stderr).toBe(
		`Error: The pool that was in ${box.poolDirectory}/pool.sqlite is in ${at(13)} now\n${movedHint}\n`,
	);
	const words = `admin --gpus 2 --provider fake --force --store redis --redis-port ${redis.port} --redis-db 1`;
	expect(await box.run(words)).toEqual({
		exitCode: 0,
		stdout: `Created a pool of 2 GPU(s) (fake) in ${at(1)}\n`,
		stderr: `The policy was moved. ${leftBehind(box.poolDirectory)}`,
	});
	expect((await box.run('admin --policy', {CANHAZGPU_STORE: ''})).stdout).toMatch(/limits\.max-gpus +│ 1/v);
	expect((await peek(box)).pool?.machine?.movedTo).toBe(at(1));
});
