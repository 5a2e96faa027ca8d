/** The binary as users see it: commands, exits, the monitor, the dashboard, and NVIDIA's library. */
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {chmodSync, copyFileSync, readFileSync, writeFileSync} from 'node:fs';
import {constants} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {createInterface} from 'node:readline';
import {DatabaseSync} from 'node:sqlite';
import {text} from 'node:stream/consumers';
import {describe, expect, test, vi} from 'vitest';
import packageJson from '../../package.json' with {type: 'json'};
import {libraryCommand} from '../../source/app/names.js';
import {createHost} from '../../source/host/host.js';
import {program, type Box} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {hasSignal, portsOf} from '../_helpers/store/listeners.js';
import {compileNvml, hasCompiler} from '../_helpers/machine/compiled/nvml-stub.js';
import {freshEmbeddedBox, freshRedisBox, holders, isAlive, start} from '../_helpers/program/processes.js';
import {redisOfFile} from '../_helpers/store/redis-of-file.js';
import {fixture} from '../gpu/fixture.js';
import {createStub} from '../gpu/nvidia/stub-nvidia-smi.js';
import {isShown, rowOf, startTop} from '../tui/program/_program.js';
import {askJson, scriptOf, startWeb} from '../web/_server.js';

/** Runs before the helpers are loaded, because they read which program to start. */
const binary = await vi.hoisted(async () => (await import('./_binary.js')).makeBinary());

const redis = redisOfFile();

/** Runs the program on Node.js with the same pool. */
const byNode = (box: Box, ...words: readonly string[]) =>
	spawnSync(process.execPath, [program, ...words], {cwd: box.home, env: box.environment, encoding: 'utf8'});

