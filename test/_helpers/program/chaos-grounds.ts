/** Pools for the chaos test: a real Redis, and a real database in files, with what can go wrong with each of them. */
import {spawn} from 'node:child_process';
import {copyFileSync, cpSync, existsSync, readdirSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {expect, onTestFinished} from 'vitest';
import {startRedis} from '../store/redis-server.js';
import {openRequestProxy, type CommitFate} from '../store/request-proxy.js';
import {createShiftedClock} from '../machine/compiled/shift-clock.js';
import {freshEmbeddedBox, freshRedisBox} from './processes.js';
import type {Box} from './cli.js';

/** What goes wrong once; it returns when that is over. */
export type Fault = () => Promise<unknown> | void;

export type ChaosGround = {
	readonly box: Box;
	/** What a new process is told besides: by which way it reaches the store, and what time it believes it is. */
	readonly environment: () => Readonly<Record<string, string>>;
	/** After these everything that was committed is still there. */
	readonly faults: Readonly<Record<string, Fault>>;
	/** These lose what was committed: all of it, or what came after a copy was made. */
	readonly losses: Readonly<Record<string, Fault>>;
	/** Has processes meet an I/O error in the store while they run. `pids` are those that run now. */
	readonly fail: (pids: readonly number[]) => Promise<void>;
};

export const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;

/** To both sides, by little and by much; no reservation of these tests ends within the sum of two of them. */
const jumpsSeconds = [-7200, -60, 60, 7200];

const fates: readonly CommitFate[] = [
	'arrives before the next',
	'arrives after the next',
	'arrives when told',
	'is done and cut off',
	'is done and not answered',
	'never arrives',
];

/** Has a system call of a process fail for a moment. */
async function inject(pid: number, words: readonly string[], forMs: number): Promise<void> {
	const tracer = spawn('strace', ['-f', '-qq', '-o', '/dev/null', '-p', String(pid), ...words], {stdio: 'ignore'});
	await sleep(forMs);
	tracer.kill();
}

export async function chaosOnRedis(gpuCount: number): Promise<ChaosGround> {
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
	const restart = async (): Promise<void> => {
		await server.restart();
	};

	return {
		box,
		environment: () => ({CANHAZGPU_REDIS_PORT: String(pick([server.port, proxy.port]))}),
		faults: {
			'script flush': async () => client.script('FLUSH'),
			'client kill': async () => client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
			'kill redis': restart,
			async 'stop redis for a while'() {
				process.kill(server.pid(), 'SIGSTOP');
				await sleep(1500);
				process.kill(server.pid(), 'SIGCONT');
			},
			async 'late and doubled requests'() {
				proxy.meet([pick(fates), 'prompt', pick(fates)]);
				await sleep(1500);
				await proxy.deliver();
			},
			async 'clock step'() {
				clock.jump(pick(jumpsSeconds));
				await sleep(2000);
				clock.jump(0);
			},
			async 'copy the data'() {
				await server.kill();
				rmSync(copy, {recursive: true});
				cpSync(files, copy, {recursive: true});
				await restart();
			},
		},
		losses: {
			async 'empty store'() {
				await server.kill();
				rmSync(files, {recursive: true});
				await restart();
			},
			async 'older snapshot'() {
				await server.kill();
				rmSync(files, {recursive: true});
				cpSync(copy, files, {recursive: true});
				await restart();
			},
		},
		async fail() {
			// A server that cannot write its log to the disk ends itself.
			await inject(server.pid(), ['-e', 'inject=write,writev,fdatasync,fsync:error=EIO:when=3+'], 400);
			await restart();
		},
	};
}

export async function chaosOnFiles(gpuCount: number): Promise<ChaosGround> {
	const clock = createShiftedClock();
	const box = await freshEmbeddedBox(gpuCount);
	const file = path.join(box.poolDirectory, 'pool.sqlite');
	const copy = path.join(box.home, 'copy.sqlite');

	/** Does this while no process is in the middle of a transaction, as an administrator who restores a backup must. */
	const alone = async (work: () => void): Promise<void> => {
		const gate = new DatabaseSync(`${file}-lock`, {timeout: 60_000});
		gate.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
		try {
			work();
		} finally {
			gate.exec('ROLLBACK');
			gate.close();
		}
	};

	const copyNow: Fault = async () =>
		alone(() => {
			copyFileSync(file, copy);
		});
	await copyNow();
	return {
		box,
		environment: () => clock.environment,
		faults: {
			async 'clock step'() {
				clock.jump(pick(jumpsSeconds));
				await sleep(2000);
				clock.jump(0);
			},
			'copy the data': copyNow,
			async 'journal removed'() {
				await alone(() => {
					rmSync(`${file}-wal`, {force: true});
				});
			},
		},
		losses: {
			async 'older snapshot'() {
				await alone(() => {
					copyFileSync(copy, `${file}.new`);
					renameSync(`${file}.new`, file);
				});
			},
			async 'replaced file'() {
				await alone(() => {
					renameSync(file, `${file}.damaged`);
				});
				const made = await box.run(['admin', '--store', 'embedded', '--gpus', String(gpuCount), '--provider', 'fake']);
				expect(made.stderr).not.toMatch(/^ +at |is a bug/mv);
			},
		},
		async fail(pids) {
			if (pids.length === 0) {
				return;
			}

			const files = readdirSync(box.poolDirectory).flatMap((name) =>
				name.startsWith('pool.sqlite') ? ['-P', path.join(box.poolDirectory, name)] : [],
			);
			const call = pick(['pread64', 'pwrite64', 'fdatasync,fsync', 'openat,stat,newfstatat', 'ftruncate']);
			await inject(pick(pids), [...files, '-e', `inject=${call}:error=EIO`], 1000);
		},
	};
}

/** Whether this machine can have system calls fail. */
export const canFail = existsSync('/usr/bin/strace');
