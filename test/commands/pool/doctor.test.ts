/** `doctor` with real stores. */
import {Buffer} from 'node:buffer';
import {execFileSync, spawnSync} from 'node:child_process';
import {cpSync} from 'node:fs';
import {open, writeFile} from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {Redis} from 'ioredis';
import {expect, onTestFinished, test} from 'vitest';
import {isRoot} from '../../_helpers/machine/accounts.js';
import {createBox, program, starterText} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase, isLong, slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

const isBinary = starterText.length === 0;

type Report = {findings: ReadonlyArray<{check: string; level: string; words: string; mend?: string}>};

test('doctor warns about a Redis that does not persist data', async () => {
	const box = await freshRedisBox(redis.port, 2);
	const {stdout, stderr, exitCode} = await box.run('doctor');
	expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
	const lines = stdout.trim().split('\n');
	expect(lines[0]).toMatch(/^[⚠✓] store {7}redis \S+ answers in \d+ ms$/v);
	// On a loaded machine, a hint about the slow answer comes between.
	expect(stdout).toContain(
		`⚠ store       appendonly is off: a crash of Redis would lose the newest reservations\n              Turn it on: redis-cli -p ${redis.port} config set appendonly yes, and set the same in redis.conf\n`,
	);
	expect(stdout).toContain('✓ pool        2 GPU(s), fake\n✓ provider    simulated: 2 GPU(s)\n✓ permissions ');
	expect(stdout).toMatch(/✓ versions {4}canhazgpu \S+, (?:Node|Bun) \S+, Redis \d+\.\d+/v);
});

test('doctor on a Redis without a pool says how to create a pool and that no GPUs were found', async () => {
	const box = createBox({CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '7', PATH: '/nowhere'});
	onTestFinished(box.remove);
	await box.run('doctor');
	const {stdout, exitCode} = await box.run('doctor');
	expect(exitCode).toBe(1);
	expect(stdout).toMatch(/^✗ pool {8}There is no GPU pool in redis \S+\n +Make one with: canhazgpu admin$/mv);
	expect(stdout).toContain('⚠ provider    No GPUs were found here: ');
	expect(stdout).not.toContain('simulated');
});

test.each(
	firstCase([
		['canhazgpu:notices', 'The record of notices cannot be read', 0],
		['canhazgpu:drain', 'The record of drained GPUs cannot be read', 1],
		['canhazgpu:policy', 'The record of the policy cannot be read', 1],
		['canhazgpu:trail', 'The GPU pool is damaged: canhazgpu:trail', 0],
		['canhazgpu:usage_history_sorted', 'The GPU pool is damaged: canhazgpu:usage_history_sorted', 1],
	]),
)('doctor reports the Redis key %s if its type is wrong and suggests a rename', async (key, words, exitCode) => {
	const box = await freshRedisBox(redis.port, 2);
	const client = new Redis(redis.port);
	await client.del(key);
	await client.hset(key, 'a', 1);
	client.disconnect();
	const {stdout, ...ran} = await box.run('doctor');
	expect(ran).toEqual({stderr: '', exitCode});
	expect(stdout).toMatch(new RegExp(`^${exitCode === 0 ? '⚠' : '✗'} store +${words}.*, not a `, 'mv'));
	expect(stdout).toContain(`redis-cli -p ${redis.port} RENAME ${key} ${key}.damaged`);
	// Doctor itself has not renamed the key.
	expect((await box.run('doctor')).stdout).toContain('.damaged');
});

test.each([
	['may not use ZADD', '-zadd', []],
	['may not use channels', 'resetchannels', []],
	['lacks a command because DEL is renamed', '+del', ['--rename-command', 'DEL', '']],
])('doctor reports an account that %s', async (_, right, settings) => {
	const server = await startRedis({settings});
	onTestFinished(async () => server.stop());
	const client = new Redis(server.port);
	await client.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', right);
	client.disconnect();
	const box = createBox({
		CANHAZGPU_REDIS_PORT: String(server.port),
		CANHAZGPU_REDIS_USERNAME: 'limited',
		CANHAZGPU_REDIS_PASSWORD: 'secret',
	});
	onTestFinished(box.remove);
	const {stdout, exitCode} = await box.run('doctor');
	expect(exitCode).toBe(1);
	const problem = settings.length === 0 ? 'does not give this account all the permissions' : 'lacks a command';
	expect(stdout).toMatch(new RegExp(String.raw`^✗ permissions Redis at \S+ ${problem} that canhazgpu needs$`, 'mv'));
});

