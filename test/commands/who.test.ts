/** `who` with real processes of several accounts that open a fake GPU device. */
import {spawn, type ChildProcess} from 'node:child_process';
import {rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {Ajv} from 'ajv';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import type {App} from '../../source/app/contract.js';
import {schemas} from '../../source/help/schema/index.js';
import {understand} from '../../source/main.js';
import {canMakeDevices, makeNvidiaDevices, type StandIn} from '../_helpers/machine/stand-in-devices.js';
import {accountsOfFile, alice, mallory} from '../_helpers/machine/strangers.js';

type ShownGpu = {
	readonly gpu_id: number;
	readonly reserved_by: readonly string[];
	readonly devices: readonly string[];
	readonly processes: ReadonlyArray<{
		readonly pid: number;
		readonly parent_pid?: number;
		readonly state: string;
		readonly has_device_open?: boolean;
		readonly listed: boolean;
		readonly other_pid_namespace?: boolean;
	}>;
	readonly unreadable_processes: number;
	readonly unreadable_users: readonly string[];
	readonly advice: ReadonlyArray<{readonly kind: string; readonly words: string}>;
};

const accounts = accountsOfFile();
let box: StandIn;
let scenario: string;

beforeAll(async () => {
	if (!canMakeDevices()) {
		return;
	}

	box = makeNvidiaDevices([1, 0]);
	scenario = path.join(accounts.directory, 'scenario.yaml');
	await accounts.run(0, 'admin --gpus 2 --provider fake --store embedded');
});

afterAll(() => {
	if (canMakeDevices()) {
		rmSync(box.root, {recursive: true, force: true});
	}
});

async function ask(
	uid: number,
	more: string,
	words = 'who 0 --json',
): Promise<{text: string; shown: readonly ShownGpu[]}> {
	writeFileSync(scenario, `devices: ${box.root}\n${more}\n`, {mode: 0o644});
	const {stdout, stderr, exitCode} = await accounts.run(uid, words, {
		environment: {CANHAZGPU_SIMULATED_SCENARIO: scenario},
	});
	if (exitCode !== 0) {
		throw new Error(stderr);
	}

	return {text: stdout, shown: words.includes('--json') ? (JSON.parse(stdout) as readonly ShownGpu[]) : []};
}

/** Starts a process and waits until it is ready. */
async function started(uid: number, words: readonly string[]): Promise<ChildProcess> {
	const child = spawn(words[0]!, words.slice(1), {uid, gid: uid, cwd: '/', stdio: ['pipe', 'pipe', 'inherit']});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	await new Promise((resolve) => {
		child.stdout.once('data', resolve);
	});
	return child;
}

const opening = (node: string): readonly string[] => [
	'sh',
	'-c',
	`exec 5<${path.join(box.root, node)}; echo ready; read -r end`,
];

const hidden = 'hidden: [{gpu: 0}]';

describe.runIf(canMakeDevices())('the command who', () => {
	test('finds processes that the GPU tool does not list and counts processes that the user cannot inspect', async () => {
		const own = await started(mallory, opening('dev/nvidia1'));
		const strangers = await started(alice, opening('dev/dri/renderD128'));
		const elsewhere = await started(mallory, opening('dev/nvidia0'));
		const {shown} = await ask(mallory, hidden);
		const validate = new Ajv({strict: true, allErrors: true}).compile((await schemas['who']!()).default);
		expect([validate(shown), validate.errors]).toEqual([true, null]);
		const [gpu] = shown;
		expect(gpu!.devices.map((file) => path.relative(box.root, file))).toEqual([
			'dev/nvidia1',
			'dev/dri/card1',
			'dev/dri/renderD128',
		]);
		expect(gpu!.processes).toMatchObject([{pid: own.pid, has_device_open: true, listed: false, state: 'running'}]);
		expect(gpu!.unreadable_processes).toBeGreaterThan(0);
		expect(gpu!.unreadable_users).toContain('root');
		expect(gpu!.advice).toEqual([
			{kind: 'end-own', words: expect.stringContaining(`kill ${own.pid}`) as string},
			{kind: 'look-as-root', words: expect.stringContaining('sudo canhazgpu who 0') as string},
		]);
		const root = (await ask(0, hidden)).shown[0]!;
		expect(root.unreadable_processes).toBe(0);
		expect(new Set(root.processes.map(({pid}) => pid))).toEqual(new Set([own.pid, strangers.pid]));
		expect(root.processes.map(({pid}) => pid)).not.toContain(elsewhere.pid);
		expect(root.advice.map(({kind}) => kind)).toEqual(['ask', 'ask']);
	});

	test('shows a stopped process, and a process in another pid namespace', async () => {
		const stopped = await started(mallory, opening('dev/nvidia1'));
		process.kill(stopped.pid!, 'SIGSTOP');
		await started(0, ['unshare', '--pid', '--fork', '--kill-child', ...opening('dev/nvidia1')]);
		const {processes, advice} = (await ask(0, hidden)).shown[0]!;
		expect(processes.find(({pid}) => pid === stopped.pid)).toMatchObject({
			state: 'stopped',
			other_pid_namespace: false,
		});
		expect(processes.filter((each) => each.other_pid_namespace === true)).toHaveLength(1);
		expect(advice.map(({kind}) => kind)).toContain('stopped');
	});

	test('shows a zombie process and an invisible process that the GPU tool lists', async () => {
		// The parent must not collect its child, as a shell might.
		const parent = await started(mallory, [
			'sh',
			'-c',
			'(until grep -q tail /proc/$$/comm; do sleep 0.01; done) & echo $!; exec tail -f /dev/null',
		]);
		const zombie = await zombieOf(parent.pid!);
		const gpu = (
			await ask(
				mallory,
				`processes: [{gpu: 0, command: a, memory: 9000, pid: ${zombie}}, {gpu: 0, command: b, memory: 9000, pid: 2147483000}]`,
			)
		).shown[0]!;
		expect(gpu.processes).toMatchObject([
			{pid: zombie, parent_pid: parent.pid, state: 'zombie', listed: true},
			{pid: 2_147_483_000, state: 'absent', listed: true},
		]);
		expect(gpu.advice).toEqual([
			{
				kind: 'zombie',
				words: `Process ${zombie} has ended, but its parent has not reaped it: end process ${parent.pid}.`,
			},
			{kind: 'out-of-sight', words: expect.stringContaining('2147483000') as string},
		]);
	});

	test('names the holder of the GPU, its processes and the command to end them', async () => {
		await accounts.run(alice, 'reserve -G 1', {environment: {CANHAZGPU_SIMULATED_SCENARIO: scenario}});
		const own = await started(mallory, ['env', 'HF_TOKEN=x', ...opening('dev/nvidia1')]);
		const {text} = await ask(mallory, hidden, 'who 0-1');
		expect(text).toMatch(/^GPU 0: \dMB in use, the memory of its processes is unknown; not reserved\n/v);
		expect(text).toMatch(new RegExp(`^ ${own.pid} .* runs .* open .* no .*sh -c`, 'mv'));
		expect(text).toMatch(new RegExp(`^→ This process is yours, .*kill ${own.pid}$`, 'mv'));
		expect(text).toMatch(new RegExp(`^GPU 1: .* of it by listed processes; reserved by ${alice}$`, 'mv'));
	});

	test('refuses a GPU that is not in the pool', async () => {
		expect(await accounts.run(mallory, 'who 9')).toMatchObject({
			exitCode: 2,
			stdout: '',
			stderr: expect.stringContaining('There is no GPU 9: the pool has 2, from 0 to 1') as string,
		});
	});
});

test.each([
	[['who'], 'who needs the id of a GPU'],
	[['who', 'x'], '"x" is not a GPU id'],
	[['who', '1', '-G', '-2'], '--gpu-ids: "-2" is not a GPU id'],
	[['who', '3-1'], '"3-1" is not a GPU id'],
])('%j is refused before the pool is opened: %s', async (argv, message) => {
	const understood = await understand(argv);
	if ('text' in understood) {
		throw new Error(understood.text);
	}

	const {command, input} = understood;
	await expect(command.run({} as App, input)).rejects.toMatchObject({code: 'usage', message});
});

/** Returns the pid of a child that has ended. */
async function zombieOf(parent: number): Promise<number> {
	const child = spawn('sh', ['-c', `until ps -o pid=,stat= --ppid ${parent} | grep Z; do sleep 0.02; done`], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const line = await new Promise<string>((resolve) => {
		child.stdout.setEncoding('utf8').once('data', resolve);
	});
	return Number(line.trim().split(/\s+/v, 1)[0]);
}
