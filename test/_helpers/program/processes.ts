/** Starts the program in background processes, and reads what they leave in the store. */
import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {onTestFailed, onTestFinished} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import type {Snapshot, UsageRecord} from '../../../source/core/model/types.js';
import {createClock} from '../../../source/host/clock.js';
import {createHost} from '../../../source/host/host.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {lockHolder} from '../../../source/store/sqlite/lock-holder.js';
import {eventually} from '../eventually.js';
import {isLeased} from '../leased.js';
import {createEmbeddedBox, createRedisBox, starter, starterText, type Box, type Ran} from './cli.js';

export type Started = {
	readonly pid: number;
	readonly child: ChildProcess;
	readonly stdout: () => string;
	readonly stderr: () => string;
	readonly says: (pattern: RegExp, timeoutMs?: number) => Promise<void>;
	readonly kill: (signal: NodeJS.Signals) => void;
	/** Undefined if a signal ended the process. */
	readonly ended: Promise<Ran & {readonly signal: NodeJS.Signals | undefined}>;
};

/**
Starts `canhazgpu` in a box, without a terminal. The process is killed when the test ends.

@param command - The command that starts the program. Default: the built program.
*/
export function start(
	box: Box,
	words: string | readonly string[],
	environment: Readonly<Record<string, string>> = {},
	[command, ...commandText]: readonly [string, ...string[]] = [starter, ...starterText],
): Started {
	const child = spawn(command, [...commandText, ...(typeof words === 'string' ? words.split(' ') : words)], {
		cwd: box.home,
		env: {...box.environment, ...environment},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		stdout += text;
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	onTestFailed(() => {
		const end = child.exitCode ?? child.signalCode ?? 'it runs';
		process.stderr.write(`canhazgpu ${words.toString()} (${end}) said:\n${stdout}${stderr}\n`);
	});
	onTestFinished(() => {
		child.kill('SIGKILL');
		child.stdout.destroy();
		child.stderr.destroy();
	});
	const end = async () => {
		// `close` would come too late, because a job that outlives its wrapper keeps the pipes open.
		await once(child, 'exit');
		await Promise.race([once(child, 'close'), sleep(200)]);
		return {exitCode: child.exitCode ?? undefined, signal: child.signalCode ?? undefined, stdout, stderr};
	};

	return {
		pid: child.pid!,
		child,
		stdout: () => stdout,
		stderr: () => stderr,
		async says(pattern, timeoutMs) {
			await eventually(() => {
				if (!pattern.test(stderr)) {
					throw new Error(`It does not say ${String(pattern)} but: ${stderr}`);
				}

				return true;
			}, timeoutMs);
		},
		kill(signal) {
			child.kill(signal);
		},
		ended: end(),
	};
}

/**
Starts `canhazgpu` as a job of a shell with job control, as at a terminal. Without job control the kernel may ignore SIGTSTP: it does not stop a
process that nobody could continue.
*/
export async function startAsJob(box: Box, words: string): Promise<Started> {
	// Not `wait -f`: bash may lose track of a stopped and continued job and report it without an end. A plain `wait` also returns for a stopped job
	// (148 for SIGTSTP, 147 for SIGSTOP). Not in a loop: bash leaves it when a job stops.
	const script = [
		'set -m; "$@" & echo "job $!" >&2',
		'settle() { wait $!; code=$?; case $code in 147|148) sleep 0.05; settle;; esac; }',
		'settle; exit $code',
	].join('\n');
	const started = start(box, words, {}, ['bash', '-c', script, 'bash', starter, ...starterText]);
	await started.says(/^job \d+$/mv);
	const pid = Number(/^job (?<pid>\d+)$/mv.exec(started.stderr())!.groups!['pid']);
	const kill = (signal: NodeJS.Signals): void => {
		if (isAlive(pid)) {
			process.kill(pid, signal);
		}
	};

	onTestFinished(() => {
		kill('SIGKILL');
	});
	return {...started, pid, kill};
}

/**
Stops a process with SIGSTOP. Repeats this until the process is stopped outside of a transaction of the embedded pool, which would block all
others.
*/
export async function stopBetween(box: Box, {pid}: Pick<Started, 'pid'>): Promise<void> {
	const file = path.join(box.poolDirectory, 'pool.sqlite');
	await eventually(async () => {
		process.kill(pid, 'SIGSTOP');
		await eventually(() => /^State:\s*T/mv.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
		if (!existsSync(file) || lockHolder([file, `${file}-lock`])?.pid !== pid) {
			return true;
		}

		process.kill(pid, 'SIGCONT');
		return false;
	});
}

/** Opens the pool of a box like the program. */
export async function openStoreOf(box: Box): Promise<Store> {
	const {CANHAZGPU_REDIS_PORT: port} = box.environment;
	const store =
		port === undefined
			? await openSqliteStore({path: path.join(box.poolDirectory, 'pool.sqlite'), create: false})
			: await openRedisStore({host: '127.0.0.1', port: Number(port), db: 0, keepReconnecting: false});
	onTestFinished(async () => store.close());
	return store;
}

/** Creates a box with an empty Redis, for one test. */
export async function freshRedisBox(port: number, gpuCount?: number): Promise<Box> {
	const client = new Redis(port);
	await client.flushall();
	client.disconnect();
	return untilTestEnds(await createRedisBox(port, gpuCount));
}

export const freshEmbeddedBox = async (gpuCount?: number): Promise<Box> =>
	untilTestEnds(await createEmbeddedBox(gpuCount));

function untilTestEnds(box: Box): Box {
	onTestFinished(() => {
		box.remove();
	});
	return box;
}

/** Reads the store of a box without changing it. */
export async function peek(box: Box): Promise<Snapshot> {
	const store = await openStoreOf(box);
	const snapshot = await store.read();
	await store.close();
	return snapshot;
}

/** Returns the usage records in the order of their ends. The stores keep no order within a second. */
export async function recordsOf(box: Box): Promise<readonly UsageRecord[]> {
	const store = await openStoreOf(box);
	const records = await Array.fromAsync(store.history(0, 4_000_000_000));
	await store.close();
	return records.toSorted((a, b) => a.endTime - b.endTime);
}

/** Lists the holder of each GPU after a new read of the store, such as `0:RUN 1:- ...`. */
export async function holders(box: Box): Promise<string> {
	const store = await openStoreOf(box);
	const {gpus} = await readCurrent({store, host: createHost(), clock: createClock()});
	await store.close();
	return gpus.map((record) => `${record.index}:${isLeased(record) ? record.lease.type.toUpperCase() : '-'}`).join(' ');
}

/** Waits for the file that a job writes, and returns its lines. */
export async function fileIn(box: Box, name: string): Promise<string> {
	const file = path.join(box.home, name);
	await eventually(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
	return readFileSync(file, 'utf8');
}

export function isAlive(pid: number): boolean {
	try {
		// A zombie that nobody reaps counts as ended.
		return !/^State:\s*[XZ]/mv.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	} catch {
		return false;
	}
}