test('doctor --json describes an embedded pool', async () => {
	const box = await freshEmbeddedBox(3);
	const {stdout, exitCode} = await box.run('doctor --json');
	expect(exitCode).toBe(0);
	const {findings} = JSON.parse(stdout) as Report;
	expect(findings.filter(({level}) => level === 'error')).toEqual([]);
	expect(findings).toContainEqual({check: 'pool', level: 'ok', words: '3 GPU(s), fake'});
	expect(findings.at(-1)?.words).toMatch(/SQLite 3\.\d+/v);
});

test('doctor exits with 1 for a broken GPU', async () => {
	const box = await freshEmbeddedBox(2);
	const file = `${box.home}/scenario.yaml`;
	await writeFile(file, 'failures: [{gpu: 1, words: GPU is lost}]');
	const {stdout, exitCode} = await box.run('doctor', {CANHAZGPU_SIMULATED_SCENARIO: file});
	expect(exitCode).toBe(1);
	expect(stdout).toContain('✗ gpus        GPU 1: GPU is lost\n');
});

test('doctor reports an unreachable Redis and still looks for GPUs', async () => {
	const box = createBox({CANHAZGPU_REDIS_PORT: '1', PATH: '/nowhere'});
	onTestFinished(box.remove);
	const {stdout, exitCode} = await box.run('doctor');
	expect(exitCode).toBe(1);
	expect(stdout).toMatch(/^✗ store {7}Cannot reach Redis at localhost:1: /v);
	expect(stdout).toContain(
		'⚠ provider    No GPUs were found here: None of nvidia-smi, amd-smi and rocm-smi is in PATH.\n',
	);
});

slowTest('the commands that doctor suggests repair damaged records of an embedded pool', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('admin --drain 1');
	const database = new DatabaseSync(path.join(box.poolDirectory, 'pool.sqlite'));
	database.exec("INSERT INTO gpus VALUES (0, 'x'); UPDATE pool SET raw = 'x' WHERE name = 'drains'");
	database.close();
	const {stdout} = await box.run('doctor');
	const {file, statement} =
		/^ +Remove that record alone, as its owner: sqlite3 (?<file>\S+) "(?<statement>.*)" && canhazgpu status\. /mv.exec(
			stdout,
		)!.groups!;
	expect(stdout).toMatch(/^ +An administrator can return the others to service: canhazgpu admin --undrain IDS\. /mv);
	const again = new DatabaseSync(file!);
	again.exec(statement!);
	again.close();
	await box.run('admin --undrain 0');
	expect((await box.run('doctor')).stdout).not.toContain('✗');
	expect(await box.run('reserve -g 2 --nonblock')).toMatchObject({exitCode: 3});
	expect((await box.run('reserve --short --nonblock')).stdout).toBe('0\n');
});

test('doctor reports a damaged database', async () => {
	const box = await freshEmbeddedBox(2);
	const file = await open(`${box.poolDirectory}/pool.sqlite`, 'r+');
	const {size} = await file.stat();
	// Overwrites all pages after the first, which identifies the database.
	await file.write(Buffer.alloc(Math.max(0, size - 4096), 0x5a), 0, undefined, 4096);
	await file.close();
	const {stdout, exitCode} = await box.run('doctor');
	expect(exitCode).toBe(1);
	expect(stdout).toMatch(/^✗ store /mv);
});

test.runIf(isLong && isRoot && !isBinary)(
	'doctor warns root if other accounts cannot run the program and suggests a command that fixes the permissions',
	async () => {
		const box = await freshEmbeddedBox(2);
		const copy = path.join(box.home, 'installed');
		cpSync(path.dirname(program), path.join(copy, 'dist'), {recursive: true});
		const doctor = () =>
			spawnSync(process.execPath, [path.join(copy, 'dist/cli.js'), 'doctor'], {env: box.environment, encoding: 'utf8'});
		const finding =
			/^⚠ permissions Other accounts cannot run this program, because they cannot read (?<part>\S+)\n +(?<fix>\S.*)$/mv;
		execFileSync('chmod', ['755', box.home]);
		execFileSync('chmod', ['-R', 'u=rwX,go=', copy]);
		const {part, fix} = finding.exec(doctor().stdout)!.groups!;
		expect({part, fix}).toEqual({part: copy, fix: `chmod -R go+rX ${copy}`});
		execFileSync('sh', ['-c', fix!]);
		expect(doctor().stdout).not.toContain('Other accounts');
		execFileSync('chmod', ['700', box.home]);
		expect(finding.exec(doctor().stdout)!.groups).toMatchObject({
			part: box.home,
			fix: 'Install a copy for everybody: canhazgpu help setup',
		});
	},
);
