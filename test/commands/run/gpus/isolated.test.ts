/** `run --isolate` for an ordinary account on a terminal, with fake device nodes. */
import {readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {createClock} from '../../../../source/host/clock.js';
import {createHost} from '../../../../source/host/host.js';
import {openSqliteStore} from '../../../../source/store/sqlite/index.js';
import {eventually} from '../../../_helpers/eventually.js';
import {findBubblewrap} from '../../../_helpers/packages/find-bubblewrap.js';
import {canMakeDevices, makeNvidiaDevices, type StandIn} from '../../../_helpers/machine/stand-in-devices.js';
import {accountsOfFile, alice} from '../../../_helpers/machine/strangers.js';
import {openTerminal, type Terminal} from '../../../_helpers/machine/terminal.js';
import {isAlive} from '../../../_helpers/program/processes.js';
import {slowTest} from '../../../_helpers/slow.js';

const accounts = accountsOfFile();
const bwrap = findBubblewrap()!;
let box: StandIn;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
	if (!canMakeDevices()) {
		return;
	}

	box = makeNvidiaDevices([1, 2, 0]);
	const scenario = path.join(accounts.directory, 'scenario.yaml');
	writeFileSync(scenario, `devices: ${box.root}\n`, {mode: 0o644});
	const bin = path.join(accounts.directory, 'bin');
	mkdirSync(bin);
	const [node, cli] = accounts.words;
	writeFileSync(path.join(bin, 'canhazgpu'), `#!/bin/sh\nexec ${node} ${cli} "$@"\n`, {mode: 0o755});
	environment = {
		CANHAZGPU_SIMULATED_SCENARIO: scenario,
		PATH: [bin, accounts.directory, path.dirname(bwrap), '/usr/bin', '/bin'].join(':'),
	};
	await accounts.run(0, 'admin --gpus 3 --provider fake --store embedded');
});

afterAll(() => {
	if (canMakeDevices()) {
		rmSync(box.root, {recursive: true, force: true});
	}
});

