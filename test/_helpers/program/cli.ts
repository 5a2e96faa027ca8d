/** Runs the built program like a user, in its own home directory and without a pool. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {createPool} from '../../../source/core/operations/pool/create-pool.js';
import {accountName} from '../../../source/core/rules/leases/ownership.js';
import type {Store} from '../../../source/core/model/ports.js';
import type {PoolRecord} from '../../../source/core/model/types.js';
import {createClock} from '../../../source/host/clock.js';
import {createHost} from '../../../source/host/host.js';
import {writePoolRecord} from '../../../source/store/pool-records.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {patienceMs} from '../eventually.js';

export const program = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/** The shell script that npm installs as `canhazgpu`. */
export const launcher = fileURLToPath(new URL('../../../source/launcher.sh', import.meta.url));

const binary = process.env['CANHAZGPU_TEST_BINARY'];

/** The command that starts the built program, or the binary that CANHAZGPU_TEST_BINARY names. */
export const [starter, ...starterText]: readonly [string, ...string[]] =
	binary === undefined ? [process.execPath, program] : [path.resolve(binary)];

export type Ran = {readonly exitCode: number | undefined; readonly stdout: string; readonly stderr: string};

export type Box = {
	/** The home and working directory. */
	readonly home: string;
	/** The location of the shared pool. */
	readonly poolDirectory: string;
	readonly environment: Readonly<Record<string, string>>;
	/** Runs a command line, such as `box.run('reserve --gpus 2')`. Use an array if an argument contains blanks. */
	readonly run: (words: string | readonly string[], environment?: Readonly<Record<string, string>>) => Promise<Ran>;
	readonly remove: () => void;
};

/** A Redis port on which nothing listens, so that tests never use the Redis of this machine. */
const nobodyListens = '1';

function sharedCache(): string {
	const directory = path.join(tmpdir(), 'cache');
	mkdirSync(directory, {recursive: true, mode: 0o700});
	return directory;
}

export function createBox(environment: Readonly<Record<string, string>> = {}): Box {
	const home = mkdtempSync(path.join(tmpdir(), 'canhazgpu-box-'));
	const poolDirectory = path.join(home, 'shared');
	const own: Readonly<Record<string, string>> = {
		PATH: process.env['PATH'] ?? '',
		HOME: home,
		TERM: 'xterm-256color',
		TZ: 'UTC',
		// All boxes share a cache of compiled code, which halves the start time.
		XDG_CACHE_HOME: sharedCache(),
		// Tests send no reminders to the account that runs them.
		CANHAZGPU_NOTIFY_TERMINALS: 'false',
		// The tests of `run` check the lines that it prints about its GPUs.
		CANHAZGPU_RUN_QUIET: 'true',
		CANHAZGPU_POOL_DIRECTORY: poolDirectory,
		...environment,
	};
	return {
		home,
		poolDirectory,
		environment: own,
		async run(words, more = {}) {
			const began = performance.now();
			const child = spawn(starter, [...starterText, ...(typeof words === 'string' ? words.split(' ') : words)], {
				cwd: home,
				env: {...own, ...more},
				stdio: ['ignore', 'pipe', 'pipe'],
			});
			const limit = setTimeout(() => {
				child.kill('SIGKILL');
			}, patienceMs);
			const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
			clearTimeout(limit);
			if (performance.now() - began > patienceMs) {
				throw new Error(`canhazgpu ${words.toString()} did not end in ${patienceMs} ms. It said: ${stdout}${stderr}`);
			}

			return {exitCode: child.exitCode ?? undefined, stdout, stderr};
		},
		remove() {
			rmSync(home, {recursive: true, force: true});
		},
	};
}

/** Creates a pool like `admin`, but faster, and closes the store. The tests of `admin` run the command itself. */
async function makePoolIn(box: Box, store: Store, gpuCount: number, record: PoolRecord): Promise<void> {
	await createPool({store, host: createHost(), clock: createClock()}, {gpuCount, provider: 'fake', force: true});
	await store.close();
	writePoolRecord(path.join(box.poolDirectory, 'pool.json'), record, {directoryMode: 0o755, fileMode: 0o644});
}

/** Creates a box with an embedded, shared pool of simulated GPUs. */
export async function createEmbeddedBox(gpuCount = 8): Promise<Box> {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	const directory = box.poolDirectory;
	const store = await openSqliteStore({
		path: path.join(directory, 'pool.sqlite'),
		create: true,
		directoryMode: 0o755,
		fileMode: 0o666,
	});
	await makePoolIn(box, store, gpuCount, {store: 'embedded', directory});
	return box;
}

/** Creates a box with a pool in this Redis. */
export async function createRedisBox(port: number, gpuCount = 8): Promise<Box> {
	const place = {host: '127.0.0.1', port, db: 0};
	const box = createBox({CANHAZGPU_REDIS_HOST: place.host, CANHAZGPU_REDIS_PORT: String(port)});
	await makePoolIn(box, await openRedisStore({...place, keepReconnecting: false}), gpuCount, {
		store: 'redis',
		...place,
	});
	return box;
}

/** The name of the account that runs the tests, as the program shows it. The account may have no entry in /etc/passwd. */
export const account = accountName(createHost().account);

export const withoutRedis = {CANHAZGPU_REDIS_PORT: nobodyListens};