describe.skipIf(binary === undefined).each([
	['redis', async () => freshRedisBox(redis.port, 2)],
	['embedded', async () => freshEmbeddedBox(2)],
])('the binary with the %s store', (_, create) => {
	test('reserves, shows and releases GPUs like the program on Node.js', async () => {
		const box = await create();
		expect(await box.run('--version')).toEqual({exitCode: 0, stdout: `${packageJson.version}\n`, stderr: ''});
		const mallory = {USER: 'mallory', LOGNAME: 'mallory'};
		expect(await box.run('reserve --gpus 1 --short', mallory)).toMatchObject({exitCode: 0, stdout: '0\n'});
		expect(byNode(box, 'reserve', '--short')).toMatchObject({status: 0, stdout: '1\n'});
		const account = execFileSync('id', ['-un'], {encoding: 'utf8'}).trim();
		const rows = JSON.parse((await box.run('status --json', mallory)).stdout) as unknown;
		expect(rows).toMatchObject([
			{gpu_id: 0, user: account, type: 'MANUAL'},
			{gpu_id: 1, user: account, type: 'MANUAL'},
		]);
		expect(await box.run('run --nonblock -- true')).toMatchObject({exitCode: 3});
		expect(await box.run('queue')).toMatchObject({exitCode: 0, stdout: 'Nobody waits\n'});
		expect(await box.run('release')).toMatchObject({exitCode: 0});
		expect(byNode(box, 'status', '--summary').stdout).toMatch(/✓ 2 +│ 0\n/v);
		expect((await box.run('events --json')).stdout.trim().split('\n')).not.toHaveLength(0);
		expect((await box.run('report')).stdout).toContain(account);
		expect((await box.run('doctor')).stdout).toMatch(/canhazgpu \S+, Bun \d/v);
	});

	test("exits with the job's code and releases its GPUs", async () => {
		const box = await create();
		writeFileSync(path.join(box.home, 'script'), 'echo "$1"; exit 9\n', {mode: 0o755});
		const codes: ReadonlyArray<readonly [number, readonly string[]]> = [
			[0, ['true']],
			[7, ['sh', '-c', 'exit 7']],
			[9, ['./script', 'a b']],
			[126, ['/etc/passwd']],
			[127, ['nowhere']],
			[137, ['sh', '-c', 'kill -KILL $$']],
		];
		for (const [exitCode, words] of codes) {
			const ran = await box.run(['run', '--', ...words]);
			expect(ran, words.join(' ')).toMatchObject({exitCode});
			expect(ran.stderr).not.toMatch(/^ +at /mv);
		}

		expect(await box.run(['run', '--timeout', '1s', '--', 'sleep', '60'])).toMatchObject({exitCode: 124});
		const job = start(box, 'run -- sleep 60');
		await eventually(async () => (await holders(box)).includes('RUN'));
		job.kill('SIGTERM');
		expect(await job.ended).toMatchObject({exitCode: 143});
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('runs top, which reads keys and restores the terminal', async () => {
		const box = await create();
		const top = startTop(box, {shell: 'echo before; "$@"; echo "after $?"; stty -a'});
		await top.waitFor(isShown(2));
		await box.run('reserve --gpus 1');
		await top.waitFor((screen) => rowOf(screen.split('\n'), 0).includes('Mine'));
		top.write('x');
		await top.waitFor(/ y/v);
		top.write('y');
		await top.waitFor((screen) => rowOf(screen.split('\n'), 0).includes('Free'));
		expect(await holders(box)).toBe('0:- 1:-');
		top.write('q');
		await top.exit;
		expect(top.isAlternate()).toBe(false);
		expect(top.isCursorShown()).toBe(true);
		expect(top.screen().join('\n')).toMatch(/^before\nafter 0\n[\s\S]* icanon [\s\S]* echo /v);
	});

	test('runs web, which answers requests and ends on SIGTERM', async () => {
		const box = await create();
		const web = await startWeb(box);
		expect(await askJson(web.port, '/api/status')).toMatchObject([{gpu_id: 0}, {gpu_id: 1}]);
		expect((await fetch(new URL(await scriptOf(web.port), web.url))).status).toBe(200);
		expect((await web.end('SIGTERM')).end).toBe(0);
	});
});

describe.skipIf(binary === undefined)('the binary', () => {
	test('prints the same errors with the same exit codes as the program on Node.js', async () => {
		const box = await freshEmbeddedBox(1);
		const wrong = await box.run('statsu');
		expect(wrong).toMatchObject({exitCode: 2, stdout: ''});
		expect(wrong.stderr).toBe(byNode(box, 'statsu').stderr);
		const gone = await box.run('status --store redis --redis-port 1');
		expect(gone).toMatchObject({exitCode: 4, stdout: ''});
		expect(gone.stderr).toMatch(/^Error: Cannot reach Redis at [^\n]*\n[^\n]+\n$/v);
	});

	test('survives SIGUSR1 without opening a debugger', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box);
		for (let time = 0; time < 2; time++) {
			process.kill(web.pid, 'SIGUSR1');
			await eventually(() => !hasSignal(web.pid, 'ShdPnd', constants.signals.SIGUSR1));
		}

		expect(await askJson(web.port, '/api/status')).toMatchObject([{gpu_id: 0}]);
		expect(portsOf(web.pid)).toEqual([web.port]);
		expect((await web.end('SIGTERM')).end).toBe(0);
	});

	test('marks a lease as silent, and the program on Node.js can end that lease because both use the same clock', async () => {
		const box = await freshEmbeddedBox(1);
		// An open database would be locked by this process.
		const query = (sql: string, ...values: readonly string[]) => {
			const database = new DatabaseSync(path.join(box.poolDirectory, 'pool.sqlite'));
			const row = database.prepare(sql).get(...values);
			database.close();
			return row;
		};

		const write = (lease: unknown): void => {
			query('INSERT OR REPLACE INTO gpus (gpu, raw) VALUES (0, ?)', JSON.stringify(lease));
		};

		const longAgo = Math.floor(Date.now() / 1000) - 5000;
		write({user: 'eve', type: 'run', start_time: longAgo, last_heartbeat: longAgo});
		expect(await box.run('status')).toMatchObject({exitCode: 0});
		const {raw} = query('SELECT raw FROM gpus') as {raw: string};
		const lease = JSON.parse(raw) as {silence: {clock: string; seconds: number}};
		const {monotonic} = createHost();
		expect(lease.silence.clock).toBe(monotonic.id);
		const secondsAgo = monotonic.seconds()! - lease.silence.seconds;
		expect(secondsAgo).toBeGreaterThan(0);
		expect(secondsAgo).toBeLessThan(60);
		write({...lease, silence: {...lease.silence, seconds: lease.silence.seconds - 70}});
		expect(byNode(box, 'status', '--summary').stdout).toMatch(/✓ 1 +│ 0\n/v);
	});

	test('ignores configuration files of Bun in the working directory', async () => {
		const box = await freshEmbeddedBox(1);
		writeFileSync(path.join(box.home, '.env'), 'CANHAZGPU_STORE=redis\nPLANTED=1\n');
		writeFileSync(path.join(box.home, 'bunfig.toml'), 'preload = ["./planted.js"]\n');
		writeFileSync(path.join(box.home, 'planted.js'), 'console.log("planted");\n');
		const ran = await box.run('run -- env', {CANHAZGPU_STORE: 'embedded'});
		expect(ran).toMatchObject({exitCode: 0});
		expect(ran.stdout).not.toMatch(/planted/iv);
		expect((await box.run('status --store embedded')).stdout).not.toMatch(/planted/iv);
	});
});