const run = async (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
	accounts.run(alice, ['run', ...words], {environment: {...environment, ...more}});

/** Reads the store directly, because starting a command takes longer. */
const freeGpus = async (): Promise<number> => {
	const store = await openSqliteStore({path: path.join(accounts.poolDirectory, 'pool.sqlite'), create: false});
	const {gpus} = await readCurrent({store, host: createHost(), clock: createClock()});
	await store.close();
	return gpus.filter(({kind}) => kind === 'free').length;
};

/** Prints the minor numbers of the GPUs that can be opened. */
const minors = () => `for n in ${box.root}/dev/nvidia[0-9]; do (: < "$n") 2>/dev/null && echo "\${n##*nvidia}"; done`;

describe.runIf(canMakeDevices())('run --isolate', () => {
	test('lets the command open only its own GPUs and names them by UUID', async () => {
		const {stdout, stderr} = await run([
			'--isolate',
			'--json',
			'-G0,2',
			'--',
			'sh',
			'-c',
			`${minors()}; echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES; echo "$CANHAZGPU_DOCKER_GPUS" $CANHAZGPU_CDI`,
		]);
		const uuids = [0, 2].map((index) => `SIM-00000000-0000-0000-0000-${String(index).padStart(12, '0')}`).join(',');
		expect(stdout).toBe(`0\n1\n${uuids} ${uuids}\n"device=0,2" nvidia.com/gpu=0,nvidia.com/gpu=2\n`);
		expect(JSON.parse(stderr)).toMatchObject({gpu_ids: [0, 2], isolated: true});
	});

	test('is off by default, so the command can open every GPU and gets the ids of its own GPUs', async () => {
		const {stdout, stderr} = await run(['--json', '-G2', '--', 'sh', '-c', `${minors()}; echo $CUDA_VISIBLE_DEVICES`]);
		expect(stdout).toBe('0\n1\n2\n2\n');
		expect(JSON.parse(stderr)).not.toHaveProperty('isolated');
	});

	slowTest('lets canhazgpu inside the job act as the account that started the job', async () => {
		const store = await openSqliteStore({path: path.join(accounts.poolDirectory, 'pool.sqlite'), create: false});
		const inside =
			'canhazgpu reserve -G1 --short && canhazgpu extend -G1 -d 1h && canhazgpu release && canhazgpu status --json';
		const {exitCode, stdout, stderr} = await run(['--isolate=require', '-qG2', '--', 'sh', '-c', inside]);
		expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
		expect(stdout).toMatch(/^1\nExtended 1 GPU\(s\): \[1\]\n.*\nReleased 1 GPU\(s\): \[1\]\n/v);
		const recorded = (await store.audit()).slice(-5).map(({kind, account, gpus}) => [kind, account, ...gpus]);
		await store.close();
		const who = String(alice);
		expect(recorded).toEqual([
			['granted', who, 2],
			['granted', who, 1],
			['extended', who, 1],
			['released', who, 1],
			['ended', who, 2],
		]);
	});

	test('opens only the device nodes of the granted MIG instance and of its GPU', async () => {
		const split = makeNvidiaDevices([1, 0], {0: [1], 1: [1, 2, 3]});
		onTestFinished(() => {
			rmSync(split.root, {recursive: true, force: true});
		});
		const scenario = path.join(accounts.directory, 'mig.yaml');
		const mig = '[{gpu: 1, profiles: [3g.40gb, 1g.10gb, 1g.10gb]}, {gpu: 0, profiles: [7g.80gb]}]';
		writeFileSync(scenario, `devices: ${split.root}\nmig: ${mig}\n`, {mode: 0o644});
		const nodes = [...split.gpus.flatMap((gpu) => gpu.nodes), ...split.common];
		const opening = `cd ${split.root}; for n in ${nodes.join(' ')}; do (: < "$n") 2>/dev/null && echo "$n"; done; echo "$CUDA_VISIBLE_DEVICES"`;
		const {stdout, stderr, exitCode} = await run(
			['--isolate=require', '--json', '--gpu-ids', '1:1', '--', 'sh', '-c', opening],
			{CANHAZGPU_SIMULATED_SCENARIO: scenario},
		);
		expect({stderr: JSON.parse(stderr) as unknown, exitCode}).toMatchObject({
			exitCode: 0,
			stderr: {isolated: true, mig_instances: [{gpu_id: 1, instance: 1, uuid: 'MIG-SIM-1-1'}]},
		});
		// A GPU has three nodes, and each instance two.
		const {nodes: own} = split.gpus[1]!;
		expect(stdout.trim().split('\n')).toEqual([...own.slice(0, 3), ...own.slice(5, 7), ...split.common, 'MIG-SIM-1-1']);
	});

	slowTest('passes arguments that are not UTF-8 unchanged', async () => {
		const line = String.raw`canhazgpu run --isolate=require -q -- printf '%s|' $'\xff\xfe' 'a=b' '' "don't" $'\n' | od -An -tx1`;
		const {stdout} = await accounts.shell(
			alice,
			`export CANHAZGPU_SIMULATED_SCENARIO='${environment['CANHAZGPU_SIMULATED_SCENARIO']!}' PATH='${environment['PATH']!}'; ${line}`,
		);
		expect(stdout.replaceAll(/\s+/gv, ' ').trim()).toBe('ff fe 7c 61 3d 62 7c 7c 64 6f 6e 27 74 7c 0a 7c');
	});

	test('warns if isolation is impossible, and starts no job if isolation is required', async () => {
		const none = {CANHAZGPU_SIMULATED_SCENARIO: ''};
		expect(await run(['--isolate', '-q', '--', 'echo', 'ran'], none)).toEqual({
			exitCode: 0,
			stdout: 'ran\n',
			stderr: 'canhazgpu: NOT isolated: simulated GPUs have no devices.\n',
		});
		expect(await run(['-q', '--', 'echo', 'ran'], {...none, CANHAZGPU_RUN_ISOLATE: 'require'})).toEqual({
			exitCode: 1,
			stdout: '',
			stderr: 'Error: The command was not started, because it cannot be isolated: simulated GPUs have no devices\n',
		});
		expect(await freeGpus()).toBe(3);
	});

	test('exits with 1, names bubblewrap and releases the GPU if required bubblewrap is missing', async () => {
		const bin = path.join(accounts.directory, 'poor');
		mkdirSync(bin);
		for (const name of ['sh', 'nsenter', 'od', 'env']) {
			symlinkSync(`/usr/bin/${name}`, path.join(bin, name));
		}

		const poor = {PATH: [accounts.directory, bin].join(':')};
		expect(await run(['--isolate=require', '-q', '--', 'sh', '-c', 'echo ran'], poor)).toEqual({
			exitCode: 1,
			stdout: '',
			stderr:
				'Error: The command was not started, because it cannot be isolated: bubblewrap is not installed\nInstall it: sudo apt install bubblewrap, or: sudo dnf install bubblewrap\n',
		});
		expect(await freeGpus()).toBe(3);
	});

	slowTest('makes doctor warn about missing isolation, but only if the configuration asks for isolation', async () => {
		const doctor = async (more: Readonly<Record<string, string>> = {}) =>
			accounts.run(alice, 'doctor', {environment: {...environment, ...more}});
		expect((await doctor()).stdout).toContain('✓ isolation   run --isolate works here, with bubblewrap\n');
		const words = 'run --isolate does not work here: bubblewrap is not installed';
		const poor = {PATH: '/nowhere'};
		expect((await doctor(poor)).stdout).toContain(`✓ isolation   ${words}\n`);
		expect((await doctor({...poor, CANHAZGPU_RUN_ISOLATE: 'prefer'})).stdout).toContain(`⚠ isolation   ${words}\n`);
		const {stdout, exitCode} = await doctor({...poor, CANHAZGPU_RUN_ISOLATE: 'require'});
		expect(exitCode).toBe(1);
		expect(stdout).toContain(`✗ isolation   ${words}\n              Install it: sudo apt install bubblewrap`);
	});

	slowTest('is applied to every job if the policy of the pool requires isolation', async () => {
		await accounts.run(0, 'admin --set isolate=require');
		onTestFinished(async () => {
			await accounts.run(0, 'admin --unset isolate');
		});
		expect((await run(['-qG1', '--', 'sh', '-c', minors()])).stdout).toBe('2\n');
		expect(await run(['-qG1', '--isolate=off', '--', 'echo', 'ran'])).toMatchObject({
			exitCode: 2,
			stdout: '',
			stderr: expect.stringContaining('This pool requires isolation, so --isolate=off is not allowed') as string,
		});
		expect(await run(['-q', '--', 'echo', 'ran'], {CANHAZGPU_SIMULATED_SCENARIO: ''})).toMatchObject({
			exitCode: 1,
			stdout: '',
		});
		expect(await freeGpus()).toBe(3);
	});

	slowTest('refuses an unknown value and lists the valid values', async () => {
		expect(await run(['--isolate=always', '--', 'true'])).toMatchObject({
			exitCode: 2,
			stderr: expect.stringContaining(
				'--isolate must be one of auto, require, off, bwrap, systemd, cgroup, not "always"',
			) as string,
		});
	});

	async function openShell(): Promise<Terminal> {
		const words = [
			'--reuid',
			String(alice),
			'--regid',
			String(alice),
			'--clear-groups',
			'bash',
			'--norc',
			'--noprofile',
			'-i',
		];
		const shell = openTerminal('setpriv', words, {
			cwd: accounts.homeOf(alice),
			columns: 160,
			environment: {
				...accounts.environmentOf(alice),
				...environment,
				CANHAZGPU_RUN_ISOLATE: 'require',
				CANHAZGPU_RUN_QUIET: 'true',
				PS1: 'shell> ',
				HISTFILE: '',
				LC_ALL: 'C.UTF-8',
			},
		});
		onTestFinished(async () => shell.close());
		await shell.waitFor('shell>');
		return shell;
	}

	test('supports Ctrl-C, Ctrl-Z, exit codes and a REPL on a terminal', async () => {
		const shell = await openShell();
		shell.write('canhazgpu run -G 0 -- node -i\r');
		await shell.waitFor(/^>$/mv);
		// The job catches Ctrl-C and continues.
		shell.write('whi\u{3}');
		await shell.waitFor(/^> whi\n>$/mv);
		shell.write('6 * 7\r');
		await shell.waitFor('42');
		shell.write(`fs.openSync('${box.root}/dev/nvidia0')\r`);
		await shell.waitFor('EACCES');
		shell.write('.exit\r');
		await shell.waitFor(/\.exit\s+shell>\s*$/v);
		shell.write(
			'canhazgpu run -- sh -c \'trap "exit 5" INT; echo $$ > pid; echo begun; while :; do sleep 0.05; done\'\r',
		);
		await shell.waitFor(/^begun$/mv);
		shell.write('\u{1A}');
		await shell.waitFor('Stopped');
		shell.write('fg\r');
		await shell.waitFor(/fg\s+canhazgpu run/v);
		shell.write('\u{3}');
		await shell.waitFor(/\^Cshell>$/mv);
		shell.write('echo ended $?\r');
		await shell.waitFor('ended 5');
		shell.write('canhazgpu run -- sleep 100\r');
		await eventually(async () => (await freeGpus()) === 2);
		shell.write('\u{3}');
		shell.write('echo last $?\r');
		await shell.waitFor('last 130');
		expect(await freeGpus()).toBe(3);
	});

	test('keeps the job isolated and its GPU reserved after run is killed', async () => {
		const shell = await openShell();
		const file = path.join(accounts.homeOf(alice), 'job');
		shell.write(
			`canhazgpu run -G 0 -- sh -c 'echo $$ $PPID > job; until test -e go; do sleep 0.05; done; { ${minors()}; } > opened; touch done' &\r`,
		);
		await eventually(() => readFileSync(file, 'utf8').endsWith('\n'));
		const [pid = 0, wrapper = 0] = readFileSync(file, 'utf8').split(' ').map(Number);
		onTestFinished(() => {
			if (isAlive(pid)) {
				process.kill(pid, 'SIGKILL');
			}
		});
		process.kill(wrapper, 'SIGKILL');
		await eventually(() => !isAlive(wrapper));
		expect(isAlive(pid)).toBe(true);
		expect(await freeGpus()).toBe(2);
		writeFileSync(path.join(accounts.homeOf(alice), 'go'), '');
		await eventually(() => !isAlive(pid));
		expect(readFileSync(path.join(accounts.homeOf(alice), 'opened'), 'utf8')).toBe('1\n');
		expect(await freeGpus()).toBe(3);
	});
});
