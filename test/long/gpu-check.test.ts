/** `test/gpu/check.sh`, which checks the program on a real GPU, run with stand-ins for nvidia-smi, NVIDIA's library and PyTorch. */
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {compileLibrary, hasCompiler} from '../_helpers/machine/compiled/nvml-stub.js';
import {findBubblewrap} from '../_helpers/packages/find-bubblewrap.js';
import {buildBinary} from './_binary.js';

const source = fileURLToPath(new URL('../gpu', import.meta.url));

/** A directory as copied to a machine with a GPU: the script, its folder and the packed binary. */
let carried = '';
let environment: Readonly<Record<string, string>> = {};

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) {
	console.warn('No python3: the tests of test/gpu/check.sh are skipped.');
}

const binary = hasPython && hasCompiler ? buildBinary() : undefined;

beforeAll(() => {
	if (binary === undefined) {
		return;
	}

	carried = mkdtempSync(path.join(tmpdir(), 'gpu-check-'));
	cpSync(path.join(source, 'check.sh'), path.join(carried, 'check.sh'));
	cpSync(path.join(source, 'check'), path.join(carried, 'check'), {recursive: true});
	const pack = `import lzma, shutil, sys
with open(sys.argv[1], "rb") as file, lzma.open(sys.argv[2], "w", preset=0) as packed: shutil.copyfileobj(file, packed)`;
	execFileSync('python3', ['-c', pack, binary, path.join(carried, 'canhazgpu.xz')]);
	const standIn = path.join(carried, 'check/stand-in');
	environment = {
		...(process.env as Readonly<Record<string, string>>),
		PATH: [standIn, process.env['PATH'] ?? '', path.dirname(findBubblewrap() ?? '/usr/bin/bwrap')].join(':'),
		PYTHONPATH: standIn,
		PYTHONDONTWRITEBYTECODE: '1',
		LD_LIBRARY_PATH: compileLibrary(path.join(source, 'check/stand-in/nvml.c')),
		TMPDIR: carried,
		STAND_IN_GPUS: '2',
	};
});

afterAll(() => {
	if (carried !== '') {
		rmSync(carried, {recursive: true, force: true});
	}
});

type Options = {readonly groups?: string; readonly faults?: string; readonly before?: readonly string[]};