/** Waits for the child process that reads the library. */
async function readerOf(parent: number): Promise<number> {
	const isReader = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(libraryCommand);
	let found: number | undefined;
	await eventually(() => {
		const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim();
		found = children
			.split(' ')
			.filter(Boolean)
			.map(Number)
			.find((pid) => isReader(pid));
		return found !== undefined;
	});
	return found!;
}

describe.skipIf(binary === undefined || !hasCompiler)("NVIDIA's library in the binary", () => {
	/** The first scan of the program started by these arguments, and its stderr. */
	const scan = async (words: readonly string[], environment: Readonly<Record<string, string>>, cwd = '/') => {
		const [command, ...rest] = [...words, libraryCommand, '60000'];
		const child = spawn(command, rest, {cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe']});
		const said = text(child.stderr);
		const {value: line} = await createInterface({input: child.stdout})[Symbol.asyncIterator]().next();
		child.kill('SIGKILL');
		return {line, said: await said};
	};

	test.each(['healthy', 'crowd', 'lost', 'no-memory', 'hot ecc', 'init-fails'])(
		'returns the same scan as on Node.js (%s)',
		async (NVML_STUB) => {
			for (const flags of [[], ['-DOLD']]) {
				const environment = {LD_LIBRARY_PATH: compileNvml(...flags), NVML_STUB};
				const scanned = await scan([binary!], environment);
				expect(scanned).toEqual(await scan([process.execPath, program], environment));
				expect(scanned.line?.startsWith('{"gpus":[{"index":0,') ?? false).toBe(NVML_STUB !== 'init-fails');
			}
		},
	);

	test('is not loaded from the working directory', async () => {
		const {line, said} = await scan([binary!], {}, compileNvml());
		expect(line).toBeUndefined();
		expect(said).toMatch(/^Error: Failed to open library [^\n]+\n$/v);
	});

	test('is called in a child process, wherever the binary is installed', async () => {
		const box = await freshEmbeddedBox(2);
		const copy = path.join(box.home, 'chg copy');
		copyFileSync(binary!, copy);
		chmodSync(copy, 0o755);
		const stub = await createStub({
			gpus: {stdout: fixture('gpus/two.csv')},
			processes: {stdout: fixture('processes/none.csv')},
		});
		const environment = {
			...box.environment,
			PATH: `${stub.directory}:${box.environment['PATH']}`,
			LD_LIBRARY_PATH: compileNvml(),
		};
		execFileSync(copy, ['admin', '--force', '--gpus', '2', '--provider', 'nvidia'], {env: environment, cwd: box.home});
		const top = startTop(box, {shell: `exec "${copy}" top`, environment});
		const reader = await readerOf(top.pid);
		expect(readFileSync(`/proc/${reader}/cmdline`, 'utf8').split('\0')).toEqual([copy, libraryCommand, '2000', '']);
		// Only the stand-in library reports this process.
		await top.waitFor('PID 100');
		top.write('q');
		expect(await top.exit).toMatchObject({exitCode: 0});
		await eventually(() => !isAlive(reader));
	});
});
