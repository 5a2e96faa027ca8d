/** `run --isolate=cgroup` as root, and the messages about an isolation method that is not available. */
import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {controlGroupsOf} from '../../../../source/host/isolation/control-groups.js';
import {eventually} from '../../../_helpers/eventually.js';
import {canMakeDevices, makeNvidiaDevices, type StandIn} from '../../../_helpers/machine/stand-in-devices.js';
import {accountsOfFile, alice} from '../../../_helpers/machine/strangers.js';
import {isAlive} from '../../../_helpers/program/processes.js';
import {slowTest} from '../../../_helpers/slow.js';

const accounts = accountsOfFile();
const isRoot = canMakeDevices();
const ownGroup = isRoot
	? controlGroupsOf('self').find(({controllers}) => controllers.includes('devices'))?.directory
	: undefined;
let box: StandIn;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
	if (!isRoot) {
		return;
	}

	box = makeNvidiaDevices([1, 2, 0], {}, {hasOwnNumbers: true});
	const scenario = path.join(accounts.directory, 'scenario.yaml');
	writeFileSync(scenario, `devices: ${box.root}\n`, {mode: 0o644});
	// A PATH without bubblewrap.
	const bin = path.join(accounts.directory, 'bin');
	mkdirSync(bin);
	for (const name of ['sh', 'env', 'sleep', 'touch', 'cat']) {
		symlinkSync(`/usr/bin/${name}`, path.join(bin, name));
	}

	environment = {
		CANHAZGPU_SIMULATED_SCENARIO: scenario,
		CANHAZGPU_RUN_QUIET: 'true',
		PATH: [accounts.directory, bin].join(':'),
	};
	await accounts.run(0, 'admin --gpus 3 --provider fake --store embedded');
});

afterAll(() => {
	if (isRoot) {
		rmSync(box.root, {recursive: true, force: true});
	}
});

const run = async (uid: number, words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
	accounts.run(uid, ['run', ...words], {environment: {...environment, ...more}});

const minors = () => `for n in ${box.root}/dev/nvidia[0-9]; do (: < "$n") 2>/dev/null && echo "\${n##*nvidia}"; done`;

const groupsOf = (pid: string): readonly string[] =>
	readdirSync(ownGroup!).filter((name) => name.startsWith(`canhazgpu-${pid}-`));

const freeGpus = async (): Promise<number> => {
	const {stdout} = await accounts.run(0, 'status --json');
	return (JSON.parse(stdout) as ReadonlyArray<{readonly status: string}>).filter(({status}) => status === 'AVAILABLE')
		.length;
};

describe.runIf(ownGroup !== undefined)('a control group', () => {
	test('lets a job of root open only its own GPUs and is removed afterwards', async () => {
		const {stdout, stderr, exitCode} = await run(
			0,
			['--isolate=cgroup', '--json', '-G0,2', '--', 'sh', '-c', `echo $PPID; ${minors()}; exit 7`],
			{CANHAZGPU_RUN_QUIET: 'false'},
		);
		const [pid, ...opened] = stdout.trim().split('\n');
		expect({exitCode, opened}).toEqual({exitCode: 7, opened: ['0', '1']});
		expect(JSON.parse(stderr)).toMatchObject({gpu_ids: [0, 2], isolated: true});
		expect(groupsOf(pid!)).toEqual([]);
	});

	test.skipIf(existsSync('/run/systemd/system'))('isolates a job even without bubblewrap and systemd', async () => {
		const answer = await run(0, ['--isolate=require', '-G1', '--', 'sh', '-c', minors()]);
		expect(answer).toEqual({exitCode: 0, stdout: '2\n', stderr: ''});
		expect((await accounts.run(0, 'doctor', {environment})).stdout).toContain(
			'✓ isolation   run --isolate works here, with a control group\n',
		);
	});

	test('still isolates the job after run is killed', async () => {
		const files = path.join(accounts.directory, 'killed');
		mkdirSync(files);
		const [node, cli] = accounts.words;
		const job = `cd ${files}; echo $$ > pid; until test -e go; do sleep 0.05; done; { ${minors()}; } > opened; touch done`;
		const wrapper = spawn(node, [cli, 'run', '--isolate=cgroup', '-G1', '--', 'sh', '-c', job], {
			env: {...accounts.environmentOf(0), ...environment},
			stdio: 'ignore',
		});
		await eventually(() => readFileSync(path.join(files, 'pid'), 'utf8').endsWith('\n'));
		const pid = Number(readFileSync(path.join(files, 'pid'), 'utf8'));
		onTestFinished(() => {
			if (isAlive(pid)) {
				process.kill(pid, 'SIGKILL');
			}
		});
		const ended = once(wrapper, 'exit');
		wrapper.kill('SIGKILL');
		await ended;
		expect(isAlive(pid)).toBe(true);
		expect(groupsOf(String(wrapper.pid))).toHaveLength(1);
		expect(await freeGpus()).toBe(2);
		await accounts.run(0, 'doctor', {environment});
		expect(groupsOf(String(wrapper.pid))).toHaveLength(1);
		writeFileSync(path.join(files, 'go'), '');
		await eventually(() => !isAlive(pid));
		expect(readFileSync(path.join(files, 'opened'), 'utf8')).toBe('2\n');
		await accounts.run(0, 'doctor', {environment});
		expect(groupsOf(String(wrapper.pid))).toEqual([]);
		expect(await freeGpus()).toBe(3);
	});
});

describe.runIf(isRoot)('an isolation method that is not available', () => {
	const asRootAlone = (words: string) =>
		`${words} can isolate only the jobs of root. Use --isolate without a method: it chooses bubblewrap, which needs no privileges.\n`;

	slowTest('is reported to an ordinary account, whose job still starts', async () => {
		expect(await run(alice, ['--isolate=cgroup', '--', 'sh', '-c', 'echo ran'])).toEqual({
			exitCode: 0,
			stdout: 'ran\n',
			stderr: `canhazgpu: NOT isolated: ${asRootAlone('a control group')}`,
		});
		expect(await run(alice, ['--isolate=systemd', '--', 'sh', '-c', 'echo ran'])).toEqual({
			exitCode: 0,
			stdout: 'ran\n',
			stderr: `canhazgpu: NOT isolated: ${asRootAlone('systemd')}`,
		});
	});

	test('makes run fail and release the GPU if isolation is required', async () => {
		expect(
			await run(alice, ['--isolate=systemd', '--', 'sh', '-c', 'echo ran'], {CANHAZGPU_RUN_ISOLATE: 'require'}),
		).toEqual({
			exitCode: 1,
			stdout: '',
			stderr:
				'Error: The command was not started, because it cannot be isolated: systemd can isolate only the jobs of root\nUse --isolate without a method: it chooses bubblewrap, which needs no privileges.\n',
		});
		expect(await freeGpus()).toBe(3);
	});

	test('is reported with the program to install, and the job still starts', async () => {
		expect(await run(0, ['--isolate=systemd', '--', 'sh', '-c', 'echo ran'])).toEqual({
			exitCode: 0,
			stdout: 'ran\n',
			stderr:
				'canhazgpu: NOT isolated: systemd-run is not installed. Install it: sudo apt install systemd, or: sudo dnf install systemd\n',
		});
	});
});