async function check({groups = '', faults = '', before = []}: Options = {}) {
	const child = spawn('env', [...before, 'sh', path.join(carried, 'check.sh')], {
		env: {
			...environment,
			CHECK_GROUPS: groups,
			STAND_IN_FAULTS: faults,
			STAND_IN_HOLDERS: path.join(mkdtempSync(path.join(carried, 'holders-')), 'holders'),
		},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	const named = (verdict: string): readonly string[] =>
		stdout
			.split('\n')
			.filter((line) => line.startsWith(`${verdict}  `))
			.map((line) => line.slice(6).split('  ', 1)[0]!);
	return {
		exitCode: child.exitCode,
		stdout,
		stderr,
		failed: named('FAIL'),
		passed: named('PASS'),
		skipped: named('SKIP'),
	};
}

/** Simulates two GPUs that the kernel lists, with device files, in namespaces that leave this machine unchanged. */
const withDevices = String.raw`set -e
mount --make-rprivate /
mount -t tmpfs proc /proc/driver
for gpu in 0 1; do
	directory=/proc/driver/nvidia/gpus/0000:0$((gpu + 2)):00.0
	mkdir -p "$directory"
	printf 'GPU UUID: \t GPU-0a0a0a0a-1111-2222-3333-00000000000%d\nBus Location: \t 0000:0%d:00.0\nDevice Minor: \t %d\n' \
		$gpu $((gpu + 2)) $gpu > "$directory/information"
done
old=$(mktemp -d)
mount --rbind /dev "$old"
mount -t tmpfs -o mode=755 dev /dev
for name in null zero full random urandom tty; do
	mknod -m 666 "/dev/$name" c $(stat -c '0x%t 0x%T' "$old/$name")
done
mkdir /dev/pts /dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 pts /dev/pts
ln -s pts/ptmx /dev/ptmx
ln -s /proc/self/fd /dev/fd
for name in nvidia0 nvidia1 nvidiactl; do
	mknod -m 666 "/dev/$name" c 1 3
done
exec "$@"`;

describe.skipIf(binary === undefined)('test/gpu/check.sh', () => {
	test('passes every check within 4 minutes if the program and nvidia-smi agree', async () => {
		const began = performance.now();
		const {exitCode, failed, passed, skipped, stdout} = await check();
		expect(failed, stdout).toEqual([]);
		expect(exitCode).toBe(0);
		expect(skipped).toEqual(['run --isolate: the job uses its GPU', 'MIG']);
		expect(passed).toEqual(
			expect.arrayContaining([
				'idle: status memory.used',
				'idle: NVML power.draw',
				'unreserved: the first scan names the user',
				'unreserved: status owners',
				'unreserved: run --gpus 2 is refused',
				'run: sends a second heartbeat',
				'top --once: shows the GPU in use',
				'top: shows the GPU of the job as Mine',
				'SIGKILL of the job: the GPU is released',
				'SIGKILL of run: free after the job has ended',
				'nothing is left on the GPU or in the pool',
			]),
		);
		expect(performance.now() - began).toBeLessThan(240_000);
		expect(readdirSync(carried).filter((name) => name.startsWith('canhazgpu-check'))).toEqual([]);
	});

	test('fails if a reading differs between the program and nvidia-smi', async () => {
		const {exitCode, failed} = await check({groups: 'idle', faults: 'lies'});
		expect(failed).toEqual(['idle: status temperature.gpu', 'idle: NVML temperature.gpu']);
		expect(exitCode).toBe(1);
	});

	test('fails if the process that uses the GPU has no name', async () => {
		const {exitCode, failed} = await check({groups: 'unreserved', faults: 'hides'});
		expect(failed).toContain('unreserved: the first scan names the user');
		expect(failed).toContain('unreserved: status owners');
		expect(exitCode).toBe(1);
	});

	test('checks GPUs in MIG mode, and runs a job on an instance', async () => {
		const {exitCode, passed, stdout} = await check({faults: 'mig'});
		expect(passed, stdout).toEqual(
			expect.arrayContaining(['MIG: status lists the instances of GPU 1', 'MIG: the job sees only its instance']),
		);
		expect(exitCode).toBe(0);
	});

	test.skipIf(process.getuid?.() !== 0)('runs an isolated job if the machine supports isolation', async () => {
		const before = ['unshare', '--mount', 'sh', '-c', withDevices, 'sh'];
		const {exitCode, passed, stdout, stderr} = await check({groups: 'isolated leftovers', before});
		expect(passed, stdout + stderr).toContain('run --isolate: the job uses its GPU');
		expect(exitCode).toBe(0);
	});

	test.each<[what: string, options: Readonly<Record<string, string>>, words: string]>([
		['nvidia-smi', {PATH: '/usr/bin:/bin'}, 'nvidia-smi is not in PATH'],
		['PyTorch', {PYTHONPATH: '/nowhere'}, 'python3 has no PyTorch'],
	])('reports a missing %s with exit code 2', (_, more, words) => {
		const answer = spawnSync('sh', [path.join(carried, 'check.sh')], {
			env: {...environment, ...more},
			encoding: 'utf8',
		});
		expect(answer).toMatchObject({status: 2, stdout: '', stderr: expect.stringContaining(words) as string});
	});

	test('reports a missing or damaged binary with exit code 2', () => {
		const empty = mkdtempSync(path.join(carried, 'empty-'));
		cpSync(path.join(carried, 'check.sh'), path.join(empty, 'check.sh'));
		const run = () => spawnSync('sh', [path.join(empty, 'check.sh')], {env: environment, encoding: 'utf8'});
		expect(run()).toMatchObject({status: 2, stderr: expect.stringContaining('canhazgpu.xz is missing') as string});
		writeFileSync(path.join(empty, 'canhazgpu.xz'), 'no archive');
		expect(run()).toMatchObject({status: 2, stderr: expect.stringContaining('cannot be unpacked') as string});
	});

	test('passes shellcheck', (context) => {
		const {error, status, stdout} = spawnSync('shellcheck', [path.join(source, 'check.sh')], {encoding: 'utf8'});
		context.skip(error !== undefined, 'shellcheck is not installed');
		expect(stdout).toBe('');
		expect(status).toBe(0);
	});
});
