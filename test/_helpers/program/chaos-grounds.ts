/** The stores of the chaos test, a real Redis and a real SQLite database, and the faults that can happen to each. */
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {copyFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {expect, onTestFinished} from 'vitest';
import {ensureProgram, installPackage} from '../packages/apt.js';
import {startRedis} from '../store/redis-server.js';
import {openRequestProxy, type CommitFate} from '../store/request-proxy.js';
import {createShiftedClock} from '../machine/compiled/shift-clock.js';
import {freshEmbeddedBox, freshRedisBox} from './processes.js';
import type {Box} from './cli.js';

/** Causes one fault, and returns when the fault has ended. The result is whether it affected anything. */
export type Fault = () => Promise<boolean> | boolean;

export type ChaosGround = {
	readonly box: Box;
	/** Variables for a new process that choose its way to the store and its clock. */
	readonly environment: () => Readonly<Record<string, string>>;
	/** Faults that lose nothing that was committed. */
	readonly faults: Readonly<Record<string, Fault>>;
	/** Faults that lose everything that was committed, or everything since a backup. */
	readonly losses: Readonly<Record<string, Fault>>;
	/** Makes the store's I/O fail in the running processes `pids`. Returns whether it did. */
	readonly fail: (pids: readonly number[]) => Promise<boolean>;
};

/** Returns a function that picks an item. `random` returns numbers from 0 to 1. */
export const pickBy =
	(random: () => number) =>
	<Item>(items: readonly Item[]): Item =>
		items[Math.floor(random() * items.length)]!;

/** Small and large clock jumps in both directions. Reservations in these tests last longer than any two jumps together. */
const jumpsSeconds = [-7200, -60, 60, 7200];

const fates: readonly CommitFate[] = [
	'arrives before the next',
	'arrives after the next',
	'arrives when told',
	'is carried out and its connection is cut',
	'is carried out and not answered',
	'never arrives',
];

/** Makes a system call of a process fail for a moment. Returns whether it did. strace writes its output to the file `log`. */
async function inject(pid: number, words: readonly string[], forMs: number, log: string): Promise<boolean> {
	const tracer = spawn('strace', ['-f', '-qq', '-o', log, '-p', String(pid), ...words], {stdio: 'ignore'});
	const ended = once(tracer, 'exit');
	await sleep(forMs);
	tracer.kill();
	// If the process ends at that moment, strace can hang and keep the process from ending.
	const limit = setTimeout(() => {
		tracer.kill('SIGKILL');
	}, 2000);
	await ended;
	clearTimeout(limit);
	return readFileSync(log, 'utf8').includes('(INJECTED)');
}

const isFarFromNow = (seconds: number): boolean => Math.abs(seconds - Date.now() / 1000) > 30;

export async function chaosOnRedis(gpuCount: number, random: () => number): Promise<ChaosGround> {
	const pick = pickBy(random);
	const clock = createShiftedClock();
	const server = await startRedis({isDurable: true, environment: clock.environment});
	const proxy = await openRequestProxy(server.port);
	const box = await freshRedisBox(server.port, gpuCount);
	const client = new Redis(server.port, {retryStrategy: () => 50, maxRetriesPerRequest: null});
	client.on('error', () => undefined);
	onTestFinished(async () => {
		client.disconnect();
		await proxy.close();
		await server.stop();
	});
	const files = path.join(server.directory, 'appendonlydir');
	const copy = path.join(server.directory, 'copy');
	cpSync(files, copy, {recursive: true});
	const restart = async (): Promise<true> => {
		await server.restart();
		return true;
	};

	return {
		box,
		environment: () => ({CANHAZGPU_REDIS_PORT: String(pick([server.port, proxy.port]))}),
		faults: {
			'script flush': async () => (await client.script('FLUSH')) === 'OK',
			'client kill': async () => Number(await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')) > 0,
			'kill redis': restart,
			async 'stop redis for a while'() {
				process.kill(server.pid(), 'SIGSTOP');
				await sleep(1500);
				return process.kill(server.pid(), 'SIGCONT');
			},
			...Object.fromEntries(
				fates.map((fate) => [
					`a commit ${fate}`,
					async () => {
						proxy.meet([fate, 'prompt', pick(fates)]);
						await sleep(1500);
						const hasMet = proxy.commits() > 0;
						await proxy.deliver();
						return hasMet;
					},
				]),
			),
			async 'clock step'() {
				clock.jump(pick(jumpsSeconds));
				await sleep(2000);
				const [seconds] = await client.time();
				clock.jump(0);
				return isFarFromNow(Number(seconds));
			},
			async 'copy the data'() {
				await server.kill();
				rmSync(copy, {recursive: true});
				cpSync(files, copy, {recursive: true});
				return restart();
			},
		},
		losses: {
			async 'empty store'() {
				await server.kill();
				rmSync(files, {recursive: true});
				return restart();
			},
			async 'older snapshot'() {
				await server.kill();
				rmSync(files, {recursive: true});
				cpSync(copy, files, {recursive: true});
				return restart();
			},
		},
		async fail() {
			const words = ['-e', 'inject=write,writev,fdatasync,fsync:error=EIO:when=3+'];
			// A server that cannot write its log to the disk exits.
			const hasFailed = await inject(server.pid(), words, 400, path.join(server.directory, 'trace'));
			await restart();
			return hasFailed;
		},
	};
}

export async function chaosOnFiles(gpuCount: number, random: () => number): Promise<ChaosGround> {
	const pick = pickBy(random);
	const clock = createShiftedClock();
	const box = await freshEmbeddedBox(gpuCount);
	const file = path.join(box.poolDirectory, 'pool.sqlite');
	const copy = path.join(box.home, 'copy.sqlite');

	/** Runs an action while no process is in a transaction. An administrator who restores a backup must do the same. */
	const alone = (work: () => void): true => {
		const gate = new DatabaseSync(`${file}-lock`, {timeout: 60_000});
		gate.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
		try {
			work();
			return true;
		} finally {
			gate.exec('ROLLBACK');
			gate.close();
		}
	};

	const copyNow = (): true =>
		alone(() => {
			copyFileSync(file, copy);
		});
	copyNow();
	return {
		box,
		environment: () => clock.environment,
		faults: {
			async 'clock step'() {
				clock.jump(pick(jumpsSeconds));
				await sleep(2000);
				const shown = execFileSync('date', ['+%s'], {env: {...process.env, ...clock.environment}, encoding: 'utf8'});
				clock.jump(0);
				return isFarFromNow(Number(shown));
			},
			'copy the data': copyNow,
			'journal removed': () =>
				alone(() => {
					rmSync(`${file}-wal`);
				}),
		},
		losses: {
			'older snapshot': () =>
				alone(() => {
					copyFileSync(copy, `${file}.new`);
					renameSync(`${file}.new`, file);
				}),
			async 'replaced file'() {
				alone(() => {
					renameSync(file, `${file}.damaged`);
				});
				const made = await box.run(['admin', '--store', 'embedded', '--gpus', String(gpuCount), '--provider', 'fake']);
				expect(made.stderr).not.toMatch(/^ +at |is a bug/mv);
				return true;
			},
		},
		async fail(pids) {
			if (pids.length === 0) {
				return false;
			}

			const files = readdirSync(box.poolDirectory).flatMap((name) =>
				name.startsWith('pool.sqlite') ? ['-P', path.join(box.poolDirectory, name)] : [],
			);
			const call = pick(['pread64', 'pwrite64', 'fdatasync,fsync', 'openat,stat,newfstatat', 'ftruncate']);
			return inject(pick(pids), [...files, '-e', `inject=${call}:error=EIO`], 1000, path.join(box.home, 'trace'));
		},
	};
}

/** Makes sure that strace is installed and can make system calls fail. */
export function ensureTracer(): void {
	const find = (): true | undefined => (existsSync('/usr/bin/strace') ? true : undefined);
	ensureProgram({name: 'strace', install: 'apt-get install strace'}, find, [
		() => {
			installPackage('strace');
		},
	]);
}
